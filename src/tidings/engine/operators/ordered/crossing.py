"""Rows compared with what one sub-SELECT says for all of them, such as who is above average: π σ(a > m)(A × B).

B has hardly more than one row, and nobody sees it. When it changes from m to m', only the rows of A between m and m'
are concerned: those are found by the order of their values.

    Δ = σ(ΔA × B') + σ(A × ΔB)
"""

from collections.abc import Iterable
from typing import Any

from tidings.engine.operators.base import Binary, Changes, Explanation, Hits, States, shown
from tidings.engine.operators.law import Law
from tidings.engine.operators.ordered.by_value import ByValue
from tidings.engine.operators.side import Side
from tidings.engine.operators.thresholds import Range
from tidings.model.terms import Term, Var
from tidings.model.zset import absorb, add
from tidings.sparql.algebra import Node


class Crossing(Binary):
    """The rows of A for which `condition` holds with the scalar of B, once for each row of B for which it does."""

    __slots__ = ("_at", "_condition", "_law", "_rows", "_scalar", "_scalars", "_sides", "_states", "_version", "layout")

    def __init__(self, left: Side, right: Side, condition: Range, scalar: Var, whole: Node, states: States) -> None:
        super().__init__(left.operator, right.operator)
        self.layout = left.layout
        self._sides = (left, right)
        self._condition = condition
        self._at = left.layout.index[condition.variable]
        self._scalar = right.layout.index[scalar]
        self._states = states
        self._rows: ByValue | None = None
        self._scalars: dict[Term, int] = {}
        """The values of B, and how many rows have each."""
        self._version = 0
        self._law = Law(whole, self.layout, states, left.members)
        states.caches.append(self)

    def delta(self, hits: Hits) -> Changes:
        left, right = (side.delta(hits) for side in self._sides)
        if not left and not right:
            return {}
        changes = self._law.within(len(left) + len(right), self._crossed, left, right)
        if changes is None:
            self._rows = None
            return self._law.again()
        return changes

    def _crossed(self, left: Changes, right: Changes) -> Changes:
        rows = self._begun()
        moved: dict[Term, int] = {}
        absorb(moved, ((m, weight) for row, weight in right.items() if (m := row[self._scalar]) is not None))
        changes = _crossed(rows, moved, self._condition)
        absorb(self._scalars, moved.items())
        for row, weight in left.items():
            value = row[self._at]
            if value is not None:
                rows.add(value, row, weight)
                times = _times(value, self._scalars, self._condition)
                if times:
                    add(changes, row, weight * times)
        return changes

    def _begun(self) -> ByValue:
        """All rows of A and the values of B, as before the commit, unless they are at hand."""
        left, right = self._sides
        if self._rows is None or self._version != left.version:
            self._version = left.version
            self._rows = ByValue()
            for row in left.rows_before(self._states):
                value = row[self._at]
                if value is not None:
                    self._rows.add(value, row, 1)
            self._scalars = {}
            found = (row[self._scalar] for row in right.rows_before(self._states))
            absorb(self._scalars, ((m, 1) for m in found if m is not None))
        return self._rows

    def items(self) -> Iterable[Any]:
        """The values of B first, then the rows of A."""
        if self._rows is not None and self._version == self._sides[0].version:
            yield self._scalars
            yield from self._rows.items()

    def extend(self, items: list[Any]) -> None:
        if self._rows is None:
            self._rows, self._scalars = ByValue(), items.pop(0)
        for row, count in items:
            self._rows.add(row[self._at], row, count)

    def complete(self) -> None:
        self._version = self._sides[0].version

    def explain(self) -> Explanation:
        condition = f"{shown(self._condition.variable)} {self._condition.operator} what the right says"
        detail = f"{condition}, the rows by value{self._law.shown()}"
        return Explanation("crossing", detail, True, (self._left.explain(), self._right.explain()))


def _times(value: Term, scalars: dict[Term, int], condition: Range) -> int:
    """How often a condition holds for a value."""
    return sum([count for scalar, count in scalars.items() if condition.holds(value, scalar)])


def _crossed(rows: ByValue, moved: dict[Term, int], condition: Range) -> Changes:
    """The rows for which a condition holds oftener, or not as often, now that scalars have come and gone."""
    changes: Changes = {}
    if not moved:
        return changes
    for aside, count in rows.aside.items():
        value = aside[0]
        assert value is not None
        times = _times(value, moved, condition)
        if times:
            add(changes, aside[1:], count * times)
    for value, found in rows.near(moved):
        times = _times(value, moved, condition)
        if times:
            absorb(changes, ((row, count * times) for row, count in found.items()))
    return changes
