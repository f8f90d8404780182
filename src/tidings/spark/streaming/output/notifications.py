"""Reads notifications from files, which are valid once the manifest of their batch exists. This needs no Spark.

OUT/told/…                     Parquet: the columns of `notification_rows.NOTIFICATIONS`
OUT/batches/NUMBER.json        a batch: its files, its counters, and the units with the most work
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from tidings.log.lines import is_sealed
from tidings.spark.streaming.errors import StreamUnusable
from tidings.spark.streaming.output.notification_rows import notifications_in
from tidings.spark.streaming.unit import Notification


class Busy(msgspec.Struct, frozen=True, order=True):
    """How many rows a unit got in a batch, and its size after that."""

    rows: int
    unit: int
    quads: int
    bytes: int


class Manifest(msgspec.Struct, frozen=True):
    """A complete batch."""

    number: int
    finished: float
    """Seconds since 1970."""
    files: tuple[str, ...]
    told: int
    rows: int
    """How many rows units got."""
    units: int
    hottest: tuple[Busy, ...]


def manifest_path(out: Path, number: int) -> Path:
    return out / "batches" / f"{number:020}.json"


def numbers(out: Path) -> list[int]:
    """The numbers of the complete batches, in order."""
    return sorted(int(path.stem) for path in (out / "batches").glob("*.json") if path.stem.isdecimal())


def manifests(out: Path, after: int = -1) -> Iterator[Manifest]:
    """The batches after the batch `after`, in order. Raises StreamUnusable."""
    for number in numbers(out):
        if number > after and (manifest := manifest_of(out, number)) is not None:
            yield manifest


def manifest_of(out: Path, number: int) -> Manifest | None:
    """A batch; None if it is not complete yet. Raises StreamUnusable."""
    path = manifest_path(out, number)
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StreamUnusable(f"{path} cannot be read: {error.strerror}") from error
    if not is_sealed(text.removesuffix(b"\n")):
        raise StreamUnusable(f"{path}: the checksum of the manifest is wrong")
    try:
        return msgspec.json.decode(text, type=Manifest)
    except msgspec.DecodeError as error:
        raise StreamUnusable(f"{path} is no manifest: {error}") from error


class Batches:
    """Follows the batches of a job. Numbers may be missing permanently, for example after rescaling."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._listed = 0

    def after(self, number: int) -> Manifest | None:
        """The next batch after a number; None if there is none yet. Raises StreamUnusable."""
        following = manifest_of(self._out, number + 1)
        return self._beyond(number) if following is None else following

    def _beyond(self, number: int) -> Manifest | None:
        """As `after`, by listing all batches, if the folder has changed."""
        try:
            changed = (self._out / "batches").stat().st_mtime_ns
        except OSError:
            return None  # there is no batch yet
        if changed == self._listed:
            return None
        later = next((each for each in numbers(self._out) if each > number), None)
        if later is not None:
            return manifest_of(self._out, later)
        self._listed = changed
        return None


def read_notifications(out: Path, manifest: Manifest) -> list[Notification]:
    """The notifications of a batch, for each subscriber in the order of their sequences."""
    found: list[Notification] = []
    for name in manifest.files:
        try:
            found.extend(notifications_in(pq.read_table(out / "told" / name)))
        except (OSError, pa.ArrowInvalid) as error:
            raise StreamUnusable(f"{out / 'told' / name} cannot be read: {error}") from error
    return sorted(found, key=lambda each: (each.commit, each.spuid, each.sequence))
