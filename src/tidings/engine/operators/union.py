"""UNION:  Δ(A ∪ B) = ΔA + ΔB."""

from tidings.engine.operators.base import Binary, Changes, Explanation, Hits, Operator
from tidings.model.zset import absorb
from tidings.sparql.evaluate.layout import Layout, picker


class Union(Binary):
    """The changes of both sides, in the columns of either."""

    __slots__ = ("_align", "_padding", "layout")

    def __init__(self, left: Operator, right: Operator) -> None:
        super().__init__(left, right)
        after = left.layout.extended(right.layout.variables)
        self.layout = Layout(after.variables, left.layout.certain & right.layout.certain)
        self._padding = (None,) * (len(after.variables) - len(left.layout.variables))
        self._align = picker([right.layout.index.get(variable) for variable in after.variables])

    def delta(self, hits: Hits) -> Changes:
        changes = {row + self._padding: weight for row, weight in self._left.delta(hits).items()}
        absorb(changes, ((self._align(row), weight) for row, weight in self._right.delta(hits).items()))
        return changes

    def explain(self) -> Explanation:
        return Explanation("union", "ΔA + ΔB", True, (self._left.explain(), self._right.explain()))
