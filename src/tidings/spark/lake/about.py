"""The description of a lake, with its graphs and its last commit, from small files: reading it needs no Spark."""

from pathlib import Path

import msgspec

from tidings.model.access import Graphs
from tidings.model.errors import BadRequest
from tidings.model.graph_patterns import ALL, read_graphs
from tidings.spark.errors import LakeUnusable
from tidings.spark.lake import manifest

VERSION = 1


class About(msgspec.Struct, frozen=True):
    """The content of lake.json."""

    format: str
    version: int
    id: str
    graphs: tuple[str, ...] = (ALL,)
    """The graphs in the lake, as patterns of `model/graph_patterns.py`. It has no changes of other graphs."""


class Reach(msgspec.Struct, frozen=True):
    """The commits and the graphs of a lake; the numbers are 0 if it is empty."""

    first: int
    last: int
    until: int
    """The time of the last commit, in microseconds since 1970."""
    graphs: Graphs


def read_about(path: Path) -> tuple[About, Graphs]:
    """Read the lake.json of a folder. Raises LakeUnusable."""
    try:
        about = msgspec.json.decode((path / "lake.json").read_bytes(), type=About)
    except FileNotFoundError:
        raise LakeUnusable(f"{path} is not a history lake: it has no lake.json") from None
    except OSError as error:
        raise LakeUnusable(f"{path} cannot be read: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise LakeUnusable(f"{path / 'lake.json'} is not that of a history lake: {error}") from error
    if about.format != "tidings-lake" or about.version != VERSION:
        raise LakeUnusable(f"{path} is a lake of version {about.version}, this Tidings knows {VERSION} only")
    try:
        return about, read_graphs(about.graphs)
    except BadRequest as error:
        raise LakeUnusable(f"{path / 'lake.json'}: {error}") from error


def reach(path: Path) -> Reach:
    """The commits and the graphs of a lake. Raises LakeUnusable, LakeDamaged."""
    _, graphs = read_about(path)
    try:
        batches = manifest.covering(manifest.read_batches(path / "manifests"))
    except OSError as error:
        raise LakeUnusable(f"{path} cannot be read: {error.strerror}") from error
    if not batches:
        return Reach(0, 0, 0, graphs)
    return Reach(batches[0].first, batches[-1].last, batches[-1].until, graphs)
