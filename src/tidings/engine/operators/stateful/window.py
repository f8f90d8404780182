"""ORDER BY with LIMIT or OFFSET:  Δ = the rows that enter the window - those that leave it."""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import Any, TypeAlias

from msgspec import Struct

from tidings.engine.operators.base import Changes, Explanation, Hits, Loader, Operator, States
from tidings.engine.operators.stateful.memory import Memory
from tidings.model.ordered import Ordered
from tidings.model.terms import Var
from tidings.model.zset import add
from tidings.sparql.algebra import Expression
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.layout import Layout, Row, named, picker, tiebreak
from tidings.sparql.values import OrderKey, order_key


class _Descending:
    """A key that sorts in descending order."""

    __slots__ = ("key",)

    def __init__(self, key: OrderKey) -> None:
        self.key = key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Descending) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __lt__(self, other: "_Descending") -> bool:
        return other.key < self.key


_Rank: TypeAlias = tuple[Any, ...]
"""Place of a row in the order: its keys, each in its direction, then the row itself, so that no two rows tie."""


class _Extent(Struct, frozen=True):
    """The window: the rows from number `start` on, to before `stop`, with the columns that `pick` shows of them."""

    start: int
    stop: int | None
    pick: Callable[[Row], Row]
    distinct: bool


class _Answer:
    """The ordered rows of one member. If the answer is distinct, only the first of equal shown rows has a number."""

    __slots__ = ("_alike", "_extent", "_ranks", "_rows")

    def __init__(self, extent: _Extent) -> None:
        self._extent = extent
        self._rows: dict[_Rank, list[Any]] = {}
        """The row of each rank, and its count."""
        self._ranks: Ordered[_Rank] = Ordered()
        self._alike: dict[Row, list[_Rank]] = {}
        """If the answer is distinct: the ranks of equal shown rows, in order."""

    def take(self, entries: list[tuple[_Rank, Row]]) -> None:
        """Add rows before the answer is complete. They come in their order, unless the answer is distinct."""
        for rank, row in entries:
            self._count(rank, row, 1)
        if self._extent.distinct:
            for rank, row in entries:
                self._alike.setdefault(self._extent.pick(row), []).append(rank)
        else:
            self._ranks.extend([rank for rank, _ in entries])

    def complete(self) -> None:
        """Called after the last rows."""
        if self._extent.distinct:
            for alike in self._alike.values():
                alike.sort()
            self._ranks = Ordered(alike[0] for alike in self._alike.values())

    def _count(self, rank: _Rank, row: Row, weight: int) -> None:
        found = self._rows.setdefault(rank, [row, 0])
        found[1] += weight
        if not found[1]:
            del self._rows[rank]

    def change(self, rank: _Rank, row: Row, weight: int, told: Changes) -> None:
        """Add equal rows or, if the weight is negative, remove them. `told` collects the changes of the shown rows."""
        if weight > 0:
            self._count(rank, row, weight)
        for _ in range(abs(weight)):
            if self._extent.distinct:
                self._change_alike(rank, row, weight > 0, told)
            elif weight > 0:
                self._enter(rank, told)
            else:
                self._leave(rank, told)
        if weight < 0:
            self._count(rank, row, weight)

    def _change_alike(self, rank: _Rank, row: Row, more: bool, told: Changes) -> None:
        shown = self._extent.pick(row)
        alike = self._alike.setdefault(shown, [])
        before = alike[0] if alike else None
        if more:
            insort(alike, rank)
        else:
            del alike[bisect_left(alike, rank)]
        after = alike[0] if alike else None
        if before != after:
            if before is not None:
                self._leave(before, told)
            if after is not None:
                self._enter(after, told)
        if not alike:
            del self._alike[shown]

    def _enter(self, rank: _Rank, told: Changes) -> None:
        self._ranks.add(rank)
        self._shift(rank, 1, told)

    def _leave(self, rank: _Rank, told: Changes) -> None:
        self._shift(rank, -1, told)
        self._ranks.remove(rank)

    def _shift(self, rank: _Rank, weight: int, told: Changes) -> None:
        """Tell the difference that a row in the order makes: the row that it brings into the window, itself or the one
        that it moves over the start, and the row that it moves out over the end."""
        start, stop, ranks = self._extent.start, self._extent.stop, self._ranks
        number = ranks.index(rank)
        if stop is not None and (number >= stop or start == stop):
            return
        if number >= start:
            add(told, self._shown(rank), weight)
        elif len(ranks) > start:
            add(told, self._shown(ranks.at(start)), weight)
        if stop is not None and len(ranks) > stop:
            add(told, self._shown(ranks.at(stop)), -weight)

    def _shown(self, rank: _Rank) -> Row:
        row: Row = self._rows[rank][0]
        return self._extent.pick(row)

    def visible(self) -> list[Row]:
        return [self._shown(rank) for rank in self._ranks.between(self._extent.start, self._extent.stop)]

    def rows(self) -> Iterator[Row]:
        """All rows, in an order in which `take` accepts them."""
        if self._extent.distinct:
            return (row for row, count in self._rows.values() for _ in range(count))
        return (self._rows[rank][0] for rank in self._ranks)


