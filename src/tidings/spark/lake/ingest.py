"""From the log into the lake, exactly once: a query of Structured Streaming that appends batch after batch.

The manifests of the lake say what it has. Spark's checkpoint says where to read on; if it is lost, the lake says it,
and if it lags behind after a crash, `append` skips the commits that the lake has.
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
    """Whose a checkpoint is."""

    job: str
    lake: str


class Ingest:
    """One run, for the graphs that the lake is of. `told` is called after each batch, in another thread, with what it
    brought."""

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
        """Held while a batch is written: Spark's thread may outlive the query that called it."""
        self._over = False

    def run(self, *, follow: bool = False, stop: threading.Event | None = None) -> None:
        """Take in what there is; with `follow`, also what comes, until `stop` is set. Raises what went wrong."""
        adopt(self._spark)
        with self._lake.locked():
            check_holds(origin_of(self._log, self._lake.graphs), self._lake.end())
            self._claim()
            self._forget_unfinished()
            self._lake.sweep()
            try:
                started_again(lambda: self._attend(follow, stop or threading.Event()))
            finally:
                with self._turn:  # nothing is written once the lock of the lake is somebody else's
                    self._over = True
            self._lake.sweep()

    def _attend(self, follow: bool, stop: threading.Event) -> None:
        """Be there while a query runs: until it ends, or is to."""
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
        """For Spark: a batch. Its number is of no use: ranges of commits say more."""
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
        """See that the checkpoint is of this job and lake, or make it so. Raises CheckpointForeign."""
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
        """Leave a batch that was planned and not finished to the lake, which knows where to go on.

        To plan it again costs nothing. To insist on it would fail for ever where the log has lost, with a crash of
        its broker, what it was to end with.
        """
        folder = self._checkpoint / "spark"
        planned, finished = (
            {path.name for path in (folder / name).glob("*") if path.name.isdecimal()}
            for name in ("offsets", "commits")
        )
        if max(map(int, planned), default=-1) > max(map(int, finished), default=-1):
            shutil.rmtree(folder, ignore_errors=True)
