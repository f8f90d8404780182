"""FILTER, without and with EXISTS."""

from tidings.engine.operators.base import Changes, Explanation, Hits, Operator, States, Unary
from tidings.engine.operators.witness import RowsConcerned, Witness
from tidings.model.zset import add
from tidings.sparql.algebra import Expression, Node
from tidings.sparql.evaluate.layout import Row


class Filter(Unary):
    """σ without EXISTS: the changed rows that pass."""

    __slots__ = ("_test", "layout")

    def __init__(self, inner: Operator, condition: Expression, states: States) -> None:
        super().__init__(inner)
        self.layout = inner.layout
        self._test = states.compiler(states.new).test(condition, inner.layout)

    def delta(self, hits: Hits) -> Changes:
        test = self._test
        return {row: weight for row, weight in self._inner.delta(hits).items() if test(row)}

    def explain(self) -> Explanation:
        return Explanation("filter", "tests the changed rows", True, (self._inner.explain(),))


class FilterExists(Unary):
    """σ with EXISTS: Δ = σ'(ΔA) + (σ' - σ) of those rows of A that a change inside EXISTS concerns."""

    __slots__ = ("_before", "_concerned", "_now", "_witnesses", "layout")

    def __init__(
        self, inner: Operator, node: Node, condition: Expression, witnesses: list[Witness], states: States
    ) -> None:
        super().__init__(inner)
        self.layout = inner.layout
        self._now = states.compiler(states.new).test(condition, inner.layout)
        self._before = states.compiler(states.old).test(condition, inner.layout)
        self._witnesses = witnesses
        self._concerned = [RowsConcerned(node, inner.layout, witness.shared, states) for witness in witnesses]

    def delta(self, hits: Hits) -> Changes:
        now, before = self._now, self._before
        changes = {row: weight for row, weight in self._inner.delta(hits).items() if now(row)}
        # A row may be concerned by several witnesses, but it changes once: the counts of one finding are enough.
        found: dict[Row, int] = {}
        for witness, concerned in zip(self._witnesses, self._concerned, strict=True):
            found.update(concerned.by(witness.changed(hits)))
        for row, count in found.items():
            passes, passed = bool(now(row)), bool(before(row))
            if passes != passed:
                add(changes, row, count if passes else -count)
        return changes

    def explain(self) -> Explanation:
        inside = tuple(witness.explain() for witness in self._witnesses)
        detail = "tests the changed rows, and those that a change inside EXISTS concerns"
        return Explanation("filter exists", detail, True, (self._inner.explain(), *inside))
