"""Writes changes, merged changes and snapshots into the lake, with Spark. The caller holds the lock of the lake.

append      writes the changes after the last commit of the lake only, so a batch that is repeated after a crash adds
            nothing
compact     merges the last batches of a level into one of the next
snapshot    writes all quads after the last commit, once there were as many changes as the last snapshot has quads
"""

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tidings.spark.errors import CheckpointForeign, LakeDamaged
from tidings.spark.lake.lake import Lake
from tidings.spark.lake.manifest import IngestedBatch, Snapshot, due
from tidings.spark.lake.travel import quads, read

FAN = 16
LARGE = 4_000_000
SNAPSHOT_EVERY = 2_000_000
SORTED = "p"
"""The sort key of files. Sorting also by subject takes half as long again, and makes files smaller by a tenth."""


@dataclass(frozen=True, slots=True)
class Upkeep:
    """When batches are merged, and when a snapshot is due."""

    fan: int = FAN
    large: int = LARGE
    """The most rows of a merged batch."""
    snapshot_every: int = SNAPSHOT_EVERY
    """The fewest changes between two snapshots."""


def append(lake: Lake, changes: DataFrame) -> IngestedBatch | None:
    """Write the changes that the lake does not have yet; None if it has all. Raises CheckpointForeign if commits are
    missing between the two."""
    end = lake.end()
    folder = lake.fresh("changes", end.commit + 1)
    fresh = changes.where(f.col("seq") > end.commit) if end.commit else changes
    fresh.sortWithinPartitions(SORTED).write.parquet(str(folder.absolute()))
    found = lake.found(folder)
    if not found.rows:
        found.remove()
        return None
    first, last = found.range("seq")
    if first != end.commit + 1:
        found.remove()
        raise CheckpointForeign(
            f"the checkpoint goes on from commit {first} and the lake ends with {end.commit}: it is that of another "
            f"lake, or the lake is older; without {lake.path / 'checkpoint'} it goes on from where the lake is"
        )
    since, until = found.range("time")
    batch = IngestedBatch(first, last, since, until, found.files)
    lake.publish(batch)
    return batch


def compact(spark: SparkSession, lake: Lake, upkeep: Upkeep) -> list[IngestedBatch]:
    """Merge batches as long as some are due. Returns the merged ones."""
    made = []
    while run := due(lake.batches(), upkeep.fan, upkeep.large):
        made.append(merge(spark, lake, run))
    return made


def merge(spark: SparkSession, lake: Lake, run: list[IngestedBatch]) -> IngestedBatch:
    """Merge adjacent batches into one."""
    files = tuple(file for batch in run for file in batch.files)
    rows = sum(batch.rows for batch in run)
    folder = lake.fresh("changes", run[0].first)
    changes = read(spark, lake, files)
    changes.coalesce(max(1, rows // 1_000_000)).sortWithinPartitions(SORTED).write.parquet(str(folder.absolute()))
    found = lake.found(folder)
    if found.rows != rows or found.range("seq") != (run[0].first, run[-1].last):
        found.remove()
        raise LakeDamaged(f"{found.rows:,} changes came of {rows:,} when batches were merged: nothing was replaced")
    batch = IngestedBatch(run[0].first, run[-1].last, run[0].since, run[-1].until, found.files, run[0].level + 1)
    lake.publish(batch)
    return batch


def snapshot_due(lake: Lake, upkeep: Upkeep) -> bool:
    """Whether there were as many changes since the last snapshot as it has quads. So all snapshots together are about
    as large as all changes."""
    batches, snapshots = lake.batches(), lake.snapshots()
    last = snapshots[-1] if snapshots else None
    rows = sum(batch.rows for batch in batches if last is None or batch.first > last.commit)
    return rows >= max(upkeep.snapshot_every, last.quads if last else 0)


def snapshot(spark: SparkSession, lake: Lake) -> Snapshot:
    """Write a snapshot: all quads after the last commit."""
    end = lake.end()
    folder = lake.fresh("states", end.commit)
    state = quads(spark, lake, end.commit)
    state.sortWithinPartitions(SORTED).write.parquet(str(folder.absolute()))
    found = lake.found(folder)
    made = Snapshot(end.commit, end.time, found.files)
    lake.publish(made)
    return made
