"""Rows compared with a scalar, such as the average that a sub-SELECT computes, or a limit that is data itself:
π σ(a > m)(A ⋈ B).

B mostly has one row, or one for each key or each member, and the query does not show its scalar. If that changes from m
to m', only the rows of A between m and m' that agree in the key may change. They are found in the order of their
values.

    Δ = σ(ΔA ⋈ B') + σ(A ⋈ ΔB)
"""

from collections.abc import Iterable, Iterator
from typing import Any

from tidings.engine.operators.base import Binary, Changes, Explanation, Hits, States, shown
from tidings.engine.operators.law import Law
from tidings.engine.operators.ordered.by_value import ByValue
from tidings.engine.operators.side import Side
from tidings.engine.operators.thresholds import Range
from tidings.model.terms import Var
from tidings.model.zset import absorb, add
from tidings.sparql.algebra import Node
from tidings.sparql.evaluate.layout import Row, picker


class _Group:
    """The rows of A and the scalars of B with the same key."""

    __slots__ = ("rows", "scalars")

    def __init__(self, comparisons: int) -> None:
        self.rows = [ByValue() for _ in range(comparisons)]
        """The rows in the order of each of the values that are compared."""
        self.scalars: dict[Row, dict[Row, int]] = {}
        """The scalars of B with the number of rows that have them, by the parameters that only B has."""

    def __bool__(self) -> bool:
        return bool(self.rows[0] or self.scalars)


