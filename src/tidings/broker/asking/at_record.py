"""Has the store of record answer questions about a graph that is not in memory."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.errors import NotInContextMode
from tidings.broker.forks import Forks
from tidings.broker.policy import Policy
from tidings.broker.queries import LONG_QUERY, Writer
from tidings.broker.record.seam import AskedStore
from tidings.broker.record.working_out import WorkingOut, has_graph
from tidings.broker.spool import Spool
from tidings.broker.updates.elsewhere import Asked
from tidings.broker.updates.queue import check_length
from tidings.broker.updates.rehearsal import Rehearsal, rehearsed
from tidings.engine.engine import Engine
from tidings.model.access import Rights
from tidings.model.results import Result
from tidings.model.terms import Quad, Term
from tidings.model.zset import ZSet
from tidings.sparql.algebra import Dataset, Query, narrowed
from tidings.sparql.prepared import Parameters


class AtRecord:
    """Asks the store of record. An answer is sent once all earlier commits are settled."""

    def __init__(
        self,
        engine: Engine,
        record: AskedStore,
        working_out: WorkingOut,
        commit_log: CommitLog,
        forks: Forks,
        clock: Callable[[], int],
        policy: Policy,
    ) -> None:
        self._engine = engine
        self._record = record
        self._working_out = working_out
        self._commit_log = commit_log
        self._forks = forks
        self._clock = clock
        self._policy = policy

    async def answer(
        self, text: str, dataset: Dataset | None, write: Writer, rights: Rights, client: str | None, at: int | None
    ) -> Spool:
        if at is not None:
            raise NotInContextMode("what the graph was like after an earlier commit is not known here")
        query, parameters = await self._read(text, dataset, client)
        result = await self._record.answer(narrowed(query, rights.read), parameters)
        await self._commit_log.settled()  # an answer must not show commits that a crash could still undo
        spool = await asyncio.to_thread(self._written, write, result)
        return replace(spool, warnings=query.warnings) if query.warnings else spool

    def _written(self, write: Writer, result: Result) -> Spool:
        media_type, chunks = write(result)
        return Spool.of(media_type, chunks, self._policy.answer)

    async def _read(self, text: str, dataset: Dataset | None, client: str | None) -> tuple[Query, Parameters]:
        read = partial(self._engine.core.prepare_query, text, dataset)
        return (
            read()
            if len(text) <= LONG_QUERY
            else await self._forks.run(read, seconds=self._policy.seconds, client=client)
        )

    async def has_graph(self, name: Term) -> bool:
        return await has_graph(self._record, name)

    async def rehearse(self, text: str, dataset: Dataset | None, rights: Rights, client: str | None) -> Rehearsal:
        check_length(text)
        asked = Asked(*self._engine.prepare(text, dataset), rights)
        return rehearsed(await self._working_out.rehearse(asked, self._clock()), rights)

    async def news(self, quads: list[Quad]) -> ZSet[Quad]:
        store = self._engine.store
        lacking = await self._record.lacking(dict.fromkeys(store.spelled(quads), True))
        return ZSet.owning(dict.fromkeys(lacking, 1))
