"""Matching in bulk: every match, the K best events of each subscription, or a stream of files.

The events are divided among the cores, and each core has all subscriptions. Events that match a subscription equally
well are ordered by their documents, so the answer does not depend on the division.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as f

from tidings.spark.matching.events import following_lines
from tidings.spark.matching.worker import SCHEMA, Spec, Tally, worker
from tidings.spark.session import translated

COLUMNS = ("subscription", "degree", "event", "mappings")
_FILES = 100
"""The most files of a batch of a stream."""


class Matched(NamedTuple):
    """Matches, the best first for each subscription, and the counters of the job."""

    frame: DataFrame
    tally: Tally


@contextmanager
def matched(events: DataFrame, spec: Spec, top: int | None = None) -> Iterator[Matched]:
    """The matches, cached within this context."""
    rows = events.mapInArrow(worker(spec), SCHEMA).persist()
    try:
        yield Matched(best(rows.where("tally IS NULL").select(*COLUMNS), top), tally_of(rows))
    finally:
        rows.unpersist()


def best(matches: DataFrame, top: int | None) -> DataFrame:
    """The K best matches of each subscription, or all, in order."""
    order = [f.col("degree").desc(), f.col("event")]
    if top is not None:
        rank = f.row_number().over(Window.partitionBy("subscription").orderBy(*order))
        matches = matches.withColumn("rank", rank).where(f.col("rank") <= top).drop("rank")
    return matches.orderBy("subscription", *order)


def tally_of(rows: DataFrame) -> Tally:
    total = Tally()
    for row in rows.where("tally IS NOT NULL").select("tally").collect():
        total += msgspec.json.decode(row["tally"], type=Tally)
    return total


def follow(
    spark: SparkSession,
    folder: str,
    spec: Spec,
    out: Path,
    checkpoint: Path,
    *,
    until_done: bool,
    told: Callable[[int, Tally], None] = lambda _, __: None,
    files: int = _FILES,
) -> None:
    """Match the events of files as they appear, and write each batch to OUT/batch=N as Parquet, exactly once.

    A batch that is repeated after a crash has the same number, and overwrites its earlier output.
    """
    matches = following_lines(spark, folder, files).mapInArrow(worker(spec), SCHEMA)

    def write(batch: DataFrame, number: int) -> None:
        batch.persist()
        try:
            found = batch.where("tally IS NULL").select(*COLUMNS)
            found.write.mode("overwrite").parquet(str(out.absolute() / f"batch={number}"))
            told(number, tally_of(batch))
        finally:
            batch.unpersist()

    query = matches.writeStream.foreachBatch(write).option("checkpointLocation", str(checkpoint.absolute()))
    with translated():
        started = query.trigger(availableNow=True).start() if until_done else query.start()
        try:
            started.awaitTermination()
        finally:
            started.stop()
