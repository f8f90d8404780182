"""Updates of a graph that is not in memory: their exact deltas, from what the store of record answers.

    removed = (D - I) that are there      added = I that are not        D, I: the templates for all solutions of WHERE

Updates that wait are worked out together: what they ask for is one question. Each has to see what the ones before it
did, of which the store may know nothing yet; if its WHERE could tell the difference, it is asked again later. Within a
request, what depends on an operation before is evaluated here, over what its patterns select.
"""

from collections.abc import Sequence
from itertools import takewhile
from typing import TypeAlias, assert_never

from msgspec import Struct

from tidings.broker.forks import Forks
from tidings.broker.record.delivery import Delivery
from tidings.broker.record.scratch import Scratch, kept
from tidings.broker.record.seam import AskedStore, after
from tidings.broker.updates.elsewhere import Asked
from tidings.engine.engine import Engine
from tidings.engine.keys import keys_in
from tidings.engine.lutt import ANY_NAMED, Key
from tidings.engine.operators.base import ANY_TRIPLE
from tidings.engine.updates.modify import PreparedModify, instantiated
from tidings.engine.updates.operations import Operations, ground
from tidings.engine.updates.permission import check_graphs
from tidings.model.errors import EndpointAway, GraphExists, RowLimitExceeded, TidingsError
from tidings.model.results import Boolean, Row
from tidings.model.terms import DEFAULT_GRAPH, Quad, Term, Var
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
    visible,
)
from tidings.sparql.evaluate.context import Limits
from tidings.sparql.writing.requests import Where

Instances: TypeAlias = tuple[list[Quad], list[Quad]]
"""Quads to delete, and quads to insert."""


class _Depends(Exception):
    """An update would be told something else if what is on its way had arrived."""


class _Beginning(Struct, frozen=True):
    """What is known of an update before its turn: the instances of its first operation, if that has any."""

    instances: Instances | None = None
    error: TidingsError | None = None


