"""A pattern without a delta rule: evaluated in full, before and after the commit, if one of its triples is hit."""

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
from tidings.sparql.algebra import Node


class Reevaluate(Stateless):
    """Δ = new - old."""

    __slots__ = ("_new", "_old", "_why", "layout", "routes")

    def __init__(self, node: Node, routes: tuple[Route, ...], why: str, states: States) -> None:
        self._new = Aligned.of(lambda: states.plan(node, states.new), states.epoch)
        self.layout = self._new.layout
        self._old = Aligned(lambda: states.plan(node, states.old), self.layout, states.epoch)
        self.routes = routes
        self._why = why

    def delta(self, hits: Hits) -> Changes:
        return difference(self._new, self._old) if is_hit(self.routes, hits) else {}

    def explain(self) -> Explanation:
        return Explanation("re-evaluate", self._why, False)
