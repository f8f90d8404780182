"""A conjunction: the sum over its patterns of what the changes of each one change."""

from tidings.engine.operators.base import Changes, Explanation, Hits, Route, Stateless, States
from tidings.engine.operators.conjunction.lookups import variables_of
from tidings.engine.operators.conjunction.pattern_delta import PatternDelta
from tidings.engine.operators.members import Members
from tidings.model.terms import Var
from tidings.sparql.algebra import TriplePattern
from tidings.sparql.evaluate.layout import Layout


class Conjunction(Stateless):
    """A basic graph pattern inside one active graph, and the columns of it that are wanted."""

    __slots__ = ("_members", "_states", "_terms", "layout", "routes")

    def __init__(self, routes: tuple[Route, ...], states: States, members: Members | None, wanted: Layout) -> None:
        self.routes = routes
        self.layout = wanted
        self._states = states
        self._members = members
        self._terms = {route: PatternDelta(i, routes, states, members, wanted) for i, route in enumerate(routes)}

    @classmethod
    def of(cls, patterns: tuple[TriplePattern, ...], states: States, members: Members | None) -> "Conjunction":
        """With all variables as columns, those of parameters first."""
        routes = tuple(Route(pattern, states.graph) for pattern in patterns)
        found = dict.fromkeys(variable for route in routes for variable in variables_of(route))
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
        terms = self._terms
        hit = [route for route in hits if route in terms]
        if len(hit) == 1:
            terms[hit[0]].grow_alone(hits[hit[0]], changes)
        else:
            for route in hit:
                terms[route].grow(hits[route], hits, changes)
        self._invalidate(hit)
        return changes

    def _invalidate(self, hit: list[Route]) -> None:
        """Empty the context stores that hold what a pattern hit says: those of all the others."""
        if hit and len(self._terms) > 1:
            for route, term in self._terms.items():
                if len(hit) > 1 or route is not hit[0]:
                    term.context_store.invalidate()

    def explain(self) -> Explanation:
        terms = tuple(term.explain() for term in self._terms.values())
        return Explanation("conjunction", f"{len(terms)} triple pattern(s), looked up in the store", True, terms)
