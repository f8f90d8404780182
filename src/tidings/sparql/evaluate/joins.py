"""Joins of rows with a pattern evaluated on its own: by hash on the columns that are bound on both sides."""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from tidings.model.terms import Var
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.expressions import Test
from tidings.sparql.evaluate.layout import ONE, Layout, Plan, Row, picker

Buckets: TypeAlias = dict[Row, list[Row]]


class Meeting:
    """How rows of two layouts meet: their key columns, the columns to compare, and the merged row."""

    __slots__ = ("_loose", "_news", "layout", "left_key", "right_key")

    def __init__(self, left: Layout, right: Layout) -> None:
        shared = [variable for variable in left.variables if variable in right.index]
        sure = [variable for variable in shared if variable in left.certain and variable in right.certain]
        self.left_key = picker([left.index[variable] for variable in sure])
        self.right_key = picker([right.index[variable] for variable in sure])
        self._loose = [(left.index[v], right.index[v]) for v in shared if v not in sure]
        news = [variable for variable in right.variables if variable not in left.index]
        self._news = picker([right.index[variable] for variable in news])
        self.layout = left.extended(news, right.certain)

    def merged(self, left: Row, right: Row) -> Row | None:
        """Both rows as one; None if they are not compatible. Their keys are known to agree."""
        if not self._loose:
            return left + self._news(right)
        cells = list(left)
        for mine, other in self._loose:
            value = right[other]
            if value is not None:
                if cells[mine] is None:
                    cells[mine] = value
                elif cells[mine] != value:
                    return None
        return tuple(cells) + self._news(right)

    def buckets(self, rows: Iterable[Row]) -> Buckets:
        key = self.right_key
        found: Buckets = {}
        for row in rows:
            found.setdefault(key(row), []).append(row)
        return found

    def matches(self, buckets: Buckets, row: Row) -> Iterator[Row]:
        for candidate in buckets.get(self.left_key(row), ()):
            merged = self.merged(row, candidate)
            if merged is not None:
                yield merged


def hash_join(layout: Layout, right: Plan, context: Context) -> Plan:
    """Rows of a layout with the rows of a plan that starts from nothing."""
    meeting = Meeting(layout, right.layout)

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        buckets = meeting.buckets(context.hold(right.run(ONE)))
        for row in rows:
            yield from meeting.matches(buckets, row)

    return Plan(meeting.layout, run)


def rejoin(layout: Layout, start: Layout, right: Plan) -> Plan:
    """Rows of a layout with the rows of a plan that starts from those columns of theirs which `start` has."""
    pick = picker([layout.index[variable] for variable in start.variables])
    meeting = Meeting(layout, right.layout)

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            yield from meeting.matches(meeting.buckets(right.run((pick(row),))), row)

    return Plan(meeting.layout, run)


def left_join(left: Plan, right: Plan, test: Test | None) -> Plan:
    """OPTIONAL, the right side extending one left row at a time."""
    padding = (None,) * (len(right.layout.variables) - len(left.layout.variables))

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        extend = right.run
        for row in left.run(rows):
            alone = True
            for extended in extend((row,)):
                if test is None or test(extended):
                    alone = False
                    yield extended
            if alone:
                yield row + padding

    return Plan(Layout(right.layout.variables, left.layout.certain), run)


def hash_left_join(left: Plan, right: Plan, test: Test | None, meeting: Meeting, context: Context) -> Plan:
    """OPTIONAL, the right side evaluated on its own."""
    padding = (None,) * (len(meeting.layout.variables) - len(left.layout.variables))

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        buckets = meeting.buckets(context.hold(right.run(ONE)))
        for row in left.run(rows):
            alone = True
            for extended in meeting.matches(buckets, row):
                if test is None or test(extended):
                    alone = False
                    yield extended
            if alone:
                yield row + padding

    return Plan(Layout(meeting.layout.variables, left.layout.certain), run)


def anti_join(left: Plan, right: Plan, shared: list[Var]) -> Plan:
    """MINUS where the right side can be evaluated from the shared columns, all of them bound on both sides."""
    key = picker([left.layout.index[variable] for variable in shared])

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        extend = right.run
        for row in left.run(rows):
            if next(iter(extend((key(row),))), None) is None:
                yield row

    return Plan(left.layout, run)


def hash_minus(left: Plan, right: Plan, shared: list[Var], context: Context) -> Plan:
    """MINUS in general: a row goes if a compatible row of the right shares at least one bound variable with it."""
    ours = picker([left.layout.index[variable] for variable in shared])
    theirs = picker([right.layout.index[variable] for variable in shared])
    sure = [i for i, v in enumerate(shared) if v in left.layout.certain and v in right.layout.certain]
    key = picker(sure)

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        buckets: dict[Row, dict[Row, None]] = {}
        for row in context.hold(right.run(ONE)):
            cells = theirs(row)
            buckets.setdefault(key(cells), {})[cells] = None
        for row in left.run(rows):
            cells = ours(row)
            if not any(excludes(cells, other) for other in buckets.get(key(cells), ())):
                yield row

    return Plan(left.layout, run)


def excludes(row: Row, other: Row) -> bool:
    """Whether two rows over the same variables are compatible and share a bound one."""
    overlap = False
    for mine, theirs in zip(row, other, strict=True):
        if mine is not None and theirs is not None:
            if mine != theirs:
                return False
            overlap = True
    return overlap
