"""Computes the exact deltas of updates of a graph that is not in memory, from answers of the store of record.

    removed = the quads of D - I that exist    added = the quads of I that do not    D, I: instances of the templates

Updates that wait are worked out together, with one question to the store. Each has to see the changes of those before
it, which the store may not have yet. If these could change the solutions of its WHERE, the broker works it out later.
Within a request, the broker itself evaluates a WHERE that depends on an operation before it, over the quads that its
patterns select.
"""

from collections.abc import Sequence
from itertools import takewhile
from typing import assert_never

from msgspec import Struct

from tidings.broker.forks import Forks
from tidings.broker.record.at_hand import AtHand
from tidings.broker.record.delivery import Delivery
from tidings.broker.record.instances import Instances, instances_of, kept, where_of
from tidings.broker.record.scratch import Scratch
from tidings.broker.record.seam import AskedStore, after
from tidings.broker.updates.elsewhere import Asked
from tidings.engine.engine import Engine
from tidings.engine.keys import keys_in
from tidings.engine.lutt import ANY_NAMED, Key
from tidings.engine.operators.base import ANY_TRIPLE
from tidings.engine.updates.modify import PreparedModify
from tidings.engine.updates.operations import Operations, ground
from tidings.engine.updates.permission import check_graphs
from tidings.model.errors import EndpointAway, GraphExists, RowLimitExceeded, TidingsError
from tidings.model.results import Boolean, Row
from tidings.model.terms import DEFAULT_GRAPH, Quad, Term
from tidings.model.zset import ZSet
from tidings.sparql.algebra import (
    BGP,
    WHOLE,
    Ask,
    Clear,
    Create,
    DeleteData,
    Graph,
    GraphTarget,
    InsertData,
    Load,
    Modify,
    Operation,
    Transfer,
)
from tidings.sparql.evaluate.context import Limits
from tidings.sparql.writing.requests import Where


class _Depends(Exception):
    """The store would answer an update differently if it had the changes on their way."""


class _Question(Struct, frozen=True):
    """The query for the WHERE of an operation, and the patterns of the quads that its answer depends on."""

    where: Where
    keys: list[Key]


class _Beginning(Struct, frozen=True):
    """What is known about an update before its turn: the instances of its first operation, or its error."""

    question: _Question | None = None
    instances: Instances | None = None
    error: TidingsError | None = None


