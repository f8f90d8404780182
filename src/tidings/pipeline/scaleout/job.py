"""THE STORY of subscriptions on Spark: log -> routed -> units -> told.

CHECKPOINT/job.json      whose checkpoint this is
CHECKPOINT/registry/     who was subscribed when
CHECKPOINT/spark/        where Spark was, and the state of every unit
CHECKPOINT/lock          held by the one process that runs the job
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import msgspec
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tidings.log.layout import write_whole
from tidings.model.errors import TidingsError
from tidings.pipeline.errors import CheckpointForeign, retold
from tidings.pipeline.lake import Lake
from tidings.pipeline.lock import locked
from tidings.pipeline.manifest import File
from tidings.pipeline.origin import Mark, origin_of
from tidings.pipeline.scaleout import sink, source
from tidings.pipeline.scaleout.errors import StreamUnusable
from tidings.pipeline.scaleout.processor import UnitProcessor
from tidings.pipeline.scaleout.registrar import AT_ONCE, TOGETHER, Registrar
from tidings.pipeline.scaleout.registry import Registry
from tidings.pipeline.scaleout.rows import TOLD
from tidings.pipeline.scaleout.seeding import graph_at, write_seeds
from tidings.pipeline.scaleout.unit import LARGEST, Member
from tidings.pipeline.scaleout.wanted import Wanted
from tidings.pipeline.source import mark_at

POLL = 1
"""Seconds between two looks at who wants what."""


class About(msgspec.Struct, frozen=True):
    """What job.json says."""

    job: str
    id: str
    out: str


@dataclass(frozen=True, slots=True)
class Settings:
    """How the job is cut."""

    commits: int = source.COMMITS
    """The most commits of a batch."""
    together: int = TOGETHER
    largest: int = LARGEST
    begins: int | None = None
    """The commit that those begin after who do not say it; None for the last there is."""


class StreamJob:
    """One run. `refused` is called with whoever cannot be told anything, and why."""

    def __init__(
        self,
        spark: SparkSession,
        log: str,
        checkpoint: Path,
        out: Path,
        *,
        lake: Lake | None = None,
        settings: Settings | None = None,
        refused: Callable[[str, TidingsError], None] | None = None,
    ) -> None:
        self._spark = spark
        self._log = log
        self._checkpoint = checkpoint
        self._out = out
        self._lake = lake
        self._settings = settings or Settings()
        self._refused = refused
        self._hopeless: set[str] = set()
        """Whoever was refused is not asked again."""

    def run(self, wanted: Wanted, *, follow: bool = False, stop: threading.Event | None = None) -> None:
        """Tell what there is to tell; with `follow`, also what comes, until `stop` is set. Raises what went wrong."""
        _make(self._checkpoint)
        with locked(self._checkpoint):
            about = self._claim()
            registrar = Registrar(Registry(self._checkpoint / "registry"), together=self._settings.together)
            registrar.registry.sweep()
            self._register(registrar, wanted)
            query = self._start(about, follow)
            try:
                while not query.awaitTermination(POLL):
                    if stop is not None and stop.is_set():
                        break
                    if follow:
                        self._register(registrar, wanted)
            except PySparkException as error:
                raise retold(error) from error
            finally:
                query.stop()

    def _start(self, about: About, follow: bool) -> StreamingQuery:
        spark, settings = self._spark, self._settings
        spark.dataSource.register(source.RoutedLog)
        spark.dataSource.register(sink.ToldSink)
        routed = (
            spark.readStream.format(source.FORMAT)
            .option("registry", str((self._checkpoint / "registry").absolute()))
            .option("commits", settings.commits)
            .option("partitions", spark.sparkContext.defaultParallelism)
            .load(self._log)
        )
        told = routed.groupBy("unit").transformWithStateInPandas(
            UnitProcessor(about.id, settings.largest), TOLD, "append", "none"
        )
        writer = (
            told.writeStream.format(sink.FORMAT)
            .option("checkpointLocation", str((self._checkpoint / "spark").absolute()))
            .outputMode("append")
        )
        writer = writer.trigger(processingTime="0 seconds") if follow else writer.trigger(availableNow=True)
        try:
            return writer.start(str(self._out.absolute()))
        except PySparkException as error:
            raise retold(error) from error

    # -- who comes and goes -----------------------------------------------------------------------------------------

    def _register(self, registrar: Registrar, wanted: Wanted) -> None:
        wishes = wanted.read()
        if wishes is None:
            return
        end = origin_of(self._log).end()
        here = registrar.members()
        gone = [spuid for spuid, member in here.items() if spuid not in wishes or wishes[spuid].member != member]
        for first in range(0, len(gone), AT_ONCE):
            registrar.registry.publish(Mark(), registrar.end(gone[first : first + AT_ONCE], end.seq))
        coming: dict[int, list[Member]] = {}
        for spuid, wish in wishes.items():
            if (spuid not in here or spuid in gone) and spuid not in self._hopeless:
                begins = wish.begins if wish.begins is not None else self._settings.begins
                coming.setdefault(end.seq if begins is None else min(begins, end.seq), []).append(wish.member)
        for seq, members in coming.items():
            for first in range(0, len(members), AT_ONCE):
                self._begin(registrar, end if seq == end.seq else self._mark(seq), members[first : first + AT_ONCE])

    def _mark(self, seq: int) -> Mark:
        return mark_at(origin_of(self._log), seq) if seq else Mark()

    def _begin(self, registrar: Registrar, mark: Mark, members: list[Member]) -> None:
        begun, wrong = registrar.begin(members)
        for spuid, error in wrong.items():
            self._hopeless.add(spuid)
            if self._refused is not None:
                self._refused(spuid, error)
        if not begun:
            return
        seeds: tuple[File, ...] = ()
        if mark.seq:
            seeds = write_seeds(graph_at(self._spark, self._log, self._lake, mark.seq), registrar.registry, begun)
        registrar.registry.publish(mark, begun, seeds)

    def _claim(self) -> About:
        """See that the checkpoint is of this job and output, or make it so. Raises CheckpointForeign."""
        path = self._checkpoint / "job.json"
        out = str(self._out.absolute())
        try:
            others = [each.name for each in self._checkpoint.iterdir() if each.name != "lock"]
            if not others:
                write_whole(path, msgspec.json.encode(About("subscriptions", uuid4().hex, out)) + b"\n")
            about = msgspec.json.decode(path.read_bytes(), type=About)
        except (FileNotFoundError, msgspec.DecodeError):
            raise CheckpointForeign(
                f"{self._checkpoint} is no checkpoint of subscriptions: it has no job.json"
            ) from None
        except OSError as error:
            raise StreamUnusable(f"{self._checkpoint} cannot be used: {error.strerror}") from error
        if about.job != "subscriptions":
            raise CheckpointForeign(f"{self._checkpoint} is the checkpoint of another job, {about.job}")
        if about.out != out:
            raise CheckpointForeign(f"{self._checkpoint} belongs to the output {about.out}, not to {out}")
        return about


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StreamUnusable(f"{folder} cannot be made: {error.strerror}") from error
