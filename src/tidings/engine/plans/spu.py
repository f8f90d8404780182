"""Semantic processing units: the plans that keep answers up to date, and whose answers they are.

A *family* is one plan for all queries that differ only in lifted constants; each distinct tuple of constants is a
member, and each member has one subscriber or more. What cannot be maintained is *re-read*: evaluated in full and
compared with the last time.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Protocol, TypeAlias

from tidings.engine.leaves import Leaf, size_of
from tidings.engine.lutt import Key
from tidings.engine.operators.base import Changes, Explanation, Hits, Route, States
from tidings.engine.plans.answer_forms import Form, Graph, Rows, Truth
from tidings.engine.plans.planner import Planner
from tidings.model.results import Boolean, Result, Solutions, Triples
from tidings.model.terms import FALSE, TRUE, Var
from tidings.model.zset import absorb, add
from tidings.sparql.algebra import Ask, Construct, Dataset, Describe, Query, Select
from tidings.sparql.evaluate.layout import Layout, Row, picker


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


class Spu(Protocol):
    """Keeps the answers of its members."""

    @property
    def members(self) -> dict[Row, Subscribers]: ...
    @property
    def dataset(self) -> Dataset: ...
    @property
    def routes(self) -> tuple[Route, ...]: ...
    def key(self, route: Route, member: Row) -> tuple[str | None, str | None, str | None]:
        """The constants of a route for a member, None where it has a variable."""

    def is_own(self, route: Route) -> bool:
        """Whether the constants of a route differ from member to member."""

    def admit(self, member: Row) -> Iterable[Row]:
        """Take up a member; its first answer."""

    def answer(self, member: Row) -> Iterable[Row]:
        """The present answer of a member."""

    def dismiss(self, member: Row) -> None: ...
    def advance(self, hits: Hits) -> dict[Row, Changes]:
        """The changes of answers, by member."""

    @property
    def variables(self) -> tuple[Var, ...]:
        """The parameters by which members differ."""

    def enrolled(self, member: Row, by: int) -> None:
        """A member has so many subscribers more, or less."""

    def concerned(self, hits: Hits) -> int:
        """How many subscribers have constants that hits on routes of their own match."""

    def explain(self) -> Explanation: ...


class Family:
    """One incremental plan and its members."""

    __slots__ = (
        "__weakref__",
        "_build",
        "_form",
        "_indexes",
        "_merges",
        "_own",
        "_pick",
        "_states",
        "dataset",
        "members",
        "reevaluates",
        "routes",
        "variables",
        "version",
    )

    def __init__(self, query: Query, parameters: tuple[Var, ...], states: States) -> None:
        self.variables = parameters
        self.dataset = query.dataset
        self._merges = len(query.dataset.default or ()) > 1
        self._states = states
        self.members: dict[Row, Subscribers] = {}
        self.version = 0
        self._indexes: dict[tuple[int, ...], dict[Row, dict[Row, None]]] = {}
        planner = Planner(self if parameters else None)
        self._build = planner.build(query.pattern, states)
        self.reevaluates = planner.reevaluates
        self.routes = tuple(dict.fromkeys(planner.routes))
        self._own = {route: _places(route, parameters) for route in self.routes}
        layout = self._build.operator.layout
        shown = tuple(variable for variable in layout.variables if variable not in parameters)
        wanted = parameters + (query.variables if isinstance(query, Select) else shown)
        self._pick = None if wanted == layout.variables else picker([layout.index.get(v) for v in wanted])
        self._form = _form(query, Layout(wanted, layout.certain.intersection(wanted)), states)

    # -- members ------------------------------------------------------------------------------------------------

    def matching(self, columns: tuple[int, ...], values: Row) -> Iterable[Row]:
        """The members that have these values in these columns."""
        if len(columns) == len(self.variables):
            return (values,) if values in self.members else ()
        if not columns:
            return list(self.members)
        index = self._indexes.get(columns)
        if index is None:
            index = self._indexes[columns] = {}
            for member in self.members:
                index.setdefault(tuple([member[i] for i in columns]), {})[member] = None
        return list(index.get(values, ()))

    def admit(self, member: Row) -> Iterable[Row]:
        self.version += 1
        self._build.operator.admit(member)
        for columns, index in self._indexes.items():
            index.setdefault(tuple([member[i] for i in columns]), {})[member] = None
        return self._form.admit(member, self._solutions(member))

    def answer(self, member: Row) -> Iterable[Row]:
        return self._form.answer(member, self._solutions(member))

    def _solutions(self, member: Row) -> Iterable[Row]:
        width, pick = len(self.variables), self._pick
        rows = self._build.rows(member) if pick is None else map(pick, self._build.rows(member))
        return (row[width:] for row in rows) if width else rows

    def dismiss(self, member: Row) -> None:
        self.version += 1
        self._build.operator.dismiss(member)
        self._form.dismiss(member)
        for columns, index in self._indexes.items():
            values = tuple([member[i] for i in columns])
            del index[values][member]
            if not index[values]:
                del index[values]

    # -- the LUTT -----------------------------------------------------------------------------------------------

    def key(self, route: Route, member: Row) -> tuple[str | None, str | None, str | None]:
        terms: list[str | None] = [None if term[0] == "?" else term for term in route.pattern]
        for place, column in self._own[route]:
            terms[place] = member[column]
        s, p, o = terms
        return s, p, o

    def is_own(self, route: Route) -> bool:
        return bool(self._own[route])

    def enrolled(self, member: Row, by: int) -> None:
        pass  # its members are counted when they are looked at

    def concerned(self, hits: Hits) -> int:
        return sum(size_of(self.members[member]) for member in self.matched(hits))

    def matched(self, hits: Hits) -> set[Row]:
        """The members whose constants the hits on routes of their own match."""
        members: set[Row] = set()
        for route, found in hits.items():
            own = self._own[route]
            columns = tuple(column for _, column in own)
            for quad, _ in found:
                members.update(self.matching(columns, tuple([quad[place] for place, _ in own])))
        return members

    # -- change -------------------------------------------------------------------------------------------------

    def advance(self, hits: Hits) -> dict[Row, Changes]:
        changes = self._build.operator.delta(self._merged(hits) if self._merges else hits)
        if not changes:
            return {}
        width, pick, members = len(self.variables), self._pick, self.members
        told: dict[Row, Changes] = {}
        for row, weight in changes.items():
            cells = row if pick is None else pick(row)
            member = cells[:width]
            if member in members:
                mine = told.get(member)
                if mine is None:
                    mine = told[member] = {}
                add(mine, cells[width:], weight)
        return {member: out for member, mine in told.items() if mine and (out := self._form.tell(member, mine))}

    def _merged(self, hits: Hits) -> Hits:
        """Where the default graph is the merge of several: a triple changes only if none of the others holds it."""
        now, before = self._states.new.view.default(), self._states.old.view.default()
        merged: Hits = {}
        for route, found in hits.items():
            if route.graph:
                merged[route] = found
                continue
            triples = dict.fromkeys((s, p, o) for (s, p, o, _), _ in found)
            net = [((s, p, o, ""), now.holds(s, p, o) - before.holds(s, p, o)) for s, p, o in triples]
            changed = [(quad, weight) for quad, weight in net if weight]
            if changed:
                merged[route] = changed
        return merged

    def explain(self) -> Explanation:
        return self._build.operator.explain()


def _places(route: Route, parameters: tuple[Var, ...]) -> tuple[tuple[int, int], ...]:
    """Places of a pattern that hold a parameter, with the parameter's column."""
    return tuple((i, parameters.index(term)) for i, term in enumerate(route.pattern) if term in parameters)


