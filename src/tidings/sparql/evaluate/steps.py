"""Steps of plans that handle rows one after the other: run other steps in turn, filter, extend, number, deduplicate."""

from collections.abc import Callable, Iterable, Iterator
from itertools import count

from tidings.model.terms import Var
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.expressions import Test, Value
from tidings.sparql.evaluate.layout import Plan, Row, Step, tiebreak

STACKED = 64
"""How many generators are nested: each is a nested call, and Python limits those."""


def in_turn(steps: list[Step], rows: Iterable[Row]) -> Iterator[Row]:
    """Each step on the rows of the one before."""
    for step in steps:
        rows = step(rows)
    return iter(rows)


def in_stages(steps: list[Step], context: Context, rows: Iterable[Row]) -> Iterator[Row]:
    """The same for any number of steps: it runs STACKED of them at a time, and holds the rows in between. Nothing runs
    before the caller asks for the first row."""
    for start in range(0, len(steps), STACKED):
        rows = list(context.hold(in_turn(steps[start : start + STACKED], rows)))
    yield from rows


def filtered(run: Step, test: Test, rows: Iterable[Row]) -> Iterator[Row]:
    return (row for row in run(rows) if test(row))


def extended(run: Step, value: Value, rows: Iterable[Row]) -> Iterator[Row]:
    return ((*row, value(row)) for row in run(rows))


def agreeing(plan: Plan, variable: Var, value: Value, rows: Iterable[Row]) -> Iterator[Row]:
    """The rows whose variable has this value, or is unbound and then gets it."""
    at = plan.layout.index[variable]
    for row in plan.run(rows):
        wanted = value(row)
        if row[at] is None:
            yield (*row[:at], wanted, *row[at + 1 :])
        elif row[at] == wanted:
            yield row


def numbered(run: Step, settle: Callable[[Row], Row], context: Context, rows: Iterable[Row]) -> Iterator[Row]:
    """Rows with a further cell, from which BNODE derives labels. It is unique among the solutions of all requests; in a
    stable context, it depends only on the solution, so that each evaluation has the same labels."""
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
