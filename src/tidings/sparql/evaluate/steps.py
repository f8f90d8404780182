"""What plans do to rows one after the other: test, extend, number, and tell apart."""

from collections.abc import Callable, Iterable, Iterator
from itertools import count

from tidings.model.terms import Var
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.expressions import Test, Value
from tidings.sparql.evaluate.layout import Plan, Row, Step, tiebreak

STACKED = 64
"""Generators are not stacked higher than Python can climb."""


def in_turn(steps: list[Step], rows: Iterable[Row]) -> Iterator[Row]:
    """Each step on the rows of the one before."""
    for step in steps:
        rows = step(rows)
    return iter(rows)


def in_stages(steps: list[Step], context: Context, rows: Iterable[Row]) -> Iterator[Row]:
    """The same for any number of steps, some of them at a time; nothing is done before the first row is asked for."""
    for start in range(0, len(steps), STACKED):
        rows = list(context.hold(in_turn(steps[start : start + STACKED], rows)))
    yield from rows


def filtered(run: Step, test: Test, rows: Iterable[Row]) -> Iterator[Row]:
    return (row for row in run(rows) if test(row))


def extended(run: Step, value: Value, rows: Iterable[Row]) -> Iterator[Row]:
    return ((*row, value(row)) for row in run(rows))


def agreeing(plan: Plan, variable: Var, value: Value, rows: Iterable[Row]) -> Iterator[Row]:
    """Rows that have the value of a constant for a variable, or nothing yet."""
    at = plan.layout.index[variable]
    for row in plan.run(rows):
        wanted = value(row)
        if row[at] is None:
            yield (*row[:at], wanted, *row[at + 1 :])
        elif row[at] == wanted:
            yield row


def numbered(run: Step, settle: Callable[[Row], Row], context: Context, rows: Iterable[Row]) -> Iterator[Row]:
    """Rows with a number that no other solution of any request has, or with one that the same solution always has."""
    if context.stable:
        return ((*row, " ".join(tiebreak(settle(row)))) for row in run(rows))
    scope = context.moment.fresh_blank()
    numbers = count()
    return ((*row, f"{scope} {next(numbers)}") for row in run(rows))


def distinct(run: Step, context: Context, rows: Iterable[Row]) -> Iterator[Row]:
    seen: set[Row] = set()

    def fresh() -> Iterator[Row]:
        for row in run(rows):
            if row not in seen:
                seen.add(row)
                yield row

    return iter(context.hold(fresh()))
