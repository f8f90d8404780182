"""The history lake: a folder that all machines see, with every change as Parquet, and occasional snapshots.

    LAKE/lake.json        the description of the lake, with its graphs
    LAKE/lock             held by the one process that writes
    LAKE/changes/…        Parquet: seq, time, op, s, p, o, g, by, sorted by predicate, so that queries skip others
    LAKE/states/…         Parquet: s, p, o, g of snapshots
    LAKE/manifests/       the valid files of changes; LAKE/snapshots/, those of states
    LAKE/checkpoint/      the progress of Spark; may be deleted, because the lake itself records what it has

This module neither reads nor writes rows: `writing.py` and `travel.py` do that, with Spark.
"""

import shutil
import time
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pyarrow.parquet as pq

from tidings.log.layout import sync_file, sync_folder, write_whole
from tidings.model.access import Graphs
from tidings.model.graph_patterns import written
from tidings.spark.errors import LakeDamaged, LakeUnusable, OtherGraphs
from tidings.spark.lake import manifest
from tidings.spark.lake.about import VERSION, About, read_about
from tidings.spark.lake.manifest import File, IngestedBatch, Snapshot
from tidings.spark.lock import locked
from tidings.spark.log_source.origin import Mark

GRACE = 600.0
"""Seconds that retired files stay, for processes that are reading them."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Lake:
    """An existing lake; `Lake.make` makes a new one. Raises LakeUnusable."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.about, self.graphs = read_about(path)

    @classmethod
    def make(cls, path: Path, graphs: Graphs = Graphs.ALL) -> "Lake":
        """The lake of some graphs in a folder; makes it if the folder is new or empty. Raises OtherGraphs if it is of
        other graphs."""
        if not graphs:
            raise OtherGraphs("there is nothing to take in: no graph was named, or none may be read")
        try:
            path.mkdir(parents=True, exist_ok=True)
            if not (path / "lake.json").exists():
                others = sorted(entry.name for entry in path.iterdir() if not entry.name.startswith(("lake.", "lock")))
                if others:
                    raise LakeUnusable(f"{path} has no lake.json but other things in it ({others[0]})")
                about = About("tidings-lake", VERSION, uuid4().hex, tuple(written(graphs)))
                write_whole(path / "lake.json", msgspec.json.encode(about) + b"\n")
            for name in ("changes", "states", "manifests", "snapshots"):
                (path / name).mkdir(exist_ok=True)
            sync_folder(path)
        except OSError as error:
            raise LakeUnusable(f"{path} cannot be used for a lake: {error.strerror}") from error
        lake = cls(path)
        if lake.graphs != graphs:
            raise OtherGraphs(
                f"the lake {path} has {', '.join(lake.about.graphs)}, and what is to be taken in has "
                f"{', '.join(written(graphs)) or 'no graph'}: begin another lake, or say --graphs as it was begun"
            )
        return lake

    # -- reading -----------------------------------------------------------------------------------------------------

    def batches(self) -> list[IngestedBatch]:
        """The batches of changes, without gaps. Raises LakeDamaged."""
        return manifest.covering(manifest.read_batches(self.path / "manifests"))

    def snapshots(self) -> list[Snapshot]:
        return manifest.read_snapshots(self.path / "snapshots")

    def files(self) -> tuple[File, ...]:
        """All valid files."""
        changes = [file for batch in self.batches() for file in batch.files]
        return (*changes, *(file for snapshot in self.snapshots() for file in snapshot.files))

    def end(self) -> Mark:
        """The last commit of the lake."""
        batches = self.batches()
        return Mark(batches[-1].last, batches[-1].until) if batches else Mark()

    def paths(self, files: tuple[File, ...]) -> list[str]:
        """The paths of files, for Spark. Raises LakeDamaged if one is missing, or has another size."""
        result = []
        for file in files:
            path = self.path / file.path
            try:
                size = path.stat().st_size
            except FileNotFoundError:
                raise LakeDamaged(f"{path} is missing, and a manifest names it") from None
            if size != file.bytes:
                raise LakeDamaged(f"{path} has {size:,} bytes, not {file.bytes:,}")
            result.append(str(path.absolute()))
        return result

    # -- writing -----------------------------------------------------------------------------------------------------

    def locked(self) -> AbstractContextManager[None]:
        """The lock with which one process writes at a time. Raises LakeInUse."""
        return locked(self.path)

    def fresh(self, room: str, commit: int) -> Path:
        """A new folder for files. No other process writes to it, not even the JVM of a killed process."""
        return self.path / room / f"{commit:020}-{uuid4().hex[:12]}"

    def found(self, folder: Path) -> "Found":
        """The Parquet files that Spark has written to a folder, made durable."""
        try:
            return Found(self.path, folder)
        except (OSError, ValueError) as error:
            raise LakeDamaged(f"what was written to {folder} cannot be read again: {error}") from error

    def publish(self, made: IngestedBatch | Snapshot) -> None:
        """Make the files of a batch or a snapshot valid, all at once."""
        try:
            manifest.write(self.path / ("manifests" if isinstance(made, IngestedBatch) else "snapshots"), made)
        except OSError as error:
            raise LakeUnusable(f"{self.path} cannot be written: {error.strerror}") from error

    def sweep(self, grace: float = GRACE) -> None:
        """Remove batches that a merged one covers, and files that no manifest names: leftovers of a killed process.

        The caller holds the lock. Recently retired files stay, because a process may be reading them.
        """
        before = time.time() - grace
        everything = manifest.read_batches(self.path / "manifests")
        kept = manifest.covering(everything)
        known = {Path(file.path).parent.name for file in self.files()}
        for batch in everything:
            if batch in kept:
                continue
            cover = next(each for each in kept if each.first <= batch.first and batch.last <= each.last)
            if (self.path / "manifests" / cover.name).stat().st_mtime < before:
                (self.path / "manifests" / batch.name).unlink(missing_ok=True)
            else:
                known.update(Path(file.path).parent.name for file in batch.files)
        for folder in (*(self.path / "changes").iterdir(), *(self.path / "states").iterdir()):
            if folder.name not in known:
                shutil.rmtree(folder, ignore_errors=True)


class Found:
    """Parquet files with their footers, which describe what is on disk, regardless of what a job reports."""

    def __init__(self, lake: Path, folder: Path) -> None:
        self.folder = folder
        paths = sorted(folder.glob("*.parquet"))
        self._footers = {path: pq.read_metadata(path) for path in paths}
        self.files = tuple(
            File(str(path.relative_to(lake)), footer.num_rows, path.stat().st_size)
            for path, footer in self._footers.items()
            if footer.num_rows
        )
        for path in paths:
            sync_file(path)
        if paths:
            sync_folder(folder)
            sync_folder(folder.parent)

    @cached_property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    def range(self, column: str) -> tuple[int, int]:
        """The least and the greatest value of a column; instants in microseconds."""
        lows, highs = [], []
        for footer in self._footers.values():
            index = footer.schema.names.index(column)
            for group in range(footer.num_row_groups):
                statistics = footer.row_group(group).column(index).statistics
                lows.append(_number(statistics.min))
                highs.append(_number(statistics.max))
        return min(lows), max(highs)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def _number(value: Any) -> int:
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        return (aware - _EPOCH) // timedelta(microseconds=1)
    return int(value)
