"""The history lake: a folder that all machines see, with every change as Parquet and a snapshot now and then.

    LAKE/lake.json        what this folder is, and of which graphs
    LAKE/lock             held by the one process that writes
    LAKE/changes/…        Parquet: seq, time, op, s, p, o, g, by, sorted by predicate, so that a query passes others
    LAKE/states/…         Parquet: s, p, o, g of snapshots
    LAKE/manifests/       which of the changes are there; LAKE/snapshots/ which of the states
    LAKE/checkpoint/      where Spark was; it can go, because the lake itself knows where it is

This module reads and writes no Parquet: what Spark does is in `filling.py` and `travel.py`.
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
"""Seconds that retired files stay, for whoever is reading them."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Lake:
    """A lake that is there; `Lake.make` makes one that is not. Raises LakeUnusable."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.about, self.graphs = read_about(path)

    @classmethod
    def make(cls, path: Path, graphs: Graphs = Graphs.ALL) -> "Lake":
        """The lake of some graphs in a folder, which may be new or empty. Raises OtherGraphs if it has others."""
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

    # -- what is there -----------------------------------------------------------------------------------------------

    def batches(self) -> list[IngestedBatch]:
        """The changes, without a gap. Raises LakeDamaged."""
        return manifest.covering(manifest.read_batches(self.path / "manifests"))

    def snapshots(self) -> list[Snapshot]:
        return manifest.read_snapshots(self.path / "snapshots")

    def files(self) -> tuple[File, ...]:
        """All files that are there."""
        changes = [file for batch in self.batches() for file in batch.files]
        return (*changes, *(file for snapshot in self.snapshots() for file in snapshot.files))

    def end(self) -> Mark:
        """The last commit that is there."""
        batches = self.batches()
        return Mark(batches[-1].last, batches[-1].until) if batches else Mark()

    def paths(self, files: tuple[File, ...]) -> list[str]:
        """Where files are, for Spark. Raises LakeDamaged unless they are there, and as long as they should be."""
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
        """One process writes at a time. Raises LakeInUse."""
        return locked(self.path)

    def fresh(self, room: str, commit: int) -> Path:
        """A folder for files that nobody else writes to, not even a JVM that outlives the process it belonged to."""
        return self.path / room / f"{commit:020}-{uuid4().hex[:12]}"

    def found(self, folder: Path) -> "Found":
        """The Parquet files that Spark left in a folder, made durable."""
        try:
            return Found(self.path, folder)
        except (OSError, ValueError) as error:
            raise LakeDamaged(f"what was written to {folder} cannot be read again: {error}") from error

    def publish(self, made: IngestedBatch | Snapshot) -> None:
        """Make files exist, all at once."""
        try:
            manifest.write(self.path / ("manifests" if isinstance(made, IngestedBatch) else "snapshots"), made)
        except OSError as error:
            raise LakeUnusable(f"{self.path} cannot be written: {error.strerror}") from error

    def sweep(self, grace: float = GRACE) -> None:
        """Remove batches that a merged one covers, and files that no manifest names: leftovers of a killed process.

        For whoever has the lock. What is young stays: somebody may be reading it.
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
    """Parquet files, and what their footers say. That is what is on the disk, whatever a job claims."""

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
