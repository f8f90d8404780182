"""GRAPH around a pattern that has to be evaluated in each graph on its own: Δ = A' - A in the graphs that changed."""

from collections.abc import Iterable

from tidings.engine.operators.base import (
    Aligned,
    Changes,
    Explanation,
    Hits,
    Route,
    Stateless,
    States,
    difference,
    is_hit,
)
from tidings.engine.operators.graphs.names import graphs_hit
from tidings.engine.operators.law import Law
from tidings.model.terms import Term
from tidings.sparql.algebra import Graph
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.layout import Plan
from tidings.sparql.rewrite import rewrite


class EachGraph(Stateless):
    """Evaluates the pattern before and after the commit, only in the graphs whose triples have changed."""

    __slots__ = ("_elsewhere", "_here", "_law", "_new", "_old", "_states", "layout", "routes")

    def __init__(self, node: Graph, routes: tuple[Route, ...], states: States) -> None:
        def plan(context: Context) -> Plan:
            return states.compiler(context).in_these(node.name, rewrite(node.inner, context.view))

        self.routes = routes
        self._here = tuple(route for route in routes if route.graph == node.name)
        self._elsewhere = tuple(route for route in routes if route.graph != node.name)
        """Patterns inside a GRAPH of their own: a change of one concerns every graph."""
        self._states = states
        self._new = Aligned.of(lambda: plan(states.new), states.epoch)
        self.layout = self._new.layout
        self._old = Aligned(lambda: plan(states.old), self.layout, states.epoch)
        self._law = Law(node, self.layout, states, None)

    def delta(self, hits: Hits) -> Changes:
        changed = graphs_hit(self._here, hits)
        if is_hit(self._elsewhere, hits):
            changed = dict.fromkeys((*self._states.new.view.names(), *self._states.old.view.names()))
        if not changed:
            return {}
        changes = self._law.within(len(changed), self._evaluated, changed)
        return self._law.again() if changes is None else changes

    def _evaluated(self, graphs: Iterable[Term]) -> Changes:
        return difference(self._new, self._old, [(graph,) for graph in graphs])

    def explain(self) -> Explanation:
        return Explanation("each graph", f"those that change, before and after{self._law.shown()}", True)
