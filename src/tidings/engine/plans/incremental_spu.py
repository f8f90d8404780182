"""One incremental plan, and the members that share it."""

from collections.abc import Iterable, Sequence
from typing import Any

from tidings.engine.leaves import size_of
from tidings.engine.operators.base import Cache, Changes, Explanation, Hits, Route, States
from tidings.engine.operators.counts import Counts
from tidings.engine.operators.members import Members
from tidings.engine.operators.stateful.memory import Memory
from tidings.engine.plans.answer_forms import AnswerForm, AskForm, ConstructForm, SelectForm
from tidings.engine.plans.planner import Planner
from tidings.engine.plans.spu import Spu, Subscribers
from tidings.model.terms import Var
from tidings.model.zset import add
from tidings.sparql.algebra import Ask, Construct, Describe, Filter, Node, Project, Query, Select, visible
from tidings.sparql.evaluate.layout import Layout, Row, picker


class IncrementalSpu:
    """One incremental plan and its members."""

    __slots__ = (
        "__weakref__",
        "_build",
        "_clocked",
        "_counts",
        "_form",
        "_index",
        "_is_pinned",
        "_memories",
        "_merges",
        "_own",
        "_pick",
        "_pinned",
        "_states",
        "caches",
        "dataset",
        "is_clocked",
        "is_for_one",
        "members",
        "meter",
        "routes",
        "variables",
    )

    def __init__(self, query: Query, parameters: tuple[Var, ...], states: States) -> None:
        self.variables = parameters
        self.dataset = query.dataset
        self._merges = len(query.dataset.default or ()) > 1
        self._states = states
        self.meter = states.meter
        self.members: dict[Row, Subscribers] = {}
        self._index = Members(parameters, self.members)
        planner = Planner(self._index if parameters else None)
        self._build = planner.build(_read_by_form(query), states)
        self.is_for_one = planner.is_for_one
        self._pinned = planner.pinned
        self._clocked = planner.clocked
        self.is_clocked = bool(planner.clocked)
        self._is_pinned = False
        self.routes = tuple(dict.fromkeys(planner.routes))
        self._own = {route: _places(route, parameters) for route in self.routes}
        layout = self._build.operator.layout
        shown = tuple(variable for variable in layout.variables if variable not in parameters)
        wanted = parameters + (query.variables if isinstance(query, Select) else shown)
        self._pick = None if wanted == layout.variables else picker([layout.index.get(v) for v in wanted])
        self._form = _form(query, Layout(wanted, layout.certain.intersection(wanted)), states)
        self._memories: tuple[Memory[Any], ...] = (*planner.memories, *self._form.memories)
        self._counts = Counts(self.routes, states)
        self.caches: Sequence[Cache] = states.caches

    # -- members ------------------------------------------------------------------------------------------------

    def admit(self, member: Row) -> Iterable[Row]:
        if not self._is_pinned:
            for part in self._pinned:
                part.pin()
            self.meter.check()
            self._is_pinned = True
        try:
            self._build.operator.admit(member)
            answer = self._form.admit(member, self._solutions(member))
            self.meter.check()
        except BaseException:
            for memory in self._memories:
                memory.states.pop(member, None)
            raise
        self._index.admit(member)
        return answer

    def seat(self, member: Row) -> None:
        self._is_pinned = True
        self._index.admit(member)
        for part in self._clocked:
            part.seat(member)

    def memories(self, member: Row) -> list[tuple[Memory[Any], Row]]:
        pinned: list[tuple[Memory[Any], Row]] = [(memory, ()) for part in self._pinned for memory in part.memories]
        return pinned + [(memory, member) for memory in self._memories]

    def answer(self, member: Row) -> Iterable[Row]:
        return self._form.answer(member, self._solutions(member))

    def _solutions(self, member: Row) -> Iterable[Row]:
        width, pick = len(self.variables), self._pick
        rows = self._build.rows(member) if pick is None else map(pick, self._build.rows(member))
        return (row[width:] for row in rows) if width else rows

    def dismiss(self, member: Row) -> None:
        self._build.operator.dismiss(member)
        self._form.dismiss(member)
        self._index.dismiss(member)

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
        pass  # `concerned` counts the subscribers of the members itself

    def concerned(self, hits: Hits) -> int:
        return sum(size_of(self.members[member]) for member in self.matched(hits))

    def matched(self, hits: Hits) -> set[Row]:
        """The members whose constants match a hit."""
        members: set[Row] = set()
        for route, found in hits.items():
            own = self._own[route]
            columns = tuple(column for _, column in own)
            for quad, _ in found:
                members.update(self._index.matching(columns, tuple([quad[place] for place, _ in own])))
        return members

    # -- change -------------------------------------------------------------------------------------------------

    def advance(self, hits: Hits) -> dict[Row, Changes]:
        if self._counts.are_due(hits):
            self._counts.compare()
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

    def catch_up(self, member: Row, hits: Hits | None, present: Spu | None) -> Changes:
        return self.advance(hits or {}).get(member, {}) if hits or self.is_clocked else {}

    def due(self) -> int | None:
        return min((at for part in self._clocked if (at := part.due()) is not None), default=None)

    def _merged(self, hits: Hits) -> Hits:
        """The hits, if the default graph is the merge of several: a triple changes only if no other graph has it."""
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

    def become(self, fresh: Spu) -> None:
        assert isinstance(fresh, IncrementalSpu)
        for name in _OF_A_PLAN:
            setattr(self, name, getattr(fresh, name))

    def explain(self) -> Explanation:
        return self._build.operator.explain()


_OF_A_PLAN = tuple(name for name in IncrementalSpu.__slots__ if name not in {"__weakref__", "dataset", "variables"})


def _places(route: Route, parameters: tuple[Var, ...]) -> tuple[tuple[int, int], ...]:
    """Places of a pattern that hold a parameter, with the parameter's column."""
    return tuple((i, parameters.index(term)) for i, term in enumerate(route.pattern) if term in parameters)


def _read_by_form(query: Query) -> Node:
    """The pattern, projected to the variables that the answer is made of, where that may allow a better delta rule. Not
    for CONSTRUCT with blank nodes, which are named after whole solutions."""
    match query:
        case Ask(Filter() as pattern):
            return Project(pattern, ())
        case Construct(template, Filter() as pattern) if not any(term[0] == "_" for each in template for term in each):
            read = dict.fromkeys(term for each in template for term in each)
            return Project(pattern, tuple(variable for variable in visible(pattern) if variable in read))
        case _:
            return query.pattern


def _form(query: Query, layout: Layout, states: States) -> AnswerForm:
    match query:
        case Select():
            return SelectForm()
        case Ask():
            return AskForm()
        case Construct(template):
            return ConstructForm(template, layout, states.new)
        case Describe():
            raise AssertionError("DESCRIBE has a plan of its own")
