"""ORDER BY with LIMIT or OFFSET:  Δ = the rows that enter the window - those that leave it."""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable
from itertools import islice

from tidings.engine.operators.base import Changes, Explanation, Hits, Loader, Operator
from tidings.engine.operators.stateful.memory import Memory
from tidings.model.terms import Term
from tidings.model.zset import absorb
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.layout import Layout, Row, picker, tiebreak
from tidings.sparql.values import OrderKey, order_key


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

    def in_order(self) -> "Iterable[Row]":
        return (row for _, row in self.rows)


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

    __slots__ = (
        "_context",
        "_distinct",
        "_inner",
        "_limit",
        "_load",
        "_members",
        "_offset",
        "_pick",
        "_rank",
        "_width",
        "layout",
        "memory",
    )

    def __init__(
        self,
        inner: Operator,
        layout: Layout,
        rank: Callable[[Row], _Rank],
        load: Loader,
        context: Context,
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
        self._context = context
        self.memory: Memory[_Ordered] = Memory(_Ordered, _Ordered.in_order, self._append, self._show)
        self._members = self.memory.states

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
        ordered = _Ordered()
        rows = self._context.hold(self._load(parameters))
        ordered.rows = sorted(((self._rank(row), row) for row in rows), key=_rank_of)
        self._show(ordered)
        self._members[parameters] = ordered

    def _append(self, ordered: _Ordered, rows: list[Row]) -> None:
        """Rows that come in order."""
        rank = self._rank
        ordered.rows.extend((rank(row), row) for row in rows)

    def _show(self, ordered: _Ordered) -> None:
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