def _form(query: Query, layout: Layout, states: States) -> Form:
    match query:
        case Select():
            return Rows()
        case Ask():
            return Truth()
        case Construct(template):
            return Graph(template, layout, states.new)
        case Describe():
            raise AssertionError("DESCRIBE is re-read")


class Reread:
    """Evaluates its query anew and compares: the reference, and the way of whatever depends on the moment."""

    __slots__ = ("__weakref__", "_answer", "_evaluate", "_why", "dataset", "members", "routes")

    def __init__(self, evaluate: Callable[[], Result], routes: tuple[Route, ...], why: str, dataset: Dataset) -> None:
        self.dataset = dataset
        self._evaluate = evaluate
        self._why = why
        self.routes = routes
        self.members: dict[Row, Subscribers] = {}
        self._answer: Counter[Row] = Counter()

    def key(self, route: Route, member: Row) -> tuple[str | None, str | None, str | None]:
        s, p, o = (None if term[0] == "?" else term for term in route.pattern)
        return s, p, o

    def is_own(self, route: Route) -> bool:
        return False

    @property
    def variables(self) -> tuple[Var, ...]:
        return ()

    def enrolled(self, member: Row, by: int) -> None:
        pass  # it has no routes of its own

    def concerned(self, hits: Hits) -> int:
        return 0

    def admit(self, member: Row) -> Iterable[Row]:
        self._answer = Counter(answer_rows(self._evaluate()))
        return list(self._answer.elements())

    def answer(self, member: Row) -> Iterable[Row]:
        return list(self._answer.elements())

    def dismiss(self, member: Row) -> None:
        self._answer.clear()

    def advance(self, hits: Hits) -> dict[Row, Changes]:
        before, self._answer = self._answer, Counter(answer_rows(self._evaluate()))
        changes: Changes = dict(self._answer)
        absorb(changes, ((row, -count) for row, count in before.items()))
        return {(): changes} if changes else {}

    def explain(self) -> Explanation:
        return Explanation("re-read", self._why, False)


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


def keys_of(spu: Spu, route: Route, member: Row, dataset: Dataset) -> list[Key]:
    """Where the LUTT files a route of a member: under each graph in which its dataset lets it match."""
    s, p, o = spu.key(route, member)
    if not route.graph:
        return [(s, p, o, name) for name in ("",) if dataset.default is None] or [
            (s, p, o, name) for name in dataset.default or ()
        ]
    if route.graph[0] == "?":
        return [(s, p, o, None)] if dataset.named is None else [(s, p, o, name) for name in dataset.named]
    return [(s, p, o, route.graph)] if dataset.named is None or route.graph in dataset.named else []