class WorkingOut:
    """Computes the deltas of updates. It fetches at most `most` quads at a time; `limits` are those of an update.
    `at_hand` works out updates from memory, if nobody else writes to the store of record."""

    def __init__(
        self,
        engine: Engine,
        record: AskedStore,
        delivery: Delivery,
        forks: Forks,
        limits: Limits,
        most: int,
        at_hand: AtHand | None = None,
    ) -> None:
        self._engine = engine
        self._record = record
        self._delivery = delivery
        self._forks = forks
        self._limits = limits
        self._most = most
        self._at_hand = at_hand

    async def work_out(self, asked: Sequence[Asked], now: int) -> list[ZSet[Quad] | TidingsError]:
        """The outcomes of the first of these updates, one after the other; of all, if none has to wait for commits on
        their way. Empty if the store of record is away; an outage has begun then."""
        if self._at_hand is not None and (found := self._at_hand.work_out(asked, now)):
            return found
        try:
            found = await self._round(asked, now)
            if not found:
                await self._delivery.idle()
                found = await self._round(asked[:1], now)
        except EndpointAway as error:
            self._delivery.outage.begin(error)
            return []
        return found

    async def rehearse(self, asked: Asked, now: int) -> ZSet[Quad]:
        """The delta that an update would have. Raises the error that it would have."""
        while not (found := await self._round((asked,), now)):
            await self._delivery.idle()
        if isinstance(found[0], TidingsError):
            raise found[0]
        return found[0]

    async def _round(self, asked: Sequence[Asked], now: int) -> list[ZSet[Quad] | TidingsError]:
        self._engine.core.tell_time(now)
        scratch = Scratch(self._record, self._most, after(self._delivery.on_its_way()))
        outcomes: list[ZSet[Quad] | TidingsError] = []
        questions = list(takewhile(lambda each: each is None or not scratch.differs(each.keys), map(_first, asked)))
        beginnings = await self._beginnings(asked[: len(questions)], questions, scratch)
        for each, beginning in zip(asked, beginnings, strict=False):
            try:
                outcomes.append(await self._request(each, beginning, scratch))
            except _Depends:
                break
            except EndpointAway:
                raise
            except TidingsError as error:
                outcomes.append(error)
        return outcomes

    # -- all first operations together --------------------------------------------------------------------------

    async def _beginnings(
        self, asked: Sequence[Asked], questions: Sequence[_Question | None], scratch: Scratch
    ) -> list[_Beginning]:
        """The quads that the first operation of each update deletes and inserts; asks the store which of them exist."""
        wheres = [each.where for each in questions if each is not None]
        rows = iter(await self._record.solutions(wheres) if wheres else ())
        found = [
            self._ground_beginning(each) if question is None else self._beginning(each, question, next(rows))
            for each, question in zip(asked, questions, strict=True)
        ]
        await scratch.ask([each.instances for each in found if each.instances is not None])
        return found

    def _beginning(self, asked: Asked, question: _Question, rows: list[Row] | TidingsError) -> _Beginning:
        first = asked.request.operations[0]
        assert isinstance(first, Modify)
        if isinstance(rows, TidingsError):
            return _Beginning(question, error=rows)
        try:
            return _Beginning(question, self._instances(first, question.where, rows))
        except TidingsError as error:
            return _Beginning(question, error=error)

    def _ground_beginning(self, asked: Asked) -> _Beginning:
        first = asked.request.operations[0] if asked.request.operations else None
        if not isinstance(first, InsertData | DeleteData):
            return _Beginning()
        try:
            return _Beginning(instances=self._ground(first, asked))
        except TidingsError as error:
            return _Beginning(error=error)

    def _ground(self, operation: InsertData | DeleteData, asked: Asked) -> Instances:
        quads = list(ground(operation.quads, self._engine.core.moment, asked.parameters))
        return Instances([], quads) if isinstance(operation, InsertData) else Instances(quads, [])

    def _instances(self, operation: Modify, where: Where, rows: list[Row]) -> Instances:
        most = self._limits.rows
        if most is not None and len(rows) > most:
            raise RowLimitExceeded(most)
        return instances_of(operation, where, rows, self._engine.core.moment)

    # -- one request --------------------------------------------------------------------------------------------

    async def _request(self, asked: Asked, beginning: _Beginning, scratch: Scratch) -> ZSet[Quad]:
        if beginning.error is not None:
            raise beginning.error
        net: ZSet[Quad] = ZSet.owning({})
        if asked.change is not None:
            there = await self._has_graph(asked.change.graph, scratch)
            asked.change.existed = there and asked.rights.read.has(asked.change.graph)
        try:
            for number, operation in enumerate(asked.request.operations):
                delta = await self._delta(operation, asked, scratch, beginning if number == 0 else _Beginning())
                scratch.apply(delta)
                net.absorb(delta)
        except BaseException:
            scratch.apply(-net)
            raise
        return net

    async def _delta(self, operation: Operation, asked: Asked, scratch: Scratch, beginning: _Beginning) -> ZSet[Quad]:
        rights = asked.rights
        match operation:
            case InsertData() | DeleteData():
                instances = beginning.instances or self._ground(operation, asked)
            case Modify():
                instances = await self._modified(operation, asked, scratch, beginning)
            case Load(_, graph):
                check_graphs((graph,), rights)
                instances = Instances([], await self._loaded(operation))
            case Clear(target):
                await scratch.fetch(_target(target))
                return self._whole(operation, asked, scratch)
            case Transfer(_, source, target):
                await scratch.fetch([(None, None, None, source), (None, None, None, target)])
                return self._whole(operation, asked, scratch)
            case Create(graph, silent):
                check_graphs((graph,), rights)
                if not silent and rights.read.has(graph) and await self._has_graph(graph, scratch):
                    raise GraphExists(f"the graph {graph} exists already")
                return ZSet()
            case _:
                assert_never(operation)
        await scratch.ask([instances])
        return scratch.change(instances, rights)

    def _whole(self, operation: Clear | Transfer, asked: Asked, scratch: Scratch) -> ZSet[Quad]:
        """Of graphs that were fetched."""
        return Operations(scratch.store).delta(operation, self._engine.core.moment, asked.parameters, asked.rights)

    async def _modified(self, operation: Modify, asked: Asked, scratch: Scratch, beginning: _Beginning) -> Instances:
        question = beginning.question or _question(operation, asked)
        if not scratch.differs(question.keys):
            if beginning.instances is not None:
                return beginning.instances
            (rows,) = await self._record.solutions([question.where])
            if isinstance(rows, TidingsError):
                raise rows
            return self._instances(operation, question.where, rows)
        if beginning.instances is not None:
            raise _Depends
        await scratch.fetch(question.keys)
        core, limits = self._engine.core, self._limits
        modify = PreparedModify(operation).seen_by(asked.rights.read)
        delete, insert = modify.instances(scratch.store, core.moment, limits, limits.deadline(), None, asked.parameters)
        found = list(insert)
        return Instances(kept(delete, found), found)

    async def _loaded(self, operation: Load) -> list[Quad]:
        """The quads of a document. A fork reads it, because that may take long."""
        work = self._engine.core.operations.loaded
        return await self._forks.run(lambda: work(operation), seconds=self._limits.seconds)

    async def _has_graph(self, graph: Term, scratch: Scratch) -> bool:
        return scratch.store.graph(graph) is not None or await has_graph(self._record, graph)


async def has_graph(record: AskedStore, graph: Term) -> bool:
    """Whether a graph exists; the default graph always does."""
    if graph == DEFAULT_GRAPH:
        return True
    answer = await record.answer(Ask(Graph(graph, BGP((ANY_TRIPLE,))), WHOLE), ())
    return isinstance(answer, Boolean) and answer.value


def _first(asked: Asked) -> _Question | None:
    """The question for the first operation of an update, if that has a WHERE."""
    operations = asked.request.operations
    return _question(operations[0], asked) if operations and isinstance(operations[0], Modify) else None


def _question(operation: Modify, asked: Asked) -> _Question:
    where = where_of(operation, asked)
    return _Question(where, keys_in(where.pattern, where.dataset, where.parameters))


def _target(target: GraphTarget) -> list[Key]:
    match target:
        case "ALL":
            graphs: tuple[Term | None, ...] = (DEFAULT_GRAPH, ANY_NAMED)
        case "NAMED":
            graphs = (ANY_NAMED,)
        case "DEFAULT":
            graphs = (DEFAULT_GRAPH,)
        case name:
            graphs = (name,)
    return [(None, None, None, graph) for graph in graphs]
