"""Manifests list the files of the lake: batches, each with the changes of a range of commits, and snapshots. Files that
no manifest names are ignored.

    manifests/FIRST-LAST.json    a batch        a merged batch covers its parts, which are then retired
    snapshots/SEQ.json           all quads after a commit

Batches follow each other without a gap, and so an ingest is exactly once.
"""

import re
from pathlib import Path
from typing import TypeVar

import msgspec

from tidings.log.layout import write_whole
from tidings.log.lines import is_sealed, sealed
from tidings.spark.errors import LakeDamaged

_BATCH = re.compile(r"(\d{20})-(\d{20})\.json")
_SNAPSHOT = re.compile(r"(\d{20})\.json")


class File(msgspec.Struct, frozen=True):
    """A Parquet file, by its path within the lake."""

    path: str
    rows: int
    bytes: int


class IngestedBatch(msgspec.Struct, frozen=True):
    """The changes of the commits from `first` to `last`. Times are microseconds since 1970."""

    first: int
    last: int
    since: int
    """The time of the first commit."""
    until: int
    """The time of the last commit."""
    files: tuple[File, ...]
    level: int = 0
    """How many times it was merged with its neighbours."""

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    @property
    def name(self) -> str:
        return f"{self.first:020}-{self.last:020}.json"


class Snapshot(msgspec.Struct, frozen=True, rename={"commit": "seq"}):
    """All quads after a commit."""

    commit: int
    time: int
    files: tuple[File, ...]

    @property
    def quads(self) -> int:
        return sum(file.rows for file in self.files)

    @property
    def name(self) -> str:
        return f"{self.commit:020}.json"


_Kind = TypeVar("_Kind", IngestedBatch, Snapshot)


def write(folder: Path, manifest: IngestedBatch | Snapshot) -> None:
    """Write a manifest. From here on, its files are valid."""
    write_whole(folder / manifest.name, sealed(msgspec.json.encode(manifest)))


def read_batches(folder: Path) -> list[IngestedBatch]:
    """All batches, including retired ones. Raises LakeDamaged."""
    paths = sorted(path for path in folder.glob("*.json") if _BATCH.fullmatch(path.name))
    return [batch for path in paths if (batch := _read(path, IngestedBatch)) is not None]


def read_snapshots(folder: Path) -> list[Snapshot]:
    """All snapshots, oldest first. Raises LakeDamaged."""
    paths = sorted(path for path in folder.glob("*.json") if _SNAPSHOT.fullmatch(path.name))
    return [snapshot for path in paths if (snapshot := _read(path, Snapshot)) is not None]


def _read(path: Path, kind: type[_Kind]) -> _Kind | None:
    """A manifest; None if it was retired after its folder was listed."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        if not is_sealed(text.removesuffix(b"\n")):
            raise LakeDamaged(f"{path}: the checksum of the manifest is wrong")
        found = msgspec.json.decode(text, type=kind)
    except msgspec.DecodeError as error:
        raise LakeDamaged(f"{path}: not a manifest: {error}") from error
    if found.name != path.name:
        raise LakeDamaged(f"{path}: the manifest has the name of another")
    return found


def covering(batches: list[IngestedBatch]) -> list[IngestedBatch]:
    """The batches that no other batch covers, in order. Raises LakeDamaged if there are gaps or overlaps."""
    result: list[IngestedBatch] = []
    for batch in sorted(batches, key=lambda each: (each.first, -each.last)):
        last = result[-1].last if result else 0
        if batch.last <= last:
            continue
        if batch.first != last + 1:
            what = "are missing" if batch.first > last + 1 else "are there in two batches"
            edges = sorted((last + 1, batch.first - 1)) if batch.first > last + 1 else (batch.first, last)
            raise LakeDamaged(f"commits {edges[0]} to {edges[1]} {what}: the lake was tampered with")
        result.append(batch)
    return result


def due(batches: list[IngestedBatch], fan: int, most: int) -> list[IngestedBatch]:
    """The last batches of equal level, if there are at least `fan` of them, with at most `most` rows together.

    As in a log-structured merge tree, a change is written again once for each level, log(n) times.
    """
    tail: list[IngestedBatch] = []
    for batch in reversed(batches):
        if tail and batch.level != tail[-1].level:
            break
        tail.append(batch)
    tail.reverse()
    return tail if len(tail) >= fan and sum(batch.rows for batch in tail) <= most else []
