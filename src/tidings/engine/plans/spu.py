"""Semantic processing units: the plans that keep answers up to date, and whose answers they are.

There are three kinds. An *incremental* SPU is one plan for all queries that differ only in lifted constants (a family);
each distinct tuple of constants is a member, and each member has one subscriber or more. A *range* SPU is one whose
members differ in a threshold as well. What cannot be maintained is *re-evaluated*: in full, and compared with the last
time.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeAlias

from tidings.engine.leaves import Leaf
from tidings.engine.lutt import ANY_NAMED, Key
from tidings.engine.operators.base import Cache, Changes, Explanation, Hits, Route
from tidings.engine.operators.stateful.memory import Memory
from tidings.model.results import Boolean, Result, Solutions, Triples
from tidings.model.terms import DEFAULT_GRAPH, FALSE, TRUE, Var
from tidings.sparql.algebra import Ask, Construct, Dataset, Describe, Query, Select
from tidings.sparql.evaluate.context import Meter
from tidings.sparql.evaluate.layout import Row


class Subscription:
    """One subscriber's handle."""

    __slots__ = ("id", "member", "sequence", "spu", "variables")

    def __init__(self, number: int, spu: "Spu", member: Row, variables: tuple[str, ...]) -> None:
        self.id = number
        self.spu = spu
        self.member = member
        self.variables = variables
        self.sequence = 0


Subscribers: TypeAlias = Leaf[Subscription]
"""Mostly there is one: it stands for itself."""


class Routed(Protocol):
    """Whoever the LUTT leads to."""

    @property
    def members(self) -> dict[Row, Subscribers]: ...
    @property
    def dataset(self) -> Dataset: ...
    @property
    def routes(self) -> tuple[Route, ...]: ...
    @property
    def meter(self) -> Meter:
        """Counts its work."""

    def key(self, route: Route, member: Row) -> tuple[str | None, str | None, str | None]:
        """The constants of a route for a member, None where it has a variable."""

    def is_own(self, route: Route) -> bool:
        """Whether the constants of a route differ from member to member."""

    def advance(self, hits: Hits) -> dict[Row, Changes]:
        """The changes of answers, by member."""

    def concerned(self, hits: Hits) -> int:
        """How many subscribers have constants that hits on routes of their own match."""


class Spu(Routed, Protocol):
    """Keeps the answers of its members."""

    def admit(self, member: Row) -> Iterable[Row]:
        """Take up a member; its first answer. If that cannot be had, nothing of the member is left. Raises Overrun."""

    def memories(self, member: Row) -> list[tuple[Memory[Any], Row]]:
        """Where everything is remembered that concerns a member, each with the key that it has there; the same in
        every plan of the same query."""

    @property
    def caches(self) -> Sequence[Cache]:
        """What its operators keep besides; the same ones in every plan of the same query."""

    def seat(self, member: Row) -> None:
        """Take up a member whose state is in the memories already."""

    def catch_up(self, member: Row, hits: Hits | None, present: "Spu | None") -> Changes:
        """The change of a member's answer by everything since its state was built, None if nothing hit it; `present`
        is another plan that has the member, and is up to date."""

    def answer(self, member: Row) -> Iterable[Row]:
        """The present answer of a member."""

    def dismiss(self, member: Row) -> None: ...
    @property
    def variables(self) -> tuple[Var, ...]:
        """The parameters by which members differ."""

    @property
    def is_clocked(self) -> bool:
        """Whether its answers may change with the clock, without a commit."""

    def due(self) -> int | None:
        """When a member's answer may change next by that, in microseconds since 1970."""

    def enrolled(self, member: Row, by: int) -> None:
        """A member has so many subscribers more, or less."""

    def become(self, fresh: "Spu") -> None:
        """Go on as another plan of the same query, with the state and the members that it has."""

    def explain(self) -> Explanation: ...


def answer_rows(result: Result) -> Iterable[Row]:
    """Any result as rows: ASK is one row, true or false, and triples are rows of three."""
    match result:
        case Solutions(_, rows):
            return rows
        case Boolean(value):
            return [(TRUE if value else FALSE,)]
        case Triples(triples):
            return triples


def variables_of(query: Query) -> tuple[str, ...]:
    """The names of the columns that a subscriber sees."""
    match query:
        case Select(_, variables):
            return tuple(variable[1:] for variable in variables)
        case Ask():
            return ("ask",)
        case Construct() | Describe():
            return ("subject", "predicate", "object")


def keys_of(spu: Routed, route: Route, member: Row, dataset: Dataset) -> list[Key]:
    """Where the LUTT files a route of a member: under each graph in which its dataset lets it match."""
    s, p, o = spu.key(route, member)
    return [(s, p, o, name) for name in graphs_of(route, dataset)]


def graphs_of(route: Route, dataset: Dataset) -> Iterable[str | None]:
    """The graphs in which a dataset lets a route match, as the LUTT names them."""
    graph, named, readable = route.graph, dataset.named, dataset.readable
    if not graph:
        return (DEFAULT_GRAPH,) if dataset.default is None else dataset.default
    if graph[0] != "?":
        seen = graph in named if named is not None else readable is None or readable.has(graph)
        return (graph,) if seen else ()
    if named is not None:
        return named
    if readable is None:
        return (ANY_NAMED,)
    return [*(name for name in readable.names if name), *(f"<{prefix}" for prefix in readable.prefixes)]
