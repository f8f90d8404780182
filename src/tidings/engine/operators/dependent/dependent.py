"""What OPTIONAL, MINUS and EXISTS share: the outcome for a row of A depends on the compatible rows of B.

Δ = f'(ΔA) + (f' - f) of the rows of A, before the change, that ΔB concerns
"""

from collections.abc import Callable, Iterable, Sequence

from tidings.engine.operators.base import Aligned, Changes, Explanation, Hits, States, Unary, difference, through
from tidings.engine.operators.dependent.witness import Witness, rows_concerned
from tidings.engine.operators.law import Law
from tidings.engine.operators.side import Kept, Side
from tidings.model.terms import Var
from tidings.model.zset import absorb
from tidings.sparql.algebra import Node
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.layout import Layout, Plan, Row, picker

CHANGED = "the changed rows, and those that a change on the right concerns"


class Dependent(Unary):
    """f is a plan that runs on rows of A, made for the store after the commit and for the store before it. `whole` is
    the pattern f(A)."""

    __slots__ = (
        "_before", "_concerned", "_detail", "_kind", "_law", "_looks_back", "_now", "_side", "_witnesses", "layout",
    )  # fmt: skip

    def __init__(
        self,
        kind: str,
        left: Side,
        witnesses: Sequence[Witness],
        plan: Callable[[Context], Plan],
        whole: Node,
        states: States,
        detail: str = CHANGED,
    ) -> None:
        super().__init__(left.operator)
        self._kind = kind
        self._detail = detail
        self._side = left
        self._witnesses = witnesses
        self._looks_back = any(witness.with_left for witness in witnesses)
        self._now = Aligned.of(lambda: plan(states.new), states.epoch)
        self.layout = self._now.layout
        self._before = Aligned(lambda: plan(states.old), self.layout, states.epoch)
        self._concerned = {
            shared: rows_concerned(left, shared, states) for shared in dict.fromkeys(each.shared for each in witnesses)
        }
        self._law = Law(whole, self.layout, states, left.members)

    def admit(self, parameters: Row) -> None:
        super().admit(parameters)
        for witness in self._witnesses:
            witness.admit(parameters)

    def dismiss(self, parameters: Row) -> None:
        super().dismiss(parameters)
        for witness in self._witnesses:
            witness.dismiss(parameters)

    def delta(self, hits: Hits) -> Changes:
        left = self._inner.delta(hits)
        seen = [list(witness.changed(hits)) for witness in self._witnesses]
        size = len(left) + sum(map(len, seen))
        if not size:
            return {}
        changes = self._law.within(size, self._become, left, seen)
        if changes is None:
            for concerned in self._concerned.values():
                concerned.forget()
            return self._law.again()
        return changes

    def _become(self, left: Changes, seen: list[list[Row]]) -> Changes:
        # Several witnesses may concern a row, but it changes only once: so `update`, and no sum of counts.
        found: Changes = {}
        for witness, bindings in zip(self._witnesses, seen, strict=True):
            found.update(self._concerned[witness.shared].by(bindings))
        for concerned in self._concerned.values():
            concerned.absorb(left)
        changes: Changes = {}
        gone: Changes = {}
        if self._looks_back:  # no witness sees a removed row whose f changes, too: it had its old f
            gone = {row: weight for row, weight in left.items() if weight < 0 and row not in found}
        if gone:
            changes = through(self._before, gone)
            left = {row: weight for row, weight in left.items() if row not in gone}
        if left:
            absorb(changes, through(self._now, left).items())
        if found:
            rows = [row for row, count in found.items() for _ in range(count)]
            absorb(changes, difference(self._now, self._before, rows).items())
        return changes

    def explain(self) -> Explanation:
        inside = tuple(witness.explain() for witness in self._witnesses)
        kept = "".join(concerned.explain() for concerned in self._concerned.values())
        detail = self._detail + kept + self._law.shown()
        return Explanation(self._kind, detail, True, (self._inner.explain(), *inside))


class DependentOnKept(Unary):
    """f is a function of a row of A and the kept rows of B."""

    __slots__ = ("_become", "_concerned", "_kept", "_kind", "_law", "_right", "_shared", "layout")

    def __init__(
        self,
        kind: str,
        left: Side,
        right: Side,
        shared: tuple[Var, ...],
        kept: Kept,
        become: Callable[[Row], Iterable[tuple[Row, int]]],
        layout: Layout,
        whole: Node,
        states: States,
        *,
        overlapping: bool = False,
    ) -> None:
        super().__init__(left.operator)
        self.layout = layout
        self._kind = kind
        self._right = right
        self._kept = kept
        self._become = become
        self._shared = picker([right.layout.index[variable] for variable in shared])
        lacking = not right.layout.certain.issuperset(shared)
        self._concerned = rows_concerned(left, shared, states, lacking=lacking, overlapping=overlapping)
        self._law = Law(whole, layout, states, left.members)

    def admit(self, parameters: Row) -> None:
        super().admit(parameters)
        self._right.operator.admit(parameters)

    def dismiss(self, parameters: Row) -> None:
        super().dismiss(parameters)
        self._right.operator.dismiss(parameters)

    def delta(self, hits: Hits) -> Changes:
        left, right = self._inner.delta(hits), self._right.delta(hits)
        if not left and not right:
            return {}
        changes = self._law.within(len(left) + len(right), self._met, left, right)
        if changes is None:
            self._kept.rows.forget()
            self._concerned.forget()
            return self._law.again()
        return changes

    def _met(self, left: Changes, right: Changes) -> Changes:
        self._kept.rows.begin()
        concerned = self._concerned.by(dict.fromkeys(map(self._shared, right)))
        changes: Changes = {}
        absorb(changes, self._became(concerned, -1))
        self._kept.rows.absorb(right)
        self._concerned.absorb(left)
        absorb(changes, self._became(concerned, 1))
        absorb(changes, self._became(left, 1))
        return changes

    def _became(self, rows: Changes, sign: int) -> Iterable[tuple[Row, int]]:
        become = self._become
        return ((made, sign * weight * count) for row, weight in rows.items() for made, count in become(row))

    def explain(self) -> Explanation:
        detail = f"{CHANGED}, where the rows of the right are kept{self._concerned.explain()}{self._law.shown()}"
        return Explanation(self._kind, detail, True, (self._inner.explain(), self._right.operator.explain()))
