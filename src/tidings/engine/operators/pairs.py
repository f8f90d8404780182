"""Operators over two patterns: union, join, OPTIONAL and MINUS."""

from tidings.engine.operators.base import Changes, Explanation, Hits, Operator, States, absorb, difference, through
from tidings.engine.operators.linear import Suspects, Witness
from tidings.sparql.algebra import Expression, Node
from tidings.sparql.evaluate.layout import Layout, Plan, Row, picker
from tidings.sparql.rewrite import rewrite


class _Both:
    """An operator over two others, which alone may keep state."""

    __slots__ = ("_left", "_right")

    def __init__(self, left: Operator, right: Operator) -> None:
        self._left = left
        self._right = right

    def admit(self, parameters: Row) -> None:
        self._left.admit(parameters)
        self._right.admit(parameters)

    def dismiss(self, parameters: Row) -> None:
        self._left.dismiss(parameters)
        self._right.dismiss(parameters)


class Union(_Both):
    """Δ(A ∪ B) = ΔA + ΔB."""

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


class Join(_Both):
    """Δ(A ⋈ B) = ΔA ⋈ B' + A ⋈ ΔB."""

    __slots__ = ("_align", "_onto_left", "_onto_right", "layout")

    def __init__(self, left: Operator, right: Operator, nodes: tuple[Node, Node], states: States) -> None:
        super().__init__(left, right)
        self._onto_left = states.plan(nodes[1], states.new, left.layout)
        self._onto_right = states.plan(nodes[0], states.old, right.layout)
        self.layout = self._onto_left.layout
        index = self._onto_right.layout.index
        self._align = picker([index.get(variable) for variable in self.layout.variables])

    def delta(self, hits: Hits) -> Changes:
        left, right = self._left.delta(hits), self._right.delta(hits)
        changes = through(self._onto_left, left) if left else {}
        if right:
            more = through(self._onto_right, right)
            absorb(changes, ((self._align(row), weight) for row, weight in more.items()))
        return changes

    def explain(self) -> Explanation:
        return Explanation("join", "ΔA ⋈ B' + A ⋈ ΔB", True, (self._left.explain(), self._right.explain()))


class Dependent:
    """OPTIONAL or MINUS: what becomes of a row of A depends on the rows of B that go with it.

    Δ = f'(ΔA) + (f' - f) of the rows of A, before the change, that ΔB concerns.
    """

    __slots__ = ("_before", "_kind", "_left", "_now", "_suspects", "_witness", "layout")

    def __init__(
        self, kind: str, left: Operator, node: Node, witness: Witness, plans: tuple[Plan, Plan], states: States
    ) -> None:
        self._kind = kind
        self._left = left
        self._witness = witness
        self._now, self._before = plans
        self._suspects = Suspects(node, left.layout, witness.shared, states)
        self.layout = self._now.layout

    def delta(self, hits: Hits) -> Changes:
        left = self._left.delta(hits)
        changes = through(self._now, left) if left else {}
        concerned = self._suspects.of(self._witness.changed(hits))
        if concerned:
            rows = [row for row, count in concerned.items() for _ in range(count)]
            absorb(changes, difference(self._now, self._before, rows).items())
        return changes

    def admit(self, parameters: Row) -> None:
        self._left.admit(parameters)

    def dismiss(self, parameters: Row) -> None:
        self._left.dismiss(parameters)

    def explain(self) -> Explanation:
        detail = "the changed rows, and those that a change on the right concerns"
        return Explanation(self._kind, detail, True, (self._left.explain(), self._witness.explain()))


def optional_plans(left: Layout, right: Node, condition: Expression | None, states: States) -> tuple[Plan, Plan]:
    """Rows of A with their rows of B or alone, now and before."""
    plans = []
    for context in (states.new, states.old):
        ordered = rewrite(right, context.view, left.certain)
        plans.append(states.compiler(context).left_join(Plan(left, iter), ordered, condition))
    return plans[0], plans[1]


def minus_plans(left: Layout, nodes: tuple[Node, Node], states: States) -> tuple[Plan, Plan]:
    """Rows of A that no row of B excludes, now and before."""
    plans = [states.compiler(context).minus(Plan(left, iter), *nodes) for context in (states.new, states.old)]
    return plans[0], plans[1]