class Window:
    """ORDER BY with LIMIT or OFFSET: emits only the rows that enter the window or leave it."""

    __slots__ = ("_context", "_extent", "_inner", "_load", "_members", "_rank", "_width", "layout", "memory")

    def __init__(
        self,
        inner: Operator,
        layout: Layout,
        rank: Callable[[Row], _Rank],
        load: Loader,
        context: Context,
        start: int,
        stop: int | None,
        distinct: bool,
        width: int,
    ) -> None:
        self._inner = inner
        self.layout = layout
        self._rank = rank
        self._load = load
        self._width = width
        pick = picker([inner.layout.index.get(variable) for variable in layout.variables])
        self._extent = _Extent(start, stop, pick, distinct)
        self._context = context
        self.memory: Memory[_Answer] = Memory(self._empty, _Answer.rows, self._take, _Answer.complete)
        self._members = self.memory.states

    def _empty(self) -> _Answer:
        return _Answer(self._extent)

    def delta(self, hits: Hits) -> Changes:
        changes: Changes = {}
        for row, weight in self._inner.delta(hits).items():
            answer = self._members.get(row[: self._width])
            if answer is not None:
                answer.change(self._rank(row), row, weight, changes)
        return changes

    def rows(self, parameters: Row) -> Iterable[Row]:
        """The rows in the window of a member."""
        return self._members[parameters].visible()

    def admit(self, parameters: Row) -> None:
        self._inner.admit(parameters)
        answer, rank = self._empty(), self._rank
        rows = self._context.hold(self._load(parameters))
        answer.take(sorted(((rank(row), row) for row in rows), key=itemgetter(0)))
        answer.complete()
        self._members[parameters] = answer

    def _take(self, answer: _Answer, rows: list[Row]) -> None:
        rank = self._rank
        answer.take([(rank(row), row) for row in rows])

    def dismiss(self, parameters: Row) -> None:
        self._inner.dismiss(parameters)
        del self._members[parameters]

    def explain(self) -> Explanation:
        start, stop = self._extent.start, self._extent.stop
        until = "the end" if stop is None else str(stop)
        return Explanation("window", f"rows {start} to {until} of an ordered answer", True, (self._inner.explain(),))


def ranker(
    conditions: tuple[tuple[Expression, bool], ...], layout: Layout, seen: tuple[Var, ...], states: States
) -> Callable[[Row], _Rank]:
    """The order of rows: by the values of conditions, each of them descending or not, then by the columns that are
    seen, then by the others."""
    compiler = states.compiler(states.new)
    values = [(compiler.value(expression, layout), descending) for expression, descending in conditions]
    rest = picker([layout.index[variable] for variable in named(layout, seen)])

    def rank(row: Row) -> _Rank:
        keys = [_Descending(order_key(value(row))) if down else order_key(value(row)) for value, down in values]
        return (*keys, tiebreak(rest(row)))

    return rank
