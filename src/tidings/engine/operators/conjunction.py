"""Triple patterns:  Δ(t₁ ⋈ … ⋈ tₖ) = Σᵢ new(t₁ … tᵢ₋₁) ⋈ Δtᵢ ⋈ old(tᵢ₊₁ … tₖ).

Each changed quad is a seed: it binds the variables of the pattern it matched, and the other patterns are looked up from
there in the store, most selective first. Nothing of the store is copied.
"""

from collections.abc import Callable, Container, Iterable

from tidings.engine.operators.base import Changes, Explanation, Hits, Route, Stateless, States, add, shown
from tidings.engine.operators.context_store import Membership, Surroundings
from tidings.model.terms import Quad, Var
from tidings.sparql.algebra import BGP, Join, Node, TriplePattern
from tidings.sparql.evaluate.layout import Layout, Row, Step, picker
from tidings.sparql.evaluate.scan import scan
from tidings.sparql.rewrite.order import order_joins


class Conjunction(Stateless):
    """A basic graph pattern inside one active graph, and the columns of it that are wanted."""

    __slots__ = ("_arms", "_members", "_states", "layout", "routes")

    def __init__(self, routes: tuple[Route, ...], states: States, members: Membership | None, wanted: Layout) -> None:
        self.routes = routes
        self.layout = wanted
        self._states = states
        self._members = members
        self._arms = {route: _Arm(i, routes, states, members, wanted) for i, route in enumerate(routes)}

    @classmethod
    def of(cls, patterns: tuple[TriplePattern, ...], states: States, members: Membership | None) -> "Conjunction":
        """With all variables as columns, those of parameters first."""
        routes = tuple(Route(pattern, states.graph) for pattern in patterns)
        found = dict.fromkeys(variable for route in routes for variable in _variables(route))
        parameters = [] if members is None else [v for v in members.variables if v in found]
        variables = tuple(dict.fromkeys([*parameters, *found]))
        return cls(routes, states, members, Layout(variables, frozenset(variables)))

    def onto(self, variables: tuple[Var, ...]) -> "Conjunction | None":
        """The same with fewer columns: projection costs nothing here. None if it has not all of them."""
        if not self.layout.certain.issuperset(variables):
            return None
        return Conjunction(self.routes, self._states, self._members, Layout(variables, frozenset(variables)))

    def delta(self, hits: Hits) -> Changes:
        changes: Changes = {}
        arms = self._arms
        hit = [route for route in hits if route in arms]
        for route in hit:
            arms[route].grow(hits[route], hits if len(hit) > 1 else None, changes)
        if hit and len(arms) > 1:
            for route, arm in arms.items():
                if len(hit) > 1 or route is not hit[0]:
                    arm.surroundings.forget()
        return changes

    def explain(self) -> Explanation:
        arms = tuple(arm.explain() for arm in self._arms.values())
        return Explanation("conjunction", f"{len(arms)} triple pattern(s), looked up in the store", True, arms)


class _Arm:
    """The part of the sum in which one pattern changes.

    Only the variables that other patterns or parameters share are looked up from: quads that agree in these, such as
    the old and the new value of a property, take one look-up together.
    """

    __slots__ = (
        "_finish",
        "_join",
        "_later",
        "_members",
        "_mixed",
        "_order",
        "_plain",
        "_tuples",
        "_twice",
        "_whose",
        "_width",
        "route",
        "surroundings",
    )

    def __init__(
        self, number: int, routes: tuple[Route, ...], states: States, members: Membership | None, wanted: Layout
    ) -> None:
        self.route = routes[number]
        self._later = routes[number + 1 :]
        others = [(route, i < number) for i, route in enumerate(routes) if i != number]
        seed, self._twice = _columns(self.route)
        sharers = members
        parameters = () if members is None else members.variables
        elsewhere = {variable for route, _ in others for variable in _variables(route)}.union(parameters)
        shared = tuple(variable for variable in seed if variable in elsewhere)
        self._join = picker([seed[variable] for variable in shared])
        self._width = len(shared)
        start = Layout(shared, frozenset(shared))
        order = _best_order(start, others, states)
        self._members: Callable[[Row], Iterable[Row]] | None = None
        if members is not None and not _found_on_the_way(parameters, start, order):
            start = self._bind_members(members, start)
            order = _best_order(start, others, states)
            members = None
        self._order = order
        layout, self._mixed = _chain(start, order, states, members)
        _, self._plain = _chain(start, [(route, True) for route, _ in order], states, members)
        self._tuples: Container[Row] = () if members is None else members.members
        self._whose = None if members is None or not order else picker([layout.index[v] for v in parameters])
        columns = {**{v: at + len(layout.variables) for v, at in seed.items()}, **layout.index}
        self._finish = picker([columns[variable] for variable in wanted.variables])
        others_only = [route for route, _ in order]
        self.surroundings = Surroundings(others_only, shared, layout, states, sharers)

    def _bind_members(self, members: Membership, start: Layout) -> Layout:
        """Start from the whole parameter tuples of the members that the seed may concern."""
        known = [(i, start.index[v]) for i, v in enumerate(members.variables) if v in start.index]
        columns = tuple(i for i, _ in known)
        values = picker([at for _, at in known])
        missing = [i for i, v in enumerate(members.variables) if v not in start.index]
        rest = picker(missing)

        def extended(row: Row) -> Iterable[Row]:
            return [row + rest(tuple_) for tuple_ in members.matching(columns, values(row))]

        self._members = extended
        fresh = tuple(members.variables[i] for i in missing)
        return start.extended(fresh, fresh)

    def grow(self, found: list[tuple[Quad, int]], hits: Hits | None, changes: Changes) -> None:
        """Add the rows that grow from the quads found for this pattern; `hits` if other patterns were hit as well."""
        known = self.surroundings.known() if hits is None else None
        if known is not None:
            self._grow_from(known, found, changes)
            return
        seeds: dict[Row, list[tuple[Quad, int]]] = {}
        join, twice = self._join, self._twice
        for item in found:
            quad = item[0]
            if twice and any(quad[a] != quad[b] for a, b in twice):
                continue  # one variable would need two values
            key = join(quad)
            if key in seeds:
                seeds[key].append(item)
            else:
                seeds[key] = [item]
        # Where no later pattern was hit, the state before is the state now, and needs no looking through the delta.
        steps = self._plain
        if hits is not None and any(route in hits for route in self._later):
            steps = self._mixed
        rows: Iterable[Row] = seeds
        if self._members is not None:
            rows = [row for key in seeds for row in self._members(key)]
        for step in steps:
            rows = step(rows)
        finish, width, whose, tuples = self._finish, self._width, self._whose, self._tuples
        for row in rows:
            if whose is None or whose(row) in tuples:
                for quad, weight in seeds[row[:width]]:
                    add(changes, finish(row + quad), weight)

    def _grow_from(self, known: dict[Row, list[Row]], found: list[tuple[Quad, int]], changes: Changes) -> None:
        """The same where all that the other patterns have to say is at hand."""
        join, twice, finish = self._join, self._twice, self._finish
        for quad, weight in found:
            rows = known.get(join(quad))
            if rows is not None and not (twice and any(quad[a] != quad[b] for a, b in twice)):
                for row in rows:
                    add(changes, finish(row + quad), weight)

    def explain(self) -> Explanation:
        then = " then ".join(_shown(route) for route, _ in self._order)
        return Explanation("seed", _shown(self.route) + (f", looks up {then}" if then else ""), True)


