"""One side of a join: its changes, its rows before a commit, and its rows kept by the columns both sides share.

If a side can be evaluated from rows of the other, the join looks it up in the store, and keeps nothing. A sub-SELECT
with an aggregate or a LIMIT cannot; its rows are kept, from the first commit on that needs them.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import Struct

from tidings.engine.operators.base import Aligned, Changes, Hits, Operator, States
from tidings.engine.operators.members import Members
from tidings.model.zset import absorb, add
from tidings.sparql.algebra import Node
from tidings.sparql.evaluate.joins import Meeting
from tidings.sparql.evaluate.layout import EMPTY, ONE, Layout, Row, picker


class Side(Struct, frozen=True, eq=False):
    """An operator, the pattern that it keeps up to date and, if its rows carry parameters, the members."""

    operator: Operator
    node: Node
    members: Members | None = None

    @property
    def layout(self) -> Layout:
        return self.operator.layout

    @property
    def version(self) -> int:
        """Changes whenever members come or go, and their rows with them."""
        return 0 if self.members is None else self.members.version

    def delta(self, hits: Hits) -> Changes:
        """The changed rows that belong to members; the operator may find others, too."""
        return self.of_members(self.operator.delta(hits))

    def of_members(self, changes: Changes) -> Changes:
        """Those of some changed rows that belong to a member."""
        if self.members is None or not changes:
            return changes
        tuples = self.members.tuples
        member = picker([self.layout.index[variable] for variable in self.members.variables])
        return {row: weight for row, weight in changes.items() if member(row) in tuples}

    def rows_before(self, states: States) -> list[Row]:
        """All rows before the commit, by full evaluation. This is not counted as work of the delta, because it happens
        only once. Raises Overrun."""
        given, rows = EMPTY, ONE
        if self.members is not None:
            given = Layout(self.members.variables, frozenset(self.members.variables))
            rows = tuple(self.members.tuples)
        aligned = Aligned(lambda: states.plan(self.node, states.old, given), self.layout, states.epoch)
        return states.meter.apart(lambda: list(aligned.run(rows)))[0]


class Filed:
    """An index of the rows of a side by some of their columns. The first commit that needs it builds it."""

    __slots__ = ("_key", "_side", "_states", "_version", "buckets")

    def __init__(self, key: Callable[[Row], Row], side: Side, states: States) -> None:
        self._key = key
        self._side = side
        self._states = states
        self._version = 0
        self.buckets: dict[Row, Changes] | None = None
        """The rows with their counts, by key; None if the index is not built."""
        states.caches.append(self)

    def begin(self) -> None:
        """Build the index from the rows before the commit, unless it is built and valid."""
        if self.buckets is None or self._version != self._side.version:
            self._version = self._side.version
            self.buckets = {}
            rows: Changes = {}
            absorb(rows, ((row, 1) for row in self._side.rows_before(self._states)))
            self.absorb(rows)

    def forget(self) -> None:
        """Drop the index. It is built again when it is needed."""
        self.buckets = None

    def items(self) -> Iterable[Any]:
        """A marker that the index is built, then the rows."""
        if self.buckets is not None and self._version == self._side.version:
            yield True
            for bucket in self.buckets.values():
                yield from bucket.items()

    def extend(self, items: list[Any]) -> None:
        if self.buckets is None:
            self.buckets = {}
            del items[0]
        self.absorb(dict(items))

    def complete(self) -> None:
        self._version = self._side.version

    def absorb(self, changes: Changes) -> None:
        """Apply changes of the side to the index, if it is built."""
        buckets, key = self.buckets, self._key
        if buckets is None:
            return
        for row, weight in changes.items():
            at = key(row)
            bucket = buckets.get(at)
            if bucket is None:
                bucket = buckets[at] = {}
            add(bucket, row, weight)
            if not bucket:
                del buckets[at]


class Kept:
    """The kept rows of a side, to be joined with rows of another layout."""

    __slots__ = ("_meeting", "layout", "rows")

    def __init__(self, given: Layout, side: Side, states: States) -> None:
        self._meeting = Meeting(given, side.layout)
        self.layout = self._meeting.layout
        self.rows = Filed(self._meeting.key.of_right, side, states)

    def candidates(self, row: Row) -> Iterator[tuple[Row, int]]:
        """The kept rows that agree in the key with a row of the other layout, with their counts."""
        assert self.rows.buckets is not None
        for bucket in self._meeting.key.found(self.rows.buckets, row):
            yield from bucket.items()

    def matches(self, row: Row) -> Iterator[tuple[Row, int]]:
        """A row of the other layout joined with each compatible kept row, with the count of that row."""
        merged = self._meeting.merged
        for candidate, count in self.candidates(row):
            together = merged(row, candidate)
            if together is not None:
                yield together, count
