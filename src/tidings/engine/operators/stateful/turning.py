"""The instants at which a comparison with NOW() may change its outcome, and has to be evaluated again.

    NOW() ± a  <  b        a a duration, b a moment:   at  b ∓ a
    NOW() - a  <  b        a a moment, b a duration:   at  a + b
    a - NOW()  <  b        a a moment, b a duration:   at  a - b
    YEAR(NOW()) and the like, wherever they stand:     when the next year begins

The comparison itself decides whether its outcome changes then: there may be too many instants, but never too few. A
moment with a timezone and one without are incomparable within fourteen hours: the outcome may change at either end.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal

from msgspec import Struct

from tidings.model.terms import XSD, Term
from tidings.sparql.algebra import Arithmetic, Call, Compare, Exists, Expression, operands
from tidings.sparql.evaluate.calls import is_momentary
from tidings.sparql.evaluate.layout import Row
from tidings.sparql.values import decode
from tidings.sparql.values.civil import DAY, civil_from_days, days_from_civil
from tidings.sparql.values.durations import lengths
from tidings.sparql.values.kinds import DateTime, Duration
from tidings.sparql.values.moments import at_local
from tidings.sparql.values.numerics import EXACT
from tidings.sparql.values.temporal import negate_duration, shift

_SECOND = Decimal(1_000_000)
_DATE = f"<{XSD}date>"
_FOURTEEN_HOURS = Decimal(14 * 3_600)


class Atom(Struct, frozen=True):
    """A comparison of NOW(), NOW() + operand, NOW() - operand or operand - NOW() with another expression."""

    other: Expression
    """The expression that it is compared with."""
    sign: str = ""
    """`+` or `-` if the operand is added to NOW() or subtracted from it; `from` if NOW() is subtracted from that."""
    operand: Expression | None = None


class Part(Struct, frozen=True):
    """A part of NOW() that stays the same for a while, such as the year."""

    function: str


_LASTING = frozenset({"YEAR", "MONTH", "DAY", "HOURS", "MINUTES", _DATE})


def part_of(expression: Expression) -> Part | None:
    """A part of NOW(); None if it is none."""
    match expression:
        case Call(function, (Call("NOW"),)) if function in _LASTING:
            return Part(function)
        case _:
            return None


def atom_of(expression: Expression) -> Atom | None:
    """A comparison as an atom; None if it is none."""
    if not isinstance(expression, Compare):
        return None
    left, right = expression.left, expression.right
    if is_momentary(left) is is_momentary(right):
        return None
    timed, other = (left, right) if is_momentary(left) else (right, left)
    match timed:
        case Call("NOW"):
            return Atom(other)
        case Arithmetic(Call("NOW"), (((("+" | "-") as sign), operand),)) if not is_momentary(operand):
            return Atom(other, sign, operand)
        case Arithmetic(operand, (("-", Call("NOW")),)) if not is_momentary(operand):
            return Atom(other, "from", operand)
        case _:
            return None


def turns(expression: Expression) -> bool:
    """Whether an expression depends on the moment only by comparisons with NOW() and lasting parts of it, if at all."""
    if isinstance(expression, Exists):
        return False
    if not is_momentary(expression) or atom_of(expression) is not None or part_of(expression) is not None:
        return True
    parts = operands(expression)
    return (
        bool(parts) and not (isinstance(expression, Call) and expression.function == "NOW") and all(map(turns, parts))
    )


def parts(expression: Expression) -> Iterator[Part]:
    """The lasting parts of NOW() in an expression."""
    found = part_of(expression)
    if found is not None:
        yield found
    for part in operands(expression):
        yield from parts(part)


def next_part(found: Iterable[Part], now: int) -> int | None:
    """The first instant after now at which one of the parts changes."""
    return min((_beginning(part.function, now) for part in found), default=None)


def _beginning(function: str, now: int) -> int:
    """When the next year, month, day, hour or minute begins, in microseconds since 1970."""
    minutes = now // 60_000_000 + 1
    if function == "MINUTES":
        return minutes * 60_000_000
    if function == "HOURS":
        return (now // 3_600_000_000 + 1) * 3_600_000_000
    today = now // (DAY * 1_000_000)
    if function in {"DAY", _DATE}:
        return (today + 1) * DAY * 1_000_000
    year, month, _ = civil_from_days(today)
    year, month = (year + 1, 1) if function == "YEAR" or month == 12 else (year, month + 1)
    return days_from_civil(year, month, 1) * DAY * 1_000_000


def atoms(expression: Expression) -> Iterator[Atom]:
    """The comparisons with NOW() in an expression."""
    found = atom_of(expression)
    if found is not None:
        yield found
        return
    for part in operands(expression):
        yield from atoms(part)


Values = tuple[Callable[[Row], Term | None], Callable[[Row], Term | None] | None]
"""Functions from a row to the value that an atom compares with, and to its operand, if it has one."""


def next_turning(found: Iterable[tuple[Atom, Values]], row: Row, now: int) -> int | None:
    """The first instant after now at which the outcome of one of the comparisons may change for a row."""
    earliest: int | None = None
    for atom, (other, operand) in found:
        compared, by = other(row), None if operand is None else operand(row)
        if compared is None or (operand is not None and by is None):
            continue
        for seconds in _instants(atom, decode(compared), None if by is None else decode(by), now):
            micros = EXACT.multiply(seconds, _SECOND)
            for at in (math.ceil(micros), math.floor(micros) + 1):
                if at > now and (earliest is None or at < earliest):
                    earliest = at
    return earliest


def _instants(atom: Atom, other: object, operand: object, now: int) -> Iterator[Decimal]:
    """The instants at which the outcome of a comparison may change, in seconds since 1970."""
    match atom.sign, operand, other:
        case "", None, DateTime("dateTime"):
            yield from _around(other, other.instant)
        case (("+" | "-"), Duration(), DateTime("dateTime")):
            yield from _shifted(operand if atom.sign == "+" else negate_duration(operand), other, now)
        case "-", DateTime("dateTime"), Duration():
            yield from (EXACT.add(operand.instant, length) for length in (other.seconds, *lengths(other)))
        case "from", DateTime("dateTime"), Duration():
            yield from (EXACT.subtract(operand.instant, length) for length in (other.seconds, *lengths(other)))
        case _:
            return  # an error at every instant


def _shifted(by: Duration, other: DateTime, now: int) -> Iterator[Decimal]:
    """The length of months depends on the day, so the comparison is looked at again when the next day begins."""
    seconds = EXACT.divide(Decimal(now), _SECOND)
    present = at_local("dateTime", seconds, 0)
    later = shift(present, by)
    if later is not None:
        yield from _around(other, EXACT.subtract(other.instant, EXACT.subtract(later.instant, seconds)))
    if by.months:
        yield Decimal((math.floor(seconds) // DAY + 1) * DAY)


def _around(moment: DateTime, instant: Decimal) -> Iterator[Decimal]:
    yield instant
    if moment.offset is None:
        yield EXACT.subtract(instant, _FOURTEEN_HOURS)
        yield EXACT.add(instant, _FOURTEEN_HOURS)
