"""Begins subscriptions after a commit: each gets a unit, and the quads that concern it in the graph of that commit."""

from collections.abc import Callable, Sequence

from pyspark.sql import SparkSession

from tidings.model.errors import TidingsError
from tidings.spark.errors import OtherGraphs
from tidings.spark.lake.lake import Lake
from tidings.spark.lake.manifest import File
from tidings.spark.log_source.data_source import mark_at
from tidings.spark.log_source.origin import Mark, absolute, origin_of
from tidings.spark.streaming.subscriptions.registrar import AT_ONCE, Registrar
from tidings.spark.streaming.subscriptions.seeding import graph_at, write_seeds
from tidings.spark.streaming.unit import Member

Refused = Callable[[str, TidingsError], None]
"""Called with the spuid of a subscription that cannot begin, and the error."""


class Enrolling:
    def __init__(
        self, spark: SparkSession, log: str, lake: Lake | None, registrar: Registrar, refused: Refused
    ) -> None:
        if lake is not None and not lake.graphs.everything:
            raise OtherGraphs(
                f"the lake {lake.path} has {', '.join(lake.about.graphs)}, and subscriptions see all graphs"
            )
        self._spark = spark
        self._log = absolute(log)
        self._lake = lake
        self._registrar = registrar
        self._refused = refused

    def mark(self, commit: int) -> Mark:
        return mark_at(origin_of(self._log), commit) if commit else Mark()

    def begin(self, mark: Mark, members: Sequence[Member]) -> None:
        """Begin members after a commit, in versions that are small enough for a task to read."""
        for first in range(0, len(members), AT_ONCE):
            self._publish(mark, members[first : first + AT_ONCE])

    def _publish(self, mark: Mark, members: Sequence[Member]) -> None:
        begun, wrong = self._registrar.begin(members)
        for spuid, error in wrong.items():
            self._refused(spuid, error)
        if not begun:
            return
        seeds: tuple[File, ...] = ()
        if mark.commit:
            seeds = write_seeds(
                graph_at(self._spark, self._log, self._lake, mark.commit), self._registrar.registry, begun
            )
        self._registrar.registry.publish(mark, begun, seeds)
