"""GRAPH ?g { }, and GRAPH :g { }: a row for each graph that exists."""

from tidings.engine.operators.base import ANY_TRIPLE, Changes, Explanation, Hits, Route, Stateless, States
from tidings.model.terms import Term
from tidings.sparql.evaluate.layout import Layout


class GraphNames(Stateless):
    """A graph exists while it holds a quad:  Δ = the graphs that the changed quads create or delete."""

    __slots__ = ("_name", "_states", "layout", "routes")

    def __init__(self, name: str, states: States) -> None:
        self._name = name
        self._states = states
        self.routes = (Route(ANY_TRIPLE, name),)
        variables = (name,) if name[0] == "?" else ()
        self.layout = Layout(variables, frozenset(variables))

    def delta(self, hits: Hits) -> Changes:
        now, before = self._states.new.view, self._states.old.view
        changes: Changes = {}
        for graph in graphs_hit(self.routes, hits):
            weight = now.has(graph) - before.has(graph)
            if weight:
                changes[(graph,) if self.layout.variables else ()] = weight
        return changes

    def explain(self) -> Explanation:
        return Explanation("graphs", "those that come and go", True)


def graphs_hit(routes: tuple[Route, ...], hits: Hits) -> dict[Term, None]:
    """The graphs of the quads that matched one of the routes."""
    return dict.fromkeys(quad[3] for route in routes for quad, _ in hits.get(route, ()))