class Crossing(Binary):
    """The rows of A for which all comparisons with the scalars of B hold, or any of them with `is_any`; once for each
    row of B for which they do. With `is_any`, all rows and scalars have all values."""

    __slots__ = (
        "_comparisons", "_groups", "_is_any", "_key_of", "_key_of_right", "_law", "_scalars_of", "_sides", "_states",
        "_values_of", "_versions", "_whose", "layout",
    )  # fmt: skip

    def __init__(
        self, left: Side, right: Side, key: tuple[Var, ...], comparisons: tuple[tuple[Range, Var], ...], whole: Node,
        states: States, *, is_any: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(left.operator, right.operator)
        parameters = () if right.members is None else right.members.variables
        self.layout = left.layout.extended(parameters, parameters)
        self._sides = (left, right)
        self._comparisons = [comparison for comparison, _ in comparisons]
        self._is_any = is_any
        self._values_of = picker([left.layout.index[comparison.variable] for comparison in self._comparisons])
        self._key_of = picker([left.layout.index[variable] for variable in key])
        self._key_of_right = picker([right.layout.index[variable] for variable in key])
        self._scalars_of = picker([right.layout.index[scalar] for _, scalar in comparisons])
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
        self._begin()
        changes: Changes = {}
        moved: dict[tuple[Row, Row], dict[Row, int]] = {}
        for row, weight in right.items():
            scalars = self._scalars_of(row)
            if None not in scalars:
                add(moved.setdefault((self._key_of_right(row), self._whose(row)), {}), scalars, weight)
        for (key, whose), each in moved.items():
            group = self._group(key)
            if each:
                absorb(changes, ((row + whose, weight) for row, weight in self._moved(group, each)))
            for scalars, weight in each.items():
                _put_scalars(group, whose, scalars, weight)
            self._tidy(key, group)
        for row, weight in left.items():
            values = self._values_of(row)
            if None not in values:
                group = self._put(row, values, weight)
                for whose, each in group.scalars.items():
                    times = self._times(values, each)
                    if times:
                        add(changes, row + whose, weight * times)
        return changes

    def _moved(self, group: _Group, moved: dict[Row, int]) -> Iterator[tuple[Row, int]]:
        """The rows whose weight changes because scalars were added or removed. If as many were added as removed, these
        are among the rows for which some comparison gives different results with them. Otherwise they are among those
        for which the first comparison holds with one of them or, with `is_any`, any comparison."""
        cancel = not sum(moved.values())
        comparisons = self._comparisons
        concerned: Changes = {}
        for number, comparison in enumerate(comparisons if cancel or self._is_any else comparisons[:1]):
            rows = group.rows[number]
            terms = {term: None for scalars in moved if (term := scalars[number]) is not None}
            if cancel and len(terms) == 1:
                continue  # it has the same result with all of them
            concerned.update((aside[1:], count) for aside, count in rows.aside.items())
            for value, found in rows.near(terms, comparison, cancel=cancel):
                if len(comparisons) > 1:
                    concerned.update(found)
                elif times := self._times((value,), moved):  # one test for all rows of a value: saves 1.2 µs a row
                    yield from ((row, count * times) for row, count in found.items())
        for row, count in concerned.items():
            if times := self._times(self._values_of(row), moved):
                yield row, count * times

    def _times(self, values: Row, scalars: dict[Row, int]) -> int:
        """The total weight of the scalars with which the comparisons hold for the values of a row."""
        times, is_any = 0, self._is_any
        for others, count in scalars.items():
            for comparison, value, other in zip(self._comparisons, values, others, strict=True):
                assert value is not None
                assert other is not None
                if comparison.holds(value, other) is is_any:  # this comparison decides
                    times += is_any * count
                    break
            else:
                times += (not is_any) * count
        return times

    def _put(self, row: Row, values: Row, weight: int) -> _Group:
        """Add a row of A, or remove it. Returns its group."""
        key = self._key_of(row)
        group = self._group(key)
        for rows, value in zip(group.rows, values, strict=True):
            assert value is not None
            rows.add(value, row, weight)
        self._tidy(key, group)
        return group

    def _group(self, key: Row) -> _Group:
        groups = self._groups
        assert groups is not None
        group = groups.get(key)
        if group is None:
            group = groups[key] = _Group(len(self._comparisons))
        return group

    def _tidy(self, key: Row, group: _Group) -> None:
        if not group and self._groups is not None:
            del self._groups[key]

    def _begin(self) -> None:
        """Find all rows of A and scalars of B as before the commit, unless they are known and valid. If only the
        members of B have changed, the rows of A stay, and only the scalars are found again."""
        left, right = self._sides
        known, self._versions = self._versions, self._members_versions()
        if self._groups is None or known[0] != left.version:
            self._groups = {}
            for row in left.rows_before(self._states):
                values = self._values_of(row)
                if None not in values:
                    self._put(row, values, 1)
        elif known == self._versions:
            return
        for key, group in list(self._groups.items()):
            group.scalars.clear()
            self._tidy(key, group)
        for row in right.rows_before(self._states):
            scalars = self._scalars_of(row)
            if None not in scalars:
                _put_scalars(self._group(self._key_of_right(row)), self._whose(row), scalars, 1)

    def _members_versions(self) -> tuple[int, int]:
        """Change whenever members come or go, and their rows with them."""
        left, right = self._sides
        return left.version, right.version

    def items(self) -> Iterable[Any]:
        """A marker that the groups are known, then the rows of A, then the scalars of B with keys and parameters."""
        if self._groups is not None and self._versions == self._members_versions():
            yield True
            for group in self._groups.values():
                yield from group.rows[0].items()
            for key, group in self._groups.items():
                for whose, each in group.scalars.items():
                    for scalars, count in each.items():
                        yield key, whose, scalars, count

    def extend(self, items: list[Any]) -> None:
        if self._groups is None:
            self._groups = {}
            del items[0]
        for item in items:
            if len(item) == 2:
                row, count = item
                self._put(row, self._values_of(row), count)
            else:
                key, whose, scalars, count = item
                _put_scalars(self._group(key), whose, scalars, count)

    def complete(self) -> None:
        self._versions = self._members_versions()

    def explain(self) -> Explanation:
        each = [f"{shown(comparison.variable)} {comparison.operator}" for comparison in self._comparisons]
        compared = (" or " if self._is_any else " and ").join(each)
        detail = f"{compared} what the right says, the rows by value{self._law.shown()}"
        return Explanation("crossing", detail, True, (self._left.explain(), self._right.explain()))


def _put_scalars(group: _Group, whose: Row, scalars: Row, weight: int) -> None:
    each = group.scalars.setdefault(whose, {})
    add(each, scalars, weight)
    if not each:
        del group.scalars[whose]
