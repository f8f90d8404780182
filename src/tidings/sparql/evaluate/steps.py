"""What plans do to rows one after the other: test, extend, number, and tell apart."""

from collections.abc import Callable, Iterable, Iterator
from itertools import count

from tidings.model.terms import Var
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.expressions import Test, Value
from tidings.sparql.evaluate.layout import Plan, Row, Step, tiebreak

_STACKED = 64


def in_turn(steps: list[Step], context: Context, rows: Iterable[Row]) -> Iterator[Row]:
    """Each step on the rows of the one before; generators are not stacked higher than Python can climb."""
    for number, step in enumerate(steps, start=1):
        rows = step(rows)
        if number % _STACKED == 0:
            rows = list(context.hold(rows))
    return iter(rows)


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
