"""A conjunction of triple patterns: its delta is the sum of the rows that follow from the changes of each pattern."""

from tidings.engine.lutt import Items
from tidings.engine.operators.base import Changes, Explanation, Hits, Route, Stateless, States
from tidings.engine.operators.conjunction.lookups import variables_of
from tidings.engine.operators.conjunction.pattern_delta import PatternDelta
from tidings.engine.operators.law import Law
from tidings.engine.operators.members import Members
from tidings.model.terms import Var
from tidings.sparql.algebra import BGP, Node, TriplePattern
from tidings.sparql.evaluate.layout import Layout


class Conjunction(Stateless):
    """A basic graph pattern inside one active graph, projected to the wanted columns."""

    __slots__ = ("_law", "_members", "_since", "_states", "_terms", "layout", "routes")

    def __init__(self, routes: tuple[Route, ...], states: States, members: Members | None, wanted: Layout) -> None:
        self.routes = routes
        self.layout = wanted
        self._states = states
        self._members = members
        self._plan()
        node: Node = BGP(tuple(route.pattern for route in routes))
        self._law = Law(node, wanted, states, members)

    def _plan(self) -> None:
        """Decide on the order of look-ups by the counts of the store."""
        self._since = self._states.epoch.number
        self._terms = {
            route: PatternDelta(i, self.routes, self._states, self._members, self.layout)
            for i, route in enumerate(self.routes)
        }

    @classmethod
    def of(cls, patterns: tuple[TriplePattern, ...], states: States, members: Members | None) -> "Conjunction":
        """A conjunction with all variables as columns, the parameters first."""
        routes = tuple(Route(pattern, states.graph) for pattern in patterns)
        found = dict.fromkeys(variable for route in routes for variable in variables_of(route))
        parameters = [] if members is None else [v for v in members.variables if v in found]
        variables = tuple(dict.fromkeys([*parameters, *found]))
        return cls(routes, states, members, Layout(variables, frozenset(variables)))

    def onto(self, variables: tuple[Var, ...]) -> "Conjunction | None":
        """The same projected to fewer columns, which costs nothing here. None if it does not have all of them."""
        if not self.layout.certain.issuperset(variables):
            return None
        return Conjunction(self.routes, self._states, self._members, Layout(variables, frozenset(variables)))

    def delta(self, hits: Hits) -> Changes:
        terms = self._terms
        hit = [route for route in hits if route in terms]
        if not hit:
            return {}
        if self._since != self._states.epoch.number:
            self._plan()
            terms = self._terms
        if len(hit) > 1:
            self._invalidate(None)
            size = sum([len(hits[route]) for route in hit])
            found = self._law.within(size, self._grown, hit, hits)
            return self._law.again() if found is None else found
        route = hit[0]
        term = terms[route]
        changes: Changes = {}
        if len(terms) == 1:
            term.look_up(hits[route], changes)
            return changes
        rows = term.context_store.rows()
        self._invalidate(route)
        if rows is not None:  # stored rows need no law: with one, an update of LAMP takes 9 more function calls
            term.join(rows, hits[route], changes)
            self._law.did_without()
            return changes
        found = self._law.within(len(hits[route]), self._looked_up, term, hits[route])
        return self._law.again() if found is None else found

    def _looked_up(self, term: PatternDelta, found: Items) -> Changes:
        changes: Changes = {}
        term.look_up(found, changes)
        return changes

    def _grown(self, hit: list[Route], hits: Hits) -> Changes:
        changes: Changes = {}
        for route in hit:
            self._terms[route].grow(hits[route], hits, changes)
        return changes

    def _invalidate(self, hit: Route | None) -> None:
        """Empty the context stores that hold rows of the hit pattern: those of all other patterns. None empties all."""
        for route, term in self._terms.items():
            if route is not hit and term.context_store.quiet_commits > 0:
                term.context_store.invalidate()

    def explain(self) -> Explanation:
        terms = tuple(term.explain() for term in self._terms.values())
        detail = f"{len(terms)} triple pattern{'s' * (len(terms) != 1)}, looked up in the store{self._law.shown()}"
        return Explanation("conjunction", detail, True, terms)
