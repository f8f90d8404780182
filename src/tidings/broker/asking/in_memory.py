"""The interface for questions about the whole graph, and its implementation on the broker's own store."""

from collections.abc import Callable
from typing import Protocol

from tidings.broker.forks import Forks
from tidings.broker.queries import Queries, Writer
from tidings.broker.spool import Spool
from tidings.broker.updates.rehearsal import Rehearsal, rehearse
from tidings.engine.engine import Engine
from tidings.model.access import Rights
from tidings.model.terms import Quad, Term
from tidings.model.zset import ZSet
from tidings.sparql.algebra import Dataset
from tidings.sparql.evaluate.context import Limits


class Asking(Protocol):
    """Answers questions about the whole graph."""

    async def answer(
        self, text: str, dataset: Dataset | None, write: Writer, rights: Rights, client: str | None, at: int | None
    ) -> Spool:
        """The answer to a query as a document, for the present state or the state after the commit `at`."""

    async def has_graph(self, name: Term) -> bool: ...
    async def rehearse(self, text: str, dataset: Dataset | None, rights: Rights, client: str | None) -> Rehearsal:
        """What an update would change. Nothing changes."""

    async def news(self, quads: list[Quad]) -> ZSet[Quad]:
        """Those of the quads that the store does not have."""


class InMemory:
    """For a graph that is in the store of the engine as a whole."""

    def __init__(
        self, engine: Engine, queries: Queries, forks: Forks, limits: Limits, clock: Callable[[], int]
    ) -> None:
        self._engine = engine
        self._queries = queries
        self._forks = forks
        self._limits = limits
        self._clock = clock

    async def answer(
        self, text: str, dataset: Dataset | None, write: Writer, rights: Rights, client: str | None, at: int | None
    ) -> Spool:
        return await self._queries.answer(text, dataset, write, rights, client, at)

    async def has_graph(self, name: Term) -> bool:
        return self._engine.store.graph(name) is not None

    async def rehearse(self, text: str, dataset: Dataset | None, rights: Rights, client: str | None) -> Rehearsal:
        return await rehearse(self._engine, self._forks, self._clock(), self._limits, text, dataset, rights, client)

    async def news(self, quads: list[Quad]) -> ZSet[Quad]:
        store = self._engine.store
        return ZSet.owning({quad: 1 for quad in store.spelled(quads) if quad not in store})
