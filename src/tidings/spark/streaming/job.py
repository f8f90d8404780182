"""THE STORY of subscriptions on Spark: log -> routed -> units -> notifications."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tidings.model.errors import TidingsError
from tidings.spark.lake.lake import Lake
from tidings.spark.lock import locked
from tidings.spark.log_source.origin import Mark, absolute, origin_of
from tidings.spark.session import adopt, started_again, translated
from tidings.spark.streaming.input import routed_source
from tidings.spark.streaming.monitoring import checkpoint as checkpoints
from tidings.spark.streaming.output import sink
from tidings.spark.streaming.packs import PACKED
from tidings.spark.streaming.subscriptions.enrolling import Enrolling, Refused
from tidings.spark.streaming.subscriptions.registrar import AT_ONCE, TOGETHER, Registrar
from tidings.spark.streaming.subscriptions.registry import Registry
from tidings.spark.streaming.subscriptions.requests import RequestSource
from tidings.spark.streaming.unit import LARGEST, Member
from tidings.spark.streaming.unit_state import UnitProcessor
from tidings.spark.streaming.workers import said_to

POLL = 1
"""Seconds between two reads of the requested subscriptions."""
FAREWELL = 60.0
"""Seconds that the present batch may take when the job is stopped; after that, the next run repeats it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The sizes of batches and units."""

    commits: int = routed_source.COMMITS
    """The most commits of a batch."""
    together: int = TOGETHER
    largest: int = LARGEST
    begins: int | None = None
    """The commit after which subscriptions without a commit of their own begin; None for the last one."""


class StreamJob:
    """One run. It calls `refused` with each subscription that cannot begin, and the error; and `seen` every second."""

    def __init__(
        self,
        spark: SparkSession,
        log: str,
        checkpoint: Path,
        out: Path,
        *,
        lake: Lake | None = None,
        settings: Settings | None = None,
        refused: Refused | None = None,
        seen: Callable[[], object] | None = None,
    ) -> None:
        self._spark = spark
        self._log = absolute(log)
        self._checkpoint = checkpoint
        self._out = out
        self._lake = lake
        self._settings = settings or Settings()
        self._refused = refused
        self._seen = seen
        self._hopeless: set[Member] = set()
        """Members that were refused. They are not tried again, unless their request changes."""

    def run(
        self,
        source: RequestSource,
        *,
        follow: bool = False,
        stop: threading.Event | None = None,
        began: Callable[[], object] | None = None,
    ) -> None:
        """Process all commits; with `follow`, go on with new ones until `stop` is set. Raises the error of the job.

        It calls `began` when the first subscriptions are registered, before the query starts.
        """
        adopt(self._spark)
        checkpoints.make(self._checkpoint)
        with locked(self._checkpoint):
            about = checkpoints.claim(self._checkpoint, self._out)
            registry = Registry(self._checkpoint / "registry")
            registry.open()
            registry.sweep()
            registrar = Registrar(registry, together=self._settings.together)
            self._register(registrar, source)
            if began is not None:
                began()
            with said_to(self._spark, self._checkpoint / "workers.txt"):
                started_again(
                    lambda: self._run(about.id, registrar, source if follow else None, stop or threading.Event())
                )

    def _run(self, job: str, registrar: Registrar, source: RequestSource | None, stop: threading.Event) -> None:
        with translated():
            query = self._start(job, follow=source is not None)
            try:
                self._attend(query, registrar, source, stop)
            finally:
                query.stop()

    def _attend(
        self, query: StreamingQuery, registrar: Registrar, source: RequestSource | None, stop: threading.Event
    ) -> None:
        """Run a query until it ends, or `stop` is set; meanwhile, register new requests."""
        while not query.awaitTermination(POLL):
            if stop.is_set():
                self._finish(query, registrar.registry)
                return
            if self._seen is not None:
                self._seen()
            if source is not None:
                self._register(registrar, source)

    def _finish(self, query: StreamingQuery, registry: Registry) -> None:
        """Let the present batch end, and no other begin."""
        registry.close()
        end = time.monotonic() + FAREWELL
        idle = 0
        while idle < 2 and time.monotonic() < end and not query.awaitTermination(0.25):  # type: ignore[arg-type]
            done = checkpoints.finished(self._checkpoint) == checkpoints.planned(self._checkpoint)
            idle = idle + 1 if done and not query.status["isDataAvailable"] else 0

    def _start(self, job: str, follow: bool) -> StreamingQuery:
        spark, settings = self._spark, self._settings
        spark.dataSource.register(routed_source.RoutedLog)
        spark.dataSource.register(sink.NotificationSink)
        routed = (
            spark.readStream.format(routed_source.FORMAT)
            .option("registry", str((self._checkpoint / "registry").absolute()))
            .option("commits", settings.commits)
            .option("packed", "yes")
            .option("partitions", spark.sparkContext.defaultParallelism)
            .load(self._log)
        )
        notifications = routed.groupBy("unit").transformWithState(
            UnitProcessor(job, settings.largest), PACKED, "append", "none"
        )
        writer = (
            notifications.writeStream.format(sink.FORMAT)
            .option("checkpointLocation", str((self._checkpoint / "spark").absolute()))
            .outputMode("append")
        )
        writer = writer.trigger(processingTime="0 seconds") if follow else writer.trigger(availableNow=True)
        return writer.start(str(self._out.absolute()))

    # -- subscriptions that begin and end ---------------------------------------------------------------------------

    def _register(self, registrar: Registrar, source: RequestSource) -> None:
        requests = source.read()
        if requests is None:
            return
        end = origin_of(self._log).end()
        here = registrar.members()
        gone = [spuid for spuid, member in here.items() if spuid not in requests or requests[spuid].member != member]
        for first in range(0, len(gone), AT_ONCE):
            registrar.registry.publish(Mark(), registrar.end(gone[first : first + AT_ONCE], end.commit))
        coming: dict[int, list[Member]] = {}
        for spuid, request in requests.items():
            if here.get(spuid) != request.member and request.member not in self._hopeless:
                begins = request.begins if request.begins is not None else self._settings.begins
                if spuid in here:
                    begins = None  # a changed request begins now
                coming.setdefault(end.commit if begins is None else min(begins, end.commit), []).append(request.member)
        enrolling = Enrolling(
            self._spark,
            self._log,
            self._lake,
            registrar,
            lambda spuid, error: self._refuse(requests[spuid].member, error),
        )
        for commit, members in coming.items():
            enrolling.begin(end if commit == end.commit else enrolling.mark(commit), members)

    def _refuse(self, member: Member, error: TidingsError) -> None:
        self._hopeless.add(member)
        if self._refused is not None:
            self._refused(member.spuid, error)
