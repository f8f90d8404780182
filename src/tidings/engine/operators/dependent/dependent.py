"""What OPTIONAL and MINUS share: what becomes of a row of A depends on the rows of B that go with it.

Δ = f'(ΔA) + (f' - f) of the rows of A, before the change, that ΔB concerns
"""

from tidings.engine.operators.base import Changes, Explanation, Hits, Operator, States, Unary, difference, through
from tidings.engine.operators.witness import RowsConcerned, Witness
from tidings.model.zset import absorb
from tidings.sparql.algebra import Node
from tidings.sparql.evaluate.layout import Plan


class Dependent(Unary):
    """f is given by two plans from rows of A: one for the store now, one for the store before."""

    __slots__ = ("_before", "_concerned", "_kind", "_now", "_witness", "layout")

    def __init__(
        self, kind: str, left: Operator, node: Node, witness: Witness, plans: tuple[Plan, Plan], states: States
    ) -> None:
        super().__init__(left)
        self._kind = kind
        self._witness = witness
        self._now, self._before = plans
        self._concerned = RowsConcerned(node, left.layout, witness.shared, states)
        self.layout = self._now.layout

    def delta(self, hits: Hits) -> Changes:
        left = self._inner.delta(hits)
        changes = through(self._now, left) if left else {}
        concerned = self._concerned.by(self._witness.changed(hits))
        if concerned:
            rows = [row for row, count in concerned.items() for _ in range(count)]
            absorb(changes, difference(self._now, self._before, rows).items())
        return changes

    def explain(self) -> Explanation:
        detail = "the changed rows, and those that a change on the right concerns"
        return Explanation(self._kind, detail, True, (self._inner.explain(), self._witness.explain()))
