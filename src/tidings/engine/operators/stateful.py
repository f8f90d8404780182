"""Operators that remember: DISTINCT counts, GROUP BY accumulates, ORDER BY with LIMIT keeps an ordered answer.

Their state is kept apart by the parameters of the subscriptions that share the plan: the first `width` columns of a row
say whose it is. A member's state is built from a full evaluation when it is admitted.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable
from itertools import islice

from tidings.engine.operators.base import Changes, Explanation, Hits, Operator, absorb, add
from tidings.model.terms import Term
from tidings.sparql.algebra import Aggregate
from tidings.sparql.evaluate.aggregates import Accumulator, accumulator
from tidings.sparql.evaluate.layout import Layout, Row, picker, tiebreak
from tidings.sparql.values import OrderKey, order_key

Loader = Callable[[Row], Iterable[Row]]
"""The rows below an operator that belong to a member, by full evaluation."""


class Distinct:
    """δ: a row is there while its count is above zero."""

    __slots__ = ("_counts", "_inner", "_load", "_width", "layout")

    def __init__(self, inner: Operator, load: Loader, width: int) -> None:
        self._inner = inner
        self._load = load
        self._width = width
        self._counts: dict[Row, dict[Row, int]] = {}
        self.layout = inner.layout

    def delta(self, hits: Hits) -> Changes:
        changes: Changes = {}
        for row, weight in self._inner.delta(hits).items():
            counts = self._counts.get(row[: self._width])
            if counts is None:
                continue
            before = counts.get(row, 0)
            after = before + weight
            if after:
                counts[row] = after
            else:
                del counts[row]
            if (before > 0) != (after > 0):
                add(changes, row, 1 if after > 0 else -1)
        return changes

    def admit(self, parameters: Row) -> None:
        self._inner.admit(parameters)
        counts: dict[Row, int] = {}
        absorb(counts, ((row, 1) for row in self._load(parameters)))
        self._counts[parameters] = counts

    def dismiss(self, parameters: Row) -> None:
        self._inner.dismiss(parameters)
        del self._counts[parameters]

    def explain(self) -> Explanation:
        return Explanation("distinct", "counts each row", True, (self._inner.explain(),))


class _Bucket:
    """One group: how many rows it has, and its accumulators."""

    __slots__ = ("accumulators", "rows")

    def __init__(self, shapes: list[Aggregate]) -> None:
        self.rows = 0
        self.accumulators: list[Accumulator] = [accumulator(shape) for shape in shapes]

    def results(self) -> Row:
        return tuple([each.result() for each in self.accumulators])


class Group:
    """γ: the changed groups tell their old row and their new one. Without keys there is always one group."""

    __slots__ = ("_arguments", "_groups", "_inner", "_key", "_load", "_shapes", "_single", "_width", "layout")

    def __init__(
        self,
        inner: Operator,
        layout: Layout,
        key: Callable[[Row], Row],
        aggregates: list[tuple[Aggregate, Callable[[Row], Term | None]]],
        load: Loader,
        *,
        width: int,
        single: bool,
    ) -> None:
        self._inner = inner
        self.layout = layout
        self._key = key
        self._shapes = [shape for shape, _ in aggregates]
        self._arguments = [argument for _, argument in aggregates]
        self._load = load
        self._width = width
        self._single = single
        self._groups: dict[Row, dict[Row, _Bucket]] = {}

    def delta(self, hits: Hits) -> Changes:
        before: Changes = {}
        touched: dict[Row, Row] = {}
        for row, weight in self._inner.delta(hits).items():
            member = row[: self._width]
            groups = self._groups.get(member)
            if groups is None:
                continue
            key = self._key(row)
            if key not in touched:
                touched[key] = member
                absorb(before, ((old, -1) for old in self._row(groups, key)))
            self._feed(groups, key, row, weight)
        for key, member in touched.items():
            groups = self._groups[member]
            absorb(before, ((new, 1) for new in self._row(groups, key)))
        return before

    def _feed(self, groups: dict[Row, _Bucket], key: Row, row: Row, weight: int) -> None:
        bucket = groups.get(key)
        if bucket is None:
            bucket = groups[key] = _Bucket(self._shapes)
        bucket.rows += weight
        for each, argument in zip(bucket.accumulators, self._arguments, strict=True):
            each.add(argument(row), weight)
        if not bucket.rows and not self._single:
            del groups[key]

    def _row(self, groups: dict[Row, _Bucket], key: Row) -> Iterable[Row]:
        bucket = groups.get(key)
        return () if bucket is None else (key + bucket.results(),)

    def rows(self, parameters: Row) -> Iterable[Row]:
        """The rows of a member, one a group."""
        return [key + bucket.results() for key, bucket in self._groups[parameters].items()]

    def admit(self, parameters: Row) -> None:
        self._inner.admit(parameters)
        groups: dict[Row, _Bucket] = {parameters: _Bucket(self._shapes)} if self._single else {}
        self._groups[parameters] = groups
        for row in self._load(parameters):
            self._feed(groups, self._key(row), row, 1)

    def dismiss(self, parameters: Row) -> None:
        self._inner.dismiss(parameters)
        del self._groups[parameters]

    def explain(self) -> Explanation:
        names = ", ".join(shape.function for shape in self._shapes) or "keys only"
        return Explanation("group", f"accumulators for {names}", True, (self._inner.explain(),))


class _Ordered:
    """The ordered rows of one member, and the part of them that its subscribers see."""

    __slots__ = ("rows", "shown")

    def __init__(self) -> None:
        self.rows: list[tuple[_Rank, Row]] = []
        self.shown: Changes = {}

    def change(self, rank: "_Rank", row: Row, weight: int) -> None:
        for _ in range(weight):
            insort(self.rows, (rank, row), key=_rank_of)
        for _ in range(-weight):
            del self.rows[bisect_left(self.rows, rank, key=_rank_of)]


def _rank_of(entry: "tuple[_Rank, Row]") -> "_Rank":
    return entry[0]


class _Rank:
    """Place of a row in the order: its keys, each in its direction, then the row itself, so that no two rows tie."""

    __slots__ = ("descending", "keys", "last")

    def __init__(self, keys: list[OrderKey], descending: tuple[bool, ...], last: tuple[str, ...]) -> None:
        self.keys = keys
        self.descending = descending
        self.last = last

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Rank) and self.keys == other.keys and self.last == other.last

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: "_Rank") -> bool:
        for mine, theirs, descending in zip(self.keys, other.keys, self.descending, strict=True):
            if mine != theirs:
                return (theirs < mine) if descending else (mine < theirs)
        return self.last < other.last


class Window:
    """ORDER BY with LIMIT or OFFSET: only the rows that enter the window or leave it are told."""

    __slots__ = ("_distinct", "_inner", "_limit", "_load", "_members", "_offset", "_pick", "_rank", "_width", "layout")

    def __init__(
        self,
        inner: Operator,
        layout: Layout,
        rank: Callable[[Row], _Rank],
        load: Loader,
        *,
        offset: int,
        limit: int | None,
        distinct: bool,
        width: int,
    ) -> None:
        self._inner = inner
        self.layout = layout
        self._rank = rank
        self._load = load
        self._offset = offset
        self._limit = limit
        self._distinct = distinct
        self._width = width
        self._pick = picker([inner.layout.index.get(variable) for variable in layout.variables])
        self._members: dict[Row, _Ordered] = {}

    def delta(self, hits: Hits) -> Changes:
        touched: dict[Row, _Ordered] = {}
        for row, weight in self._inner.delta(hits).items():
            member = row[: self._width]
            ordered = self._members.get(member)
            if ordered is None:
                continue
            touched[member] = ordered
            ordered.change(self._rank(row), row, weight)
        changes: Changes = {}
        for ordered in touched.values():
            now = self._visible(ordered)
            absorb(changes, now.items())
            absorb(changes, ((row, -count) for row, count in ordered.shown.items()))
            ordered.shown = now
        return changes

    def _visible(self, ordered: _Ordered) -> Changes:
        rows: Iterable[Row] = (self._pick(row) for _, row in ordered.rows)
        if self._distinct:
            rows = _first_of_each(rows)
        stop = None if self._limit is None else self._offset + self._limit
        shown: Changes = {}
        absorb(shown, ((row, 1) for row in islice(rows, self._offset, stop)))
        return shown

    def rows(self, parameters: Row) -> Iterable[Row]:
        """The rows that a member sees."""
        return [row for row, count in self._members[parameters].shown.items() for _ in range(count)]

    def admit(self, parameters: Row) -> None:
        self._inner.admit(parameters)
        ordered = self._members[parameters] = _Ordered()
        ordered.rows = sorted(((self._rank(row), row) for row in self._load(parameters)), key=_rank_of)
        ordered.shown = self._visible(ordered)

    def dismiss(self, parameters: Row) -> None:
        self._inner.dismiss(parameters)
        del self._members[parameters]

    def explain(self) -> Explanation:
        until = "the end" if self._limit is None else str(self._offset + self._limit)
        return Explanation(
            "window", f"rows {self._offset} to {until} of an ordered answer", True, (self._inner.explain(),)
        )


def ranker(
    values: list[Callable[[Row], Term | None]], descending: tuple[bool, ...], rest: Callable[[Row], Row]
) -> Callable[[Row], _Rank]:
    """The order of rows: by the values of conditions, then by the `rest` of the row."""

    def rank(row: Row) -> _Rank:
        return _Rank([order_key(value(row)) for value in values], descending, tiebreak(rest(row)))

    return rank


def _first_of_each(rows: Iterable[Row]) -> Iterable[Row]:
    seen: set[Row] = set()
    for row in rows:
        if row not in seen:
            seen.add(row)
            yield row
