"""Joins of rows with a pattern that is evaluated separately, mostly by hash on shared columns."""

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
"""How many of the variables in a key may be unbound on the right: for n of them, a look-up tries 2ⁿ keys."""


class Key:
    """Finds the buckets of right rows that may join with a left row. The key has the shared variables that every right
    row binds, and up to MOST_LACKING others: those that every left row binds, or any if there are no sure ones. A left
    row that lacks a cell of the key is compared with every key."""

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
        """The buckets of all right rows that may join with a left row, under the time limit of the context, if any."""
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
    """Whether two rows have equal cells wherever both are bound."""
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
        """The merged row; None if the rows are not compatible. The caller has checked that their keys agree."""
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
    """Joins rows of a layout with the rows of a plan that starts from one empty row."""
    meeting = Meeting(layout, right.layout)

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        buckets = meeting.buckets(context.hold(right.run(ONE)))
        for row in rows:
            yield from meeting.matches(buckets, row, context)

    return Plan(meeting.layout, run)


def rejoin(layout: Layout, start: Layout, right: Plan, context: Context) -> Plan:
    """Joins each row of a layout with the rows of a plan that starts from its columns in `start`."""
    pick = picker([layout.index[variable] for variable in start.variables])
    meeting = Meeting(layout, right.layout)

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            yield from meeting.matches(meeting.buckets(right.run((pick(row),))), row, context)

    return Plan(meeting.layout, run)


def left_join(left: Plan, right: Plan, test: Test | None) -> Plan:
    """OPTIONAL whose right side extends one left row at a time."""
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
    """OPTIONAL whose right side is evaluated once, separately."""
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
    """MINUS in general: it removes a row if a compatible right row shares at least one bound variable with it."""
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
                yield row  # without a bound shared variable, no right row excludes it
                continue
            others = chain.from_iterable(key.found(buckets, row, context))
            if not excluded(mine, context.timed(others)):
                yield row

    return Plan(left.layout, run)


def asked_minus(left: Plan, right: Plan, start: Layout, shared: list[Var], context: Context) -> Plan:
    """MINUS inside EXISTS: the right side sees the columns in `start`, whose values the outer row substitutes."""
    asker = picker([left.layout.index[variable] for variable in start.variables])
    ours = picker([left.layout.index[variable] for variable in shared])
    theirs = picker([right.layout.index[variable] for variable in shared])

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        asked: Row | None = None
        others: dict[Row, None] = {}
        for row in left.run(rows):
            if asker(row) != asked:  # mostly, all rows of one run have the same outer row
                asked = asker(row)
                others = dict.fromkeys(map(theirs, context.hold(right.run((asked,)))))
            if not excluded(ours(row), others):
                yield row

    return Plan(left.layout, run)


def excluded(row: Row, others: Iterable[Row]) -> bool:
    """Whether any of the other rows, which have the same variables, excludes a row."""
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