def _shown(route: Route) -> str:
    text = " ".join(shown(term) for term in route.pattern)
    return f"{text} in {shown(route.graph)}" if route.graph else text


def _variables(route: Route) -> list[Var]:
    terms = (*route.pattern, route.graph)
    return [term for term in dict.fromkeys(terms) if term[:1] == "?"]


def _columns(route: Route) -> tuple[dict[Var, int], list[tuple[int, int]]]:
    """Where in a quad the variables of a pattern stand, and places that must agree because a variable stands twice."""
    first: dict[Var, int] = {}
    twice = []
    for place, term in enumerate((*route.pattern, route.graph)):
        if term[:1] == "?" and first.setdefault(term, place) != place:
            twice.append((first[term], place))
    return first, twice


def _chain(
    layout: Layout, order: list[tuple[Route, bool]], states: States, members: Membership | None
) -> tuple[Layout, list[Step]]:
    """Look-ups for the other patterns; rows of nobody go as soon as the parameters are known."""
    steps: list[Step] = []
    for route, is_new in [(None, True), *order]:
        if route is not None:
            context = states.new if is_new else states.old
            plan = scan(route.pattern, states.active(context), layout, context)
            steps.append(plan.run)
            layout = plan.layout
        if members is not None and layout.certain.issuperset(members.variables):
            if route is not None and route is not order[-1][0]:
                steps.append(_restriction(members, layout))
            members = None
    return layout, steps


def _restriction(members: Membership, layout: Layout) -> Step:
    pick = picker([layout.index[variable] for variable in members.variables])
    tuples = members.members
    return lambda rows: (row for row in rows if pick(row) in tuples)


def _best_order(layout: Layout, others: list[tuple[Route, bool]], states: States) -> list[tuple[Route, bool]]:
    if len(others) < 2:
        return others
    view = states.new.view
    graph = states.active(states.new)
    source = view.default() if isinstance(graph, str) else graph()
    ordered = _patterns(order_joins(BGP(tuple(r.pattern for r, _ in others)), source, view, layout.certain))
    waiting = list(others)
    result = []
    for pattern in ordered:
        at = next(i for i, (route, _) in enumerate(waiting) if route.pattern == pattern)
        result.append(waiting.pop(at))
    return result


def _patterns(node: Node) -> list[TriplePattern]:
    match node:
        case BGP(patterns):
            return list(patterns)
        case Join(left, right):
            return _patterns(left) + _patterns(right)
        case _:
            raise AssertionError("triple patterns stay triple patterns")


def _found_on_the_way(parameters: tuple[Var, ...], seed: Layout, order: list[tuple[Route, bool]]) -> bool:
    """Whether look-ups lead from the seed to every parameter, each from something known, never from nothing."""
    known = set(seed.variables)
    for route, _ in order:
        s, _, o = route.pattern
        if s[0] != "?" or o[0] != "?" or s in known or o in known:
            known.update(_variables(route))
    return known.issuperset(parameters)
