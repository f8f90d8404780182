"""Copies the log into the lake, exactly once: a query of Structured Streaming that appends batch after batch.

The manifests of the lake record which commits it has. Spark's checkpoint records where to continue. If that is lost,
the query continues from the end of the lake; if it lags behind after a crash, `append` skips commits that the lake has.
"""

import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tidings.log.layout import write_whole
from tidings.model.errors import TidingsError
from tidings.spark.errors import CheckpointForeign, LakeUnusable, SparkFailed
from tidings.spark.lake.lake import Lake
from tidings.spark.lake.manifest import IngestedBatch
from tidings.spark.lake.writing import Upkeep, append, compact, snapshot, snapshot_due
from tidings.spark.log_source.data_source import COMMITS, FORMAT, TidingsLog, graphs_option
from tidings.spark.log_source.origin import absolute, check_holds, origin_of
from tidings.spark.session import adopt, started_again, translated

POLL = "1 second"


class Job(msgspec.Struct, frozen=True):
    """The job and the lake that a checkpoint belongs to."""

    job: str
    lake: str


class Ingest:
    """One run, for the graphs of the lake. It calls `told` after each batch, in another thread."""

    def __init__(
        self,
        spark: SparkSession,
        lake: Lake,
        log: str,
        *,
        commits: int = COMMITS,
        upkeep: Upkeep | None = None,
        checkpoint: Path | None = None,
        told: Callable[[IngestedBatch], None] | None = None,
    ) -> None:
        self._spark = spark
        self._lake = lake
        self._log = absolute(log)
        self._commits = commits
        self._upkeep = upkeep or Upkeep()
        self._checkpoint = checkpoint or lake.path / "checkpoint"
        self._told = told
        self._failure: TidingsError | None = None
        self._turn = threading.Lock()
        """Held while a batch is written, because Spark's thread may outlive the query."""
        self._over = False

    def run(self, *, follow: bool = False, stop: threading.Event | None = None) -> None:
        """Copy all commits; with `follow`, go on with new ones until `stop` is set. Raises the error of the query."""
        adopt(self._spark)
        with self._lake.locked():
            check_holds(origin_of(self._log, self._lake.graphs), self._lake.end())
            self._claim()
            self._forget_unfinished()
            self._lake.sweep()
            try:
                started_again(lambda: self._attend(follow, stop or threading.Event()))
            finally:
                with self._turn:  # so that nothing is written after another process gets the lock of the lake
                    self._over = True
            self._lake.sweep()

    def _attend(self, follow: bool, stop: threading.Event) -> None:
        """Run a query until it ends, or `stop` is set."""
        query = self._start(follow)
        try:
            with translated():
                while not query.awaitTermination(1) and not stop.is_set():
                    pass
        except TidingsError as error:
            if self._failure is None:
                raise
            raise self._failure from error
        finally:
            query.stop()

    def _start(self, follow: bool) -> StreamingQuery:
        self._spark.dataSource.register(TidingsLog)
        stream = (
            self._spark.readStream.format(FORMAT)
            .option("after", self._lake.end().commit)
            .option("commits", self._commits)
            .option("graphs", graphs_option(self._lake.graphs))
            .option("partitions", self._spark.sparkContext.defaultParallelism)
            .load(self._log)
        )
        writer = stream.writeStream.foreachBatch(self._take)
        writer = writer.option("checkpointLocation", str((self._checkpoint / "spark").absolute()))
        writer = writer.trigger(processingTime=POLL) if follow else writer.trigger(availableNow=True)
        with translated():
            return writer.start()

    def _take(self, changes: DataFrame, _: int) -> None:
        """Write a batch; called by Spark. Ranges of commits identify batches, so its number is not needed."""
        with self._turn:
            if self._over:
                raise SparkFailed("the ingest was stopped")
            try:
                self._write(changes)
            except TidingsError as error:
                self._failure = error
                raise

    def _write(self, changes: DataFrame) -> None:
        spark = changes.sparkSession
        batch = append(self._lake, changes)
        if batch is not None and self._told is not None:
            self._told(batch)
        compact(spark, self._lake, self._upkeep)
        if snapshot_due(self._lake, self._upkeep):
            snapshot(spark, self._lake)

    def _claim(self) -> None:
        """Check that the checkpoint is of this job and lake, or claim a new one. Raises CheckpointForeign."""
        ours = Job("ingest", self._lake.about.id)
        path = self._checkpoint / "job.json"
        try:
            self._checkpoint.mkdir(parents=True, exist_ok=True)
            if any(self._checkpoint.iterdir()):
                if msgspec.json.decode(path.read_bytes(), type=Job) != ours:
                    raise CheckpointForeign(f"{self._checkpoint} is the checkpoint of another job or lake")
            else:
                write_whole(path, msgspec.json.encode(ours) + b"\n")
        except (FileNotFoundError, msgspec.DecodeError):
            raise CheckpointForeign(f"{self._checkpoint} is no checkpoint of an ingest: it has no job.json") from None
        except OSError as error:
            raise LakeUnusable(f"{self._checkpoint} cannot be used: {error.strerror}") from error

    def _forget_unfinished(self) -> None:
        """Drop Spark's checkpoint if it has a planned batch that is not finished; the lake knows where to continue.

        Planning again costs nothing. Repeating the planned batch would fail each time, if the log has lost its last
        commits in a crash of the broker.
        """
        folder = self._checkpoint / "spark"
        planned, finished = (
            {path.name for path in (folder / name).glob("*") if path.name.isdecimal()}
            for name in ("offsets", "commits")
        )
        if max(map(int, planned), default=-1) > max(map(int, finished), default=-1):
            shutil.rmtree(folder, ignore_errors=True)
