"""Joins of rows with a pattern evaluated on its own: by hash on the columns that are bound on both sides."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, product
from typing import TypeAlias, TypeVar

from tidings.model.terms import Var
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.expressions import Test
from tidings.sparql.evaluate.layout import ONE, Layout, Plan, Row, picker

Buckets: TypeAlias = dict[Row, list[Row]]
B = TypeVar("B")


MOST_LACKING = 3
"""Variables that rows may lack by which they are found: n are looked for under 2ⁿ keys."""


class Key:
    """Finds rows of the right by the cells of a row of the left: those that the right always has, and some of those
    that it may lack, if the left has them, or nothing else leads there. Where the left lacks one of them after all, a
    row is compared with every key there is."""

    __slots__ = ("_leans", "_left", "_sure", "of_right")

    def __init__(self, shared: Iterable[Var], left: Layout, right: Layout) -> None:
        both = list(shared)
        sure = [variable for variable in both if variable in right.certain]
        loose = [variable for variable in both if variable not in right.certain]
        variables = sure + [each for each in loose if not sure or each in left.certain][:MOST_LACKING]
        self._sure = len(sure)
        self._leans = not left.certain.issuperset(variables)
        self._left = picker([left.index[variable] for variable in variables])
        self.of_right = picker([right.index[variable] for variable in variables])

    def found(self, buckets: Mapping[Row, B], row: Row, context: Context | None = None) -> Iterable[B]:
        """The buckets of all rows that may go with one of the left. Within a context, its time limit holds."""
        key, sure = self._left(row), self._sure
        if self._leans and None in key:
            all_of_them = iter(buckets.items())
            looked_at = all_of_them if context is None else context.timed(all_of_them)
            return [bucket for at, bucket in looked_at if agree(key, at)]
        if sure == len(key):
            bucket = buckets.get(key)
            return () if bucket is None else (bucket,)
        lacking = product(*((cell, None) for cell in key[sure:]))
        return [bucket for rest in lacking if (bucket := buckets.get(key[:sure] + rest)) is not None]


def agree(key: Row, other: Row) -> bool:
    """Whether no cell is another where both are bound."""
    return all(mine is None or theirs is None or mine == theirs for mine, theirs in zip(key, other, strict=True))


class Meeting:
    """How rows of two layouts meet: their key columns, the columns to compare, and the merged row."""

    __slots__ = ("_loose", "_news", "key", "layout")

    def __init__(self, left: Layout, right: Layout) -> None:
        shared = [variable for variable in left.variables if variable in right.index]
        sure = left.certain & right.certain
        self.key = Key(shared, left, right)
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
        key = self.key.of_right
        found: Buckets = {}
        for row in rows:
            found.setdefault(key(row), []).append(row)
        return found

    def matches(self, buckets: Buckets, row: Row, context: Context) -> Iterator[Row]:
        for bucket in self.key.found(buckets, row, context):
            for candidate in context.timed(iter(bucket)) if self._loose else bucket:
                merged = self.merged(row, candidate)
                if merged is not None:
                    yield merged


def hash_join(layout: Layout, right: Plan, context: Context) -> Plan:
    """Rows of a layout with the rows of a plan that starts from nothing."""
    meeting = Meeting(layout, right.layout)

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        buckets = meeting.buckets(context.hold(right.run(ONE)))
        for row in rows:
            yield from meeting.matches(buckets, row, context)

    return Plan(meeting.layout, run)


def rejoin(layout: Layout, start: Layout, right: Plan, context: Context) -> Plan:
    """Rows of a layout with the rows of a plan that starts from those columns of theirs which `start` has."""
    pick = picker([layout.index[variable] for variable in start.variables])
    meeting = Meeting(layout, right.layout)

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            yield from meeting.matches(meeting.buckets(right.run((pick(row),))), row, context)

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
            for extended in meeting.matches(buckets, row, context):
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
    key = Key(shared, left.layout, right.layout)

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        buckets: dict[Row, dict[Row, None]] = {}
        for row in context.hold(right.run(ONE)):
            buckets.setdefault(key.of_right(row), {})[theirs(row)] = None
        for row in left.run(rows):
            mine = ours(row)
            if mine.count(None) == len(mine):
                yield row  # nothing excludes it, whatever there is
                continue
            others = chain.from_iterable(key.found(buckets, row, context))
            if not excluded(mine, context.timed(others)):
                yield row

    return Plan(left.layout, run)


def asked_minus(left: Plan, right: Plan, start: Layout, shared: list[Var], context: Context) -> Plan:
    """MINUS inside EXISTS: the right side sees those columns of a row which `start` has, those of the row that asks."""
    asker = picker([left.layout.index[variable] for variable in start.variables])
    ours = picker([left.layout.index[variable] for variable in shared])
    theirs = picker([right.layout.index[variable] for variable in shared])

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        asked: Row | None = None
        others: dict[Row, None] = {}
        for row in left.run(rows):
            if asker(row) != asked:  # one row asks at a time, mostly
                asked = asker(row)
                others = dict.fromkeys(map(theirs, context.hold(right.run((asked,)))))
            if not excluded(ours(row), others):
                yield row

    return Plan(left.layout, run)


def excluded(row: Row, others: Iterable[Row]) -> bool:
    """Whether any of the others excludes a row, all over the same variables."""
    return row.count(None) < len(row) and any(excludes(row, other) for other in others)


def excludes(row: Row, other: Row) -> bool:
    """Whether two rows over the same variables are compatible and share a bound one."""
    overlap = False
    for mine, theirs in zip(row, other, strict=True):
        if mine is not None and theirs is not None:
            if mine != theirs:
                return False
            overlap = True
    return overlap
