"""Join:  Δ(A ⋈ B) = ΔA ⋈ B' + A ⋈ ΔB."""

from tidings.engine.operators.base import Aligned, Binary, Changes, Explanation, Hits, Operator, States, through
from tidings.model.zset import absorb
from tidings.sparql.algebra import Node


class Join(Binary):
    """Changed rows of each side, with the rows of the other that go with them: those now, or those before."""

    __slots__ = ("_onto_left", "_onto_right", "layout")

    def __init__(self, left: Operator, right: Operator, nodes: tuple[Node, Node], states: States) -> None:
        super().__init__(left, right)
        self._onto_left = states.plan(nodes[1], states.new, left.layout)
        self.layout = self._onto_left.layout
        self._onto_right = Aligned(lambda: states.plan(nodes[0], states.old, right.layout), self.layout)

    def delta(self, hits: Hits) -> Changes:
        left, right = self._left.delta(hits), self._right.delta(hits)
        changes = through(self._onto_left, left) if left else {}
        if right:
            absorb(changes, through(self._onto_right, right).items())
        return changes

    def explain(self) -> Explanation:
        return Explanation("join", "ΔA ⋈ B' + A ⋈ ΔB", True, (self._left.explain(), self._right.explain()))
