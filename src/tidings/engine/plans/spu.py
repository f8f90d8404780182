"""Semantic processing units (SPUs): the plans that keep answers up to date, and their members.

An *incremental* SPU is one plan for all queries that differ only in lifted constants (a family). Each distinct tuple of
constants is a member, and each member has one subscriber or more. The members of a *range* SPU differ in a threshold as
well. A *described* SPU keeps a DESCRIBE. A query that cannot be maintained has a *re-evaluated* SPU, which evaluates it
in full and compares the answer with the last one.
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
    """The handle of one subscription: its plan, its member, and its sequence."""

    __slots__ = ("id", "member", "sequence", "spu", "variables")

    def __init__(self, number: int, spu: "Spu", member: Row, variables: tuple[str, ...]) -> None:
        self.id = number
        self.spu = spu
        self.member = member
        self.variables = variables
        self.sequence = 0


Subscribers: TypeAlias = Leaf[Subscription]
"""The subscribers of a member; mostly one."""


class Routed(Protocol):
    """Anything with routes in the LUTT: a plan, or a newcomer to a plan."""

    @property
    def members(self) -> dict[Row, Subscribers]: ...
    @property
    def dataset(self) -> Dataset: ...
    @property
    def routes(self) -> tuple[Route, ...]: ...
    @property
    def meter(self) -> Meter:
        """Counts the work of its steps."""

    def key(self, route: Route, member: Row) -> tuple[str | None, str | None, str | None]:
        """The constants of a route for a member, None where it has a variable."""

    def is_own(self, route: Route) -> bool:
        """Whether the constants of a route differ from member to member."""

    def advance(self, hits: Hits) -> dict[Row, Changes]:
        """Process the hits of a commit. Returns the changes of answers, by member."""

    def concerned(self, hits: Hits) -> int:
        """How many subscribers have constants that match a hit."""


class Spu(Routed, Protocol):
    """A plan: keeps the answers of its members up to date."""

    def admit(self, member: Row) -> Iterable[Row]:
        """Build the state of a new member. Returns its first answer. If that fails, nothing of the member is left.
        Raises Overrun."""

    def memories(self, member: Row) -> list[tuple[Memory[Any], Row]]:
        """The memories that have the state of a member, each with the member's key in it; in the same order in every
        plan of the same query."""

    @property
    def caches(self) -> Sequence[Cache]:
        """The caches of its operators, in the same order in every plan of the same query."""

    def seat(self, member: Row) -> None:
        """Add a member whose state is in the memories already."""

    def catch_up(self, member: Row, hits: Hits | None, present: "Spu | None") -> Changes:
        """The change of a member's answer since its state was built, by these hits; None if nothing hit it. `present`
        is another plan with this member that is up to date."""

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
        """When a member's answer may change next by the clock, in microseconds since 1970."""

    def enrolled(self, member: Row, by: int) -> None:
        """Called when the number of a member's subscribers has changed."""

    def become(self, fresh: "Spu") -> None:
        """Take over the state and the members of another plan of the same query."""

    def explain(self) -> Explanation: ...


def answer_rows(result: Result) -> Iterable[Row]:
    """Any result as rows: the answer of ASK is one row, true or false; triples are rows of three columns."""
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
    """The keys in the LUTT for a route of a member: one for each graph in which the dataset lets it match."""
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
