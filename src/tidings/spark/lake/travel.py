"""Restores the graph after any commit, or at any instant.

    graph(n) = { quad | its last operation up to commit n is an addition }

That is max_by(op, seq) per quad, from the nearest snapshot on. Operation and number are packed into one integer, so
that Spark aggregates in place instead of sorting: 2·seq + 1 for an addition, 2·seq for a removal.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import NamedTuple
from uuid import uuid4

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tidings.engine.store.store import Store
from tidings.log.entry import Position
from tidings.log.folder import Folder
from tidings.log.snapshot import write_snapshot
from tidings.model.access import Graphs
from tidings.model.terms import Quad, intern
from tidings.protocol.entry_lines import NONE
from tidings.spark.errors import BeyondHistory, LakeDamaged, LakeUnusable
from tidings.spark.lake.lake import Lake
from tidings.spark.lake.manifest import File, IngestedBatch
from tidings.spark.lake.visible import visible
from tidings.spark.log_source.origin import Mark
from tidings.spark.session import translated

STATE = "s string, p string, o string, g string"
_CHUNK = 1 << 20
_ROWS = 50_000


class Plan(NamedTuple):
    """The files to read for the graph after a commit."""

    base: int
    """The commit of the snapshot to start from; 0 if none."""
    states: tuple[File, ...]
    changes: tuple[File, ...]
    last: int


def plan(lake: Lake, at: int) -> Plan:
    """The nearest snapshot, and the files with changes after it. Raises BeyondHistory."""
    batches = lake.batches()
    end = batches[-1].last if batches else 0
    if not 0 <= at <= end:
        raise BeyondHistory(f"the lake reaches to commit {end}, and not to commit {at}")
    nearest = max((each for each in lake.snapshots() if each.commit <= at), key=lambda each: each.commit, default=None)
    base = nearest.commit if nearest else 0
    needed = [batch for batch in batches if batch.last > base and batch.first <= at]
    return Plan(base, nearest.files if nearest else (), tuple(file for each in needed for file in each.files), at)


def time_of(lake: Lake, at: int) -> Mark:
    """A commit with its time. Raises BeyondHistory."""
    if not at:
        return Mark()
    for batch in lake.batches():
        if batch.first <= at <= batch.last:
            table = _columns(lake, batch, ["time"], ds.field("seq") == at)
            return Mark(at, table["time"].cast("int64")[0].as_py())
    raise BeyondHistory(f"the lake reaches to commit {lake.end().commit}, and not to commit {at}")


def _columns(lake: Lake, batch: IngestedBatch, names: list[str], condition: ds.Expression | None = None) -> pa.Table:
    """Some columns of a batch, read in this process. Raises LakeDamaged."""
    read_options = ds.ParquetFragmentScanOptions(page_checksum_verification=True)
    try:
        files = ds.dataset(
            lake.paths(batch.files), format=ds.ParquetFileFormat(default_fragment_scan_options=read_options)
        )
        return files.to_table(names, filter=condition)
    except (OSError, pa.ArrowException) as error:
        raise LakeDamaged(f"commits {batch.first} to {batch.last} cannot be read: {error}") from error


def commit_at(lake: Lake, instant: int) -> Mark:
    """The last commit up to an instant, in microseconds since 1970; commit 0 if the instant is before all commits."""
    batches = [batch for batch in lake.batches() if batch.since <= instant]
    if not batches:
        return Mark()
    batch = batches[-1]
    if batch.until <= instant:
        return Mark(batch.last, batch.until)
    table = _columns(lake, batch, ["seq", "time"])
    times = table["time"].cast("int64")
    pairs = zip(times.to_pylist(), table["seq"].to_pylist(), strict=True)
    time, commit = max(pair for pair in pairs if pair[0] <= instant)
    return Mark(commit, time)


def changes(
    spark: SparkSession, lake: Lake, after: int = 0, last: int | None = None, readable: Graphs = Graphs.ALL
) -> DataFrame:
    """All changes in (after, last] of the readable graphs, in no order."""
    batches = [each for each in lake.batches() if each.last > after and (last is None or each.first <= last)]
    rows = read(spark, lake, tuple(file for each in batches for file in each.files))
    if batches and batches[0].first <= after:
        rows = rows.where(f.col("seq") > after)
    if last is not None and batches and batches[-1].last > last:
        rows = rows.where(f.col("seq") <= last)
    if not lake.graphs.everything:
        rows = rows.where(f.col("op") != NONE)
    return visible(rows, readable)


def quads(spark: SparkSession, lake: Lake, at: int, readable: Graphs = Graphs.ALL) -> DataFrame:
    """The quads of the readable graphs after a commit: columns s, p, o, g. Raises BeyondHistory, LakeDamaged."""
    needed = plan(lake, at)
    after = changes(spark, lake, needed.base, at, readable)
    if not needed.states:
        return folded(after)
    base = visible(spark.read.schema(STATE).parquet(*lake.paths(needed.states)), readable)
    return folded(after, base, needed.base) if needed.changes else base


def folded(changes: DataFrame, base: DataFrame | None = None, commit: int = 0) -> DataFrame:
    """The quads after some changes, from those after an earlier commit (`base`)."""
    rows = changes.select(*"spog", (f.col("seq") * 2 + (f.col("op") == "add").cast("long")).alias("last"))
    if base is not None:
        rows = rows.union(base.select(*"spog", f.lit(commit * 2 + 1).alias("last")))
    return rows.groupBy(*"spog").agg(f.max("last").alias("last")).where(f.col("last") % 2 == 1).select(*"spog")


def read(spark: SparkSession, lake: Lake, files: tuple[File, ...]) -> DataFrame:
    """The changes in some files. A column is null in files that are older than the column."""
    from tidings.spark.log_source.data_source import SCHEMA

    return spark.read.schema(SCHEMA).parquet(*lake.paths(files)) if files else spark.createDataFrame([], SCHEMA)


# -- results in this process -----------------------------------------------------------------------------------------


def each_quad(spark: SparkSession, lake: Lake, at: int, readable: Graphs = Graphs.ALL) -> Iterator[Quad]:
    """The quads after a commit, in this process. Equal terms are the same string object."""
    with _written(spark, lake, at, readable, lambda found: found.write.parquet) as parts:
        for part in parts:
            for batch in pq.ParquetFile(part).iter_batches(_ROWS):
                for s, p, o, g in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    yield intern(s), intern(p), intern(o), intern(g)


@contextmanager
def _written(
    spark: SparkSession,
    lake: Lake,
    at: int,
    readable: Graphs,
    writer: Callable[[DataFrame], Callable[[str], None]],
) -> Iterator[list[Path]]:
    """Within this context, temporary files with the quads after a commit. All machines write them to the folder of the
    lake, so that no process has to hold all quads."""
    folder = lake.path / f"output-{uuid4().hex[:12]}"
    try:
        with translated():
            writer(quads(spark, lake, at, readable))(str(folder.absolute()))
        yield sorted(folder.glob("part-*"))
    except OSError as error:
        raise LakeUnusable(f"{folder}: {error.strerror}") from error
    finally:
        rmtree(folder, ignore_errors=True)


def store(spark: SparkSession, lake: Lake, at: int, readable: Graphs = Graphs.ALL) -> Store:
    """A store with the graph after a commit."""
    return Store(each_quad(spark, lake, at, readable))


def nquads(spark: SparkSession, lake: Lake, at: int, readable: Graphs = Graphs.ALL) -> Iterator[bytes]:
    """The graph after a commit as N-Quads, in pieces."""
    line = f.concat_ws(" ", *"spo", f.when(f.col("g") != "", f.col("g")), f.lit("."))
    with _written(spark, lake, at, readable, lambda found: found.select(line).write.text) as parts:
        for part in parts:
            with part.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    yield chunk


def broker_folder(spark: SparkSession, lake: Lake, mark: Mark, folder: Path, readable: Graphs = Graphs.ALL) -> None:
    """Make a data folder for a new broker, which starts with the graph and the number of this commit."""
    with Folder(folder):
        if any((folder / "log").iterdir()) or any((folder / "snapshots").iterdir()):
            raise LakeUnusable(f"{folder} has data already: give an empty or a new folder")
        write_snapshot(folder, Position(mark.commit, mark.time), each_quad(spark, lake, mark.commit, readable), ())
