"""What one operation of an update request would change: the exact Z-set of quads.

    removed = (D - I) ∩ store      added = I - store

for the instantiated templates D and I of the operation.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol, assert_never

from tidings.engine.store.store import Store
from tidings.engine.updates.modify import PreparedModify
from tidings.engine.updates.permission import check_graphs, check_target
from tidings.model.access import ALL_RIGHTS, Rights
from tidings.model.errors import GraphExists, GraphMissing, LoadFailed, NotAllowed, TidingsError
from tidings.model.terms import DEFAULT_GRAPH, Quad, Term, Triple
from tidings.model.zset import ZSet
from tidings.sparql.algebra import (
    Clear,
    Create,
    DeleteData,
    GraphTarget,
    InsertData,
    Load,
    Modify,
    Operation,
    Transfer,
)
from tidings.sparql.evaluate.context import Limits, Moment, ServiceClient
from tidings.sparql.prepared import Parameters


class Loader(Protocol):
    """Fetches a document, for LOAD."""

    def __call__(self, source: str) -> Iterable[Triple]: ...


class PreparedUpdate:
    """The operations of a request, and the plans compiled for them so far."""

    __slots__ = ("loads", "modifies", "operations")

    def __init__(self, operations: tuple[Operation, ...]) -> None:
        self.operations = operations
        self.loads = any(isinstance(each, Load) for each in operations)
        self.modifies = [PreparedModify(each) if isinstance(each, Modify) else None for each in operations]


class Operations:
    """Works out the deltas of operations on one store, without changing it."""

    __slots__ = ("_loader", "_service", "_store")

    def __init__(self, store: Store, *, loader: Loader | None = None, service: ServiceClient | None = None) -> None:
        self._store = store
        self._loader = loader
        self._service = service

    def modified(
        self,
        modify: PreparedModify,
        moment: Moment,
        limits: Limits,
        deadline: float,
        parameters: Parameters,
        rights: Rights = ALL_RIGHTS,
    ) -> ZSet[Quad]:
        """What DELETE/INSERT WHERE would change."""
        seen = modify.seen_by(rights.read)
        return self.change(*seen.instances(self._store, moment, limits, deadline, self._service, parameters), rights)

    def delta(
        self, operation: Operation, moment: Moment, parameters: Parameters, rights: Rights = ALL_RIGHTS
    ) -> ZSet[Quad]:
        """What any other operation would change. Raises GraphNotWritable, even if the operation is SILENT."""
        match operation:
            case InsertData(quads):
                return self.change((), ground(quads, moment, parameters), rights)
            case DeleteData(quads):
                return self.change(ground(quads, moment, parameters), (), rights)
            case Clear(target):
                check_target(target, rights)
                return self.change(self._quads_of(target), (), rights)
            case Create(graph, silent):
                check_graphs((graph,), rights)
                return self._create(graph, silent, rights)
            case Transfer():
                return self._transfer(operation, rights)
            case Load():
                check_graphs((operation.graph,), rights)
                return self.change((), self.loaded(operation), rights)
            case Modify():
                raise AssertionError("a Modify is prepared")
            case _:
                assert_never(operation)

    def change(self, delete: Iterable[Quad], insert: Iterable[Quad], rights: Rights) -> ZSet[Quad]:
        """The exact effect of deleting some quads and inserting others."""
        if not rights.write.everything:
            delete, insert = list(delete), list(insert)
            check_graphs((quad[3] for quads in (delete, insert) for quad in quads), rights)
        store = self._store
        inserted = store.spelled(insert)
        weights = {quad: -1 for quad in store.spelled(delete) if quad not in inserted and quad in store}
        for quad in inserted:
            if quad not in store:
                weights[quad] = 1
        return ZSet.owning(weights)

    def _quads_of(self, target: GraphTarget) -> Iterator[Quad]:
        match target:
            case "ALL":
                return iter(self._store)
            case "NAMED":
                return (quad for name in self._store.names() for quad in self._graph(name))
            case "DEFAULT":
                return self._graph(DEFAULT_GRAPH)
            case graph:
                return self._graph(graph)

    def _graph(self, name: Term) -> Iterator[Quad]:
        graph = self._store.graph(name)
        return iter(()) if graph is None else ((s, p, o, name) for s, p, o in graph.triples())

    def _create(self, graph: Term, silent: bool, rights: Rights) -> ZSet[Quad]:
        if self._store.graph(graph) is not None and rights.read.has(graph) and not silent:
            raise GraphExists(f"the graph {graph} exists already")
        return ZSet()

    def _transfer(self, operation: Transfer, rights: Rights) -> ZSet[Quad]:
        source, target = operation.source, operation.target
        check_graphs((target, source) if operation.kind == "MOVE" else (target,), rights)
        readable = rights.read.has(source)
        if self._store.graph(source) is None or (source and not readable):
            if operation.silent:
                return ZSet()
            raise GraphMissing(f"the graph {source} does not exist")
        if source == target:
            return ZSet()
        arriving = [(s, p, o, target) for s, p, o, _ in self._graph(source)] if readable else []
        leaving: list[Quad] = [] if operation.kind == "ADD" else list(self._graph(target))
        if operation.kind == "MOVE" and readable:
            leaving.extend(self._graph(source))
        return self.change(leaving, arriving, rights)

    def loaded(self, operation: Load) -> list[Quad]:
        """The document that LOAD names."""
        try:
            if self._loader is None:
                raise NotAllowed("LOAD is switched off here")
            graph = operation.graph
            return [(s, p, o, graph) for s, p, o in self._loader(operation.source)]
        except (TidingsError, OSError) as error:
            if operation.silent:
                return []
            if isinstance(error, NotAllowed):
                raise
            raise LoadFailed(f"<{operation.source}> could not be loaded: {error}") from error


def ground(quads: Iterable[Quad], moment: Moment, parameters: Parameters) -> Iterable[Quad]:
    """Data with its lifted constants put back, and fresh blank nodes for its labels."""
    fresh: dict[str, Term] = {}

    def value(term: Term) -> Term:
        if term[0] == "$":
            return parameters[int(term[2:])]
        if term[0] == "_":
            return fresh.get(term) or fresh.setdefault(term, moment.fresh_blank())
        return term

    return [(value(s), p, value(o), g) for s, p, o, g in quads if s[0] != '"']
