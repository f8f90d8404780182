"""Projection:  Δ = π(ΔA), where rows that become equal add up."""

from tidings.engine.operators.base import Changes, Explanation, Hits, Operator, Unary, shown
from tidings.model.terms import Var
from tidings.model.zset import absorb
from tidings.sparql.evaluate.layout import Layout, picker


class Project(Unary):
    """π as a multiset: rows that become equal add up."""

    __slots__ = ("_pick", "layout")

    def __init__(self, inner: Operator, variables: tuple[Var, ...]) -> None:
        super().__init__(inner)
        self.layout = Layout(variables, inner.layout.certain.intersection(variables))
        self._pick = picker([inner.layout.index.get(variable) for variable in variables])

    def delta(self, hits: Hits) -> Changes:
        pick = self._pick
        changes: Changes = {}
        absorb(changes, ((pick(row), weight) for row, weight in self._inner.delta(hits).items()))
        return changes

    def explain(self) -> Explanation:
        names = ", ".join(map(shown, self.layout.variables))
        return Explanation("project", names, True, (self._inner.explain(),))
