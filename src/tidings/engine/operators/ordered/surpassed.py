"""Rows that a row of B surpasses, or that none does:  A FILTER (NOT) EXISTS { B FILTER (b > a) }.

Rows of A and of B meet if they agree in the key, the variables that both always bind; without such variables, all rows
meet. Of the rows of B that a row of A meets, only the one with the greatest value matters (for `<`, the least). If it
changes from m to m', only the rows of A between m and m' may change: they are found in the order of their values. With
`?y != ?x`, a row is not surpassed by values of its own owner. Then the greatest value of a second owner matters, too:
it may surpass the rows of the first.

    Δ = σ'(ΔA) + (σ' - σ) of the rows of A between m and m'
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from tidings.engine.operators.base import Binary, Changes, Explanation, Hits, States, shown
from tidings.engine.operators.ordered.by_value import ByValue, Scale
from tidings.engine.operators.side import Side
from tidings.engine.operators.thresholds import Range
from tidings.model.terms import Term, Var
from tidings.model.zset import absorb, add
from tidings.sparql.evaluate.layout import Row, picker

_Leaders: TypeAlias = tuple[tuple[Term, Row], ...]
"""The extreme value of one scale, with its owner; if owners matter, also the next value of another owner."""


class _Group:
    """The rows of A and the values of B with the same key."""

    __slots__ = ("rows", "values")

    def __init__(self) -> None:
        self.rows = ByValue()
        self.values = ByValue()

    def __bool__(self) -> bool:
        return bool(self.rows or self.values)


class Surpassed(Binary):
    """The rows of A that are surpassed, if these are `wanted`, or the others. `condition` compares a value of A with
    `column` of B; both sides have the columns of the `key`. `apart` are the columns with the owners on both sides,
    which have to differ, if any have to. The first commit evaluates both sides; nothing is looked up later."""

    __slots__ = (
        "_apart", "_at", "_column", "_condition", "_groups", "_key_of", "_key_of_right", "_sides", "_states",
        "_version", "_wanted", "_who", "_whose", "layout",
    )  # fmt: skip

    def __init__(
        self, left: Side, right: Side, key: tuple[Var, ...], condition: Range, column: Var,
        apart: tuple[Var, Var] | None, states: States, *, wanted: bool,
    ) -> None:  # fmt: skip
        super().__init__(left.operator, right.operator)
        self.layout = left.layout
        self._sides = (left, right)
        self._key_of = picker([left.layout.index[variable] for variable in key])
        self._key_of_right = picker([right.layout.index[variable] for variable in key])
        self._at = left.layout.index[condition.variable]
        self._column = right.layout.index[column]
        self._condition = condition
        self._apart = apart
        self._who = None if apart is None else picker([left.layout.index[apart[0]]])
        """Picks the owner of a row of A."""
        self._whose = picker([] if apart is None else [right.layout.index[apart[1]]])
        """Picks the owner of a row of B; empty if owners do not matter."""
        self._wanted = wanted
        """Whether the surpassed rows pass, or the others."""
        self._states = states
        self._groups: dict[Row, _Group] | None = None
        self._version = 0
        states.caches.append(self)

    def delta(self, hits: Hits) -> Changes:
        left, right = (side.delta(hits) for side in self._sides)
        if not left and not right:
            return {}
        groups = self._begun()
        changes: Changes = {}
        for key, moved in self._moved(right).items():
            self._move(key, moved, changes)
        for row, weight in left.items():
            self._put(row, weight)
            group = groups.get(self._key_of(row))
            if self._passes(row, None if group is None else group.values):
                add(changes, row, weight)
        return changes

    def passing(self, rows: Iterable[Row], values: Iterable[Row]) -> Iterable[Row]:
        """The rows of A that pass, given all rows of B. It does not compare each row with each."""
        found: dict[Row, ByValue] = {}
        for row in values:
            value = row[self._column]
            if value is not None:
                found.setdefault(self._key_of_right(row), ByValue()).add(value, self._whose(row), 1)
        return (row for row in rows if self._passes(row, found.get(self._key_of(row))))

    def _moved(self, right: Changes) -> dict[Row, dict[tuple[Term, Row], int]]:
        """The values of B that were added or removed, with their owners, by key."""
        found: dict[Row, dict[tuple[Term, Row], int]] = {}
        for row, weight in right.items():
            value = row[self._column]
            if value is not None:
                add(found.setdefault(self._key_of_right(row), {}), (value, self._whose(row)), weight)
        return found

    def _move(self, key: Row, moved: dict[tuple[Term, Row], int], changes: Changes) -> None:
        """Apply changed values of B, and add to the changes the rows of A that pass now and did not, or the reverse."""
        group = self._group(key)
        before = self._leaders(group.values)
        aside = dict(group.values.aside) if group.rows.aside else {}
        for (value, whose), weight in moved.items():
            group.values.add(value, whose, weight)
        after = self._leaders(group.values)
        turned, near = _turned(before, after), group.rows.near
        concerned = {
            value: rows for each, cancel in turned for value, rows in near(each, self._condition, cancel=cancel)
        }
        others, since = list(before.values()), list(after.values())
        self._states.meter.charge(len(concerned))
        for value, rows in concerned.items():
            self._tell(value, rows, others, since, changes)
        self._tell_aside(group, aside, changes)
        self._tidy(key, group)

    def _tell(
        self, value: Term, rows: Changes, before: list[_Leaders], after: list[_Leaders], changes: Changes
    ) -> None:
        for who, some in self._by_who(rows):
            was, is_now = self._surpasses(before, value, who), self._surpasses(after, value, who)
            if was is not is_now:
                sign = 1 if is_now is self._wanted else -1
                absorb(changes, ((row, sign * count) for row, count in some.items()))

    def _by_who(self, rows: Changes) -> Iterable[tuple[Row | None, Changes]]:
        who = self._who
        return ((None, rows),) if who is None else ((who(row), {row: count}) for row, count in rows.items())

    def _tell_aside(self, group: _Group, before: Mapping[Row, int], changes: Changes) -> None:
        """The same for values on no scale, each of which is compared with all other values on no scale."""
        now = group.values.aside
        if before.keys() == now.keys() or not group.rows.aside:
            return
        others, since = _each_alone(before), _each_alone(now)
        for (value, *row), count in group.rows.aside.items():
            self._states.meter.charge(len(others) + len(since))
            assert value is not None
            self._tell(value, {tuple(row): count}, others, since, changes)

    def _leaders(self, values: ByValue) -> dict[Scale, _Leaders]:
        most = 1 if self._apart is None else 2
        return values.leaders(greatest=not self._condition.is_lower, most=most)

    def _surpasses(self, others: Iterable[_Leaders], value: Term, who: Row | None) -> bool:
        """Whether the condition holds for a value with any of the others that have another owner."""
        holds = self._condition.holds
        for leaders in others:
            for other, whose in leaders:
                if whose != who:
                    if holds(value, other):
                        return True
                    break
        return False

    def _passes(self, row: Row, values: ByValue | None) -> bool:
        value = row[self._at]
        if value is None or values is None:
            return not self._wanted
        others = (*self._leaders(values).values(), *_each_alone(values.aside))
        who = None if self._who is None else self._who(row)
        return self._surpasses(others, value, who) is self._wanted

    # -- the groups ---------------------------------------------------------------------------------------------

    def _group(self, key: Row) -> _Group:
        groups = self._groups
        assert groups is not None
        group = groups.get(key)
        if group is None:
            group = groups[key] = _Group()
        return group

    def _tidy(self, key: Row, group: _Group) -> None:
        if not group and self._groups is not None:
            del self._groups[key]

    def _put(self, row: Row, weight: int) -> None:
        """Add a row of A, or remove it, if it has a value."""
        value = row[self._at]
        if value is not None:
            key = self._key_of(row)
            group = self._group(key)
            group.rows.add(value, row, weight)
            self._tidy(key, group)

    def _begun(self) -> dict[Row, _Group]:
        """The groups, with all rows of both sides before the commit if they were not known or not valid."""
        if self._groups is None or self._version != self._members_version():
            self._version = self._members_version()
            self._groups = {}
            left, right = self._sides
            for row in left.rows_before(self._states):
                self._put(row, 1)
            for row in right.rows_before(self._states):
                self._put_right(row, 1)
        return self._groups

    def _put_right(self, row: Row, weight: int) -> None:
        value = row[self._column]
        if value is not None:
            self._group(self._key_of_right(row)).values.add(value, self._whose(row), weight)

    def _members_version(self) -> int:
        """Changes whenever members come or go, and their rows with them."""
        return sum(side.version for side in self._sides)

    def items(self) -> Iterable[Any]:
        """A marker that the groups are known, then the rows of A, then the values of B with their keys and owners."""
        if self._groups is not None and self._version == self._members_version():
            yield True
            for group in self._groups.values():
                yield from group.rows.items()
            for key, group in self._groups.items():
                for value, whose, count in group.values.entries():
                    yield key, value, whose, count

    def extend(self, items: list[Any]) -> None:
        if self._groups is None:
            self._groups = {}
            del items[0]
        for item in items:
            if len(item) == 2:
                self._put(*item)
            else:
                key, value, whose, count = item
                self._group(key).values.add(value, whose, count)

    def complete(self) -> None:
        self._version = self._members_version()

    def explain(self) -> Explanation:
        how = "that" if self._wanted else "that no"
        value = shown(self._condition.variable)
        others = "" if self._apart is None else f" where {shown(self._apart[0])} != {shown(self._apart[1])}"
        compares = f"{value} {self._condition.operator} it{others}"
        detail = f"rows {how} value of the right surpasses: {compares}, both kept by value"
        return Explanation("surpassed", detail, True, (self._left.explain(), self._right.explain()))


def _each_alone(aside: Iterable[Row]) -> list[_Leaders]:
    """The values of rows that are kept aside, each as a leader of its own."""
    return [((value, tuple(whose)),) for value, *whose in aside if value is not None]


def _turned(
    before: Mapping[Scale, _Leaders], after: Mapping[Scale, _Leaders]
) -> Iterator[tuple[dict[Term, None], bool]]:
    """For each scale whose leaders have changed: their values, before and now, and whether only rows between these
    values may change. Rows beyond all of them find a leader of another owner before and now, if there were two leaders
    and still are. They also do not change if there was one leader and still is, with the same owner."""
    for scale in before.keys() | after.keys():
        was, is_now = before.get(scale, ()), after.get(scale, ())
        if was != is_now:
            terms = dict.fromkeys(term for term, _ in (*was, *is_now))
            several = len(was) > 1 and len(is_now) > 1
            if not (several and len(terms) == 1):  # two owners had this one value before, and two have it now
                only_one = len(was) == len(is_now) == 1 and was[0][1] == is_now[0][1]
                yield terms, several or only_one
