"""VALUES and the like, which no update changes:  Δ = nothing."""

from tidings.engine.operators.base import Changes, Explanation, Hits, Stateless
from tidings.sparql.evaluate.layout import Layout


class Constant(Stateless):
    """An answer that stays as it is."""

    __slots__ = ("layout",)

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    def delta(self, hits: Hits) -> Changes:
        return {}

    def explain(self) -> Explanation:
        return Explanation("constant", "never changes", True)
