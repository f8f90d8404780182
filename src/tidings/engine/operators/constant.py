"""Patterns that no update changes, such as VALUES:  Δ = nothing."""

from tidings.engine.operators.base import Changes, Explanation, Hits, Stateless
from tidings.sparql.evaluate.layout import Layout


class Constant(Stateless):
    """Rows that never change."""

    __slots__ = ("layout",)

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    def delta(self, hits: Hits) -> Changes:
        return {}

    def explain(self) -> Explanation:
        return Explanation("constant", "never changes", True)
