"""Rows compared with what one sub-SELECT says for all of them, such as who is above average, or with a limit that is
data itself: π σ(a > m)(A ⋈ B).

B has hardly more than one row, or one for each key, or for each member, and nobody sees what it says. When that changes
from m to m', only the rows of A between m and m' that agree in the key are concerned: those are found by the order of
their values.

    Δ = σ(ΔA ⋈ B') + σ(A ⋈ ΔB)
"""

from collections.abc import Iterable, Iterator
from typing import Any

from tidings.engine.operators.base import Binary, Changes, Explanation, Hits, States, shown
from tidings.engine.operators.law import Law
from tidings.engine.operators.ordered.by_value import ByValue
from tidings.engine.operators.side import Side
from tidings.engine.operators.thresholds import Range
from tidings.model.terms import Term, Var
from tidings.model.zset import absorb, add
from tidings.sparql.algebra import Node
from tidings.sparql.evaluate.layout import Row, picker


class _Group:
    """Rows of A and scalars of B that go together."""

    __slots__ = ("rows", "scalars")

    def __init__(self) -> None:
        self.rows = ByValue()
        self.scalars: dict[Row, dict[Term, int]] = {}
        """The values of B, and how many rows have each, by the parameters that rows of A have not."""

    def __bool__(self) -> bool:
        return bool(self.rows or self.scalars)


class Crossing(Binary):
    """The rows of A for which `condition` holds with the scalar of B, once for each row of B for which it does."""

    __slots__ = (
        "_at", "_condition", "_groups", "_key_of", "_key_of_right", "_law", "_scalar", "_sides", "_states", "_versions",
        "_whose", "layout",
    )  # fmt: skip

    def __init__(
        self, left: Side, right: Side, key: tuple[Var, ...], condition: Range, scalar: Var, whole: Node, states: States
    ) -> None:
        super().__init__(left.operator, right.operator)
        parameters = () if right.members is None else right.members.variables
        self.layout = left.layout.extended(parameters, parameters)
        self._sides = (left, right)
        self._condition = condition
        self._at = left.layout.index[condition.variable]
        self._key_of = picker([left.layout.index[variable] for variable in key])
        self._key_of_right = picker([right.layout.index[variable] for variable in key])
        self._scalar = right.layout.index[scalar]
        self._whose = picker([right.layout.index[variable] for variable in parameters])
        self._states = states
        self._groups: dict[Row, _Group] | None = None
        self._versions = (0, 0)
        self._law = Law(whole, self.layout, states, left.members or right.members)
        states.caches.append(self)

    def delta(self, hits: Hits) -> Changes:
        left, right = (side.delta(hits) for side in self._sides)
        if not left and not right:
            return {}
        changes = self._law.within(len(left) + len(right), self._crossed, left, right)
        if changes is None:
            self._groups = None
            return self._law.again()
        return changes

    def _crossed(self, left: Changes, right: Changes) -> Changes:
        groups = self._begun()
        changes: Changes = {}
        moved: dict[tuple[Row, Row], dict[Term, int]] = {}
        for row, weight in right.items():
            scalar = row[self._scalar]
            if scalar is not None:
                add(moved.setdefault((self._key_of_right(row), self._whose(row)), {}), scalar, weight)
        for (key, whose), scalars in moved.items():
            group = groups.setdefault(key, _Group())
            crossed = _crossed(group.rows, scalars, self._condition)
            absorb(changes, ((row + whose, count) for row, count in crossed) if whose else crossed)
            for scalar, weight in scalars.items():
                _put_scalar(group, whose, scalar, weight)
            self._tidy(key, group)
        for row, weight in left.items():
            value = row[self._at]
            if value is not None:
                group = self._put(groups, row, value, weight)
                for whose, scalars in group.scalars.items():
                    times = _times(value, scalars, self._condition)
                    if times:
                        add(changes, row + whose, weight * times)
        return changes

    def _put(self, groups: dict[Row, _Group], row: Row, value: Term, weight: int) -> _Group:
        """Take up a row of A, and tell what it goes with."""
        key = self._key_of(row)
        group = groups.setdefault(key, _Group())
        group.rows.add(value, row, weight)
        self._tidy(key, group)
        return group

    def _tidy(self, key: Row, group: _Group) -> None:
        if not group and self._groups is not None:
            del self._groups[key]

    def _begun(self) -> dict[Row, _Group]:
        """All rows of A and the values of B, as before the commit, unless they are at hand. A new member may have other
        values, while the rows are the same."""
        left, right = self._sides
        known, self._versions = self._versions, self._members_versions()
        if self._groups is None or known[0] != left.version:
            self._groups = {}
            for row in left.rows_before(self._states):
                value = row[self._at]
                if value is not None:
                    self._put(self._groups, row, value, 1)
        elif known == self._versions:
            return self._groups
        for key, group in list(self._groups.items()):
            group.scalars.clear()
            self._tidy(key, group)
        for row in right.rows_before(self._states):
            scalar = row[self._scalar]
            if scalar is not None:
                group = self._groups.setdefault(self._key_of_right(row), _Group())
                _put_scalar(group, self._whose(row), scalar, 1)
        return self._groups

    def _members_versions(self) -> tuple[int, int]:
        """Other numbers whenever there are other members, and so other rows."""
        left, right = self._sides
        return left.version, right.version

    def items(self) -> Iterable[Any]:
        """That there are any, then the rows of A, then the values of B with what they go with."""
        if self._groups is not None and self._versions == self._members_versions():
            yield True
            for group in self._groups.values():
                yield from group.rows.items()
            for key, group in self._groups.items():
                for whose, scalars in group.scalars.items():
                    for scalar, count in scalars.items():
                        yield key, whose, scalar, count

    def extend(self, items: list[Any]) -> None:
        if self._groups is None:
            self._groups = {}
            del items[0]
        for item in items:
            if len(item) == 2:
                row, count = item
                self._put(self._groups, row, row[self._at], count)
            else:
                key, whose, scalar, count = item
                _put_scalar(self._groups.setdefault(key, _Group()), whose, scalar, count)

    def complete(self) -> None:
        self._versions = self._members_versions()

    def explain(self) -> Explanation:
        condition = f"{shown(self._condition.variable)} {self._condition.operator} what the right says"
        detail = f"{condition}, the rows by value{self._law.shown()}"
        return Explanation("crossing", detail, True, (self._left.explain(), self._right.explain()))


def _put_scalar(group: _Group, whose: Row, scalar: Term, weight: int) -> None:
    scalars = group.scalars.setdefault(whose, {})
    add(scalars, scalar, weight)
    if not scalars:
        del group.scalars[whose]


def _times(value: Term, scalars: dict[Term, int], condition: Range) -> int:
    """How often a condition holds for a value."""
    return sum([count for scalar, count in scalars.items() if condition.holds(value, scalar)])


def _crossed(rows: ByValue, moved: dict[Term, int], condition: Range) -> Iterator[tuple[Row, int]]:
    """The rows for which a condition holds oftener, or not as often, now that scalars have come and gone."""
    if not moved:
        return
    for aside, count in rows.aside.items():
        value = aside[0]
        assert value is not None
        times = _times(value, moved, condition)
        if times:
            yield aside[1:], count * times
    for value, found in rows.near(moved, condition):
        times = _times(value, moved, condition)
        if times:
            for row, count in found.items():
                yield row, count * times