class WorkingOut:
    """Works out updates. `most` quads are fetched for one; `limits` are those of an update."""

    def __init__(
        self, engine: Engine, record: AskedStore, delivery: Delivery, forks: Forks, limits: Limits, most: int
    ) -> None:
        self._engine = engine
        self._record = record
        self._delivery = delivery
        self._forks = forks
        self._limits = limits
        self._most = most

    async def work_out(self, asked: Sequence[Asked], now: int) -> list[ZSet[Quad] | TidingsError]:
        """What the first of these do, one after the other: all of them, or as many as can be told by now. None if the
        store of record is away, which is taken care of."""
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
        """What an update would do. Raises why it would not."""
        while not (found := await self._round((asked,), now)):
            await self._delivery.idle()
        if isinstance(found[0], TidingsError):
            raise found[0]
        return found[0]

    async def _round(self, asked: Sequence[Asked], now: int) -> list[ZSet[Quad] | TidingsError]:
        self._engine.core.tell_time(now)
        scratch = Scratch(self._record, self._most, after(self._delivery.on_its_way()))
        outcomes: list[ZSet[Quad] | TidingsError] = []
        asked = list(takewhile(lambda each: not _differs(each, scratch), asked))
        beginnings = await self._beginnings(asked, scratch)
        for each, beginning in zip(asked, beginnings, strict=True):
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

    async def _beginnings(self, asked: Sequence[Asked], scratch: Scratch) -> list[_Beginning]:
        """What the first operations of some updates would delete and insert, and which of that is there."""
        wheres = {number: where for number, each in enumerate(asked) if (where := _first_where(each)) is not None}
        rows = dict(zip(wheres, await self._record.solutions(list(wheres.values())), strict=True)) if wheres else {}
        found = [self._beginning(each, rows.get(number)) for number, each in enumerate(asked)]
        known = [each.instances for each in found if each.instances is not None]
        await scratch.ask(
            (quad for delete, _ in known for quad in delete), (quad for _, insert in known for quad in insert)
        )
        return found

    def _beginning(self, asked: Asked, rows: list[Row] | TidingsError | None) -> _Beginning:
        if isinstance(rows, TidingsError):
            return _Beginning(error=rows)
        first = asked.request.operations[0] if asked.request.operations else None
        try:
            match first:
                case InsertData() | DeleteData():
                    return _Beginning(self._ground(first, asked))
                case Modify() if rows is not None:
                    return _Beginning(self._instances(first, asked, rows))
        except TidingsError as error:
            return _Beginning(error=error)
        return _Beginning()

    def _ground(self, operation: InsertData | DeleteData, asked: Asked) -> Instances:
        quads = list(ground(operation.quads, self._engine.core.moment, asked.parameters))
        return ([], quads) if isinstance(operation, InsertData) else (quads, [])

    def _instances(self, operation: Modify, asked: Asked, rows: list[Row]) -> Instances:
        most = self._limits.rows
        if most is not None and len(rows) > most:
            raise RowLimitExceeded(most)
        index = {variable: column for column, variable in enumerate(_variables(operation))}
        moment, parameters = self._engine.core.moment, asked.parameters

        def constant(term: Term) -> Term:
            return parameters[int(term[2:])] if term[0] == "$" else term

        delete = list(instantiated(operation.delete, index, rows, moment, constant))
        insert = list(instantiated(operation.insert, index, rows, moment, constant))
        return kept(delete, insert), insert

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
                instances = beginning.instances if number == 0 else None
                delta = await self._delta(operation, asked, scratch, instances)
                scratch.apply(delta)
                net.absorb(delta)
        except BaseException:
            scratch.apply(-net)
            raise
        return net

    async def _delta(
        self, operation: Operation, asked: Asked, scratch: Scratch, instances: Instances | None
    ) -> ZSet[Quad]:
        rights, operations = asked.rights, Operations(scratch.store)
        match operation:
            case InsertData() | DeleteData():
                delete, insert = instances or self._ground(operation, asked)
            case Modify():
                delete, insert = await self._modified(operation, asked, scratch, instances)
            case Load(_, graph):
                check_graphs((graph,), rights)
                delete, insert = [], await self._loaded(operation)
            case Clear(target):
                await scratch.fetch(_target(target))
                return operations.delta(operation, self._engine.core.moment, asked.parameters, rights)
            case Transfer(_, source, target):
                await scratch.fetch([(None, None, None, source), (None, None, None, target)])
                return operations.delta(operation, self._engine.core.moment, asked.parameters, rights)
            case Create(graph, silent):
                check_graphs((graph,), rights)
                if not silent and rights.read.has(graph) and await self._has_graph(graph, scratch):
                    raise GraphExists(f"the graph {graph} exists already")
                return ZSet()
            case _:
                assert_never(operation)
        await scratch.ask(delete, insert)
        return operations.change(delete, insert, rights)

    async def _modified(
        self, operation: Modify, asked: Asked, scratch: Scratch, instances: Instances | None
    ) -> Instances:
        dataset = operation.dataset.narrowed(asked.rights.read)
        keys = keys_in(operation.pattern, dataset, asked.parameters)
        if not scratch.differs(keys):
            if instances is None:
                (rows,) = await self._record.solutions([_where(operation, asked)])
                if isinstance(rows, TidingsError):
                    raise rows
                instances = self._instances(operation, asked, rows)
            return instances
        if instances is not None:
            raise _Depends
        await scratch.fetch(keys)
        core, limits = self._engine.core, self._limits
        modify = PreparedModify(operation).seen_by(asked.rights.read)
        delete, insert = modify.instances(scratch.store, core.moment, limits, limits.deadline(), None, asked.parameters)
        found = list(insert)
        return kept(delete, found), found

    async def _loaded(self, operation: Load) -> list[Quad]:
        """A document takes its time: a fork reads it."""
        work = self._engine.core.operations.loaded
        return await self._forks.run(lambda: work(operation), seconds=self._limits.seconds)

    async def _has_graph(self, graph: Term, scratch: Scratch) -> bool:
        return scratch.store.graph(graph) is not None or await has_graph(self._record, graph)


async def has_graph(record: AskedStore, graph: Term) -> bool:
    """Whether a graph is there; the default graph always is."""
    if graph == DEFAULT_GRAPH:
        return True
    answer = await record.answer(Ask(Graph(graph, BGP((ANY_TRIPLE,))), WHOLE), ())
    return isinstance(answer, Boolean) and answer.value


def _first_where(asked: Asked) -> Where | None:
    operations = asked.request.operations
    return _where(operations[0], asked) if operations and isinstance(operations[0], Modify) else None


def _differs(asked: Asked, scratch: Scratch) -> bool:
    """Whether what is on its way could change what the first operation of an update is told."""
    where = _first_where(asked)
    return where is not None and scratch.differs(keys_in(where.pattern, where.dataset, where.parameters))


def _where(operation: Modify, asked: Asked) -> Where:
    fresh = any(term[:1] == "_" for quad in operation.insert for term in quad)
    dataset = operation.dataset.narrowed(asked.rights.read)
    return Where(operation.pattern, _variables(operation), dataset, asked.parameters, distinct=not fresh)


def _variables(operation: Modify) -> tuple[Var, ...]:
    """Those of the templates that the pattern has."""
    there = visible(operation.pattern)
    terms = (term for quad in (*operation.delete, *operation.insert) for term in quad)
    return tuple(dict.fromkeys(term for term in terms if term in there))


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
