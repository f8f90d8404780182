"""The operators `+ - * /` on terms (SPARQL 1.1, 17.3), and on numbers, for the accumulators of aggregates.

Operands are promoted to the greater rank of the two: integer < decimal < float < double. Integers divide to a decimal.
To divide an integer or a decimal by zero is an error; a float or a double gives an infinity or NaN.
"""

import math
import operator
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from tidings.model.terms import Term
from tidings.sparql.values.decode import decode
from tidings.sparql.values.encode import encode_duration, encode_moment, encode_number
from tidings.sparql.values.kinds import DECIMAL, FLOAT, INTEGER, DateTime, Duration, Number
from tidings.sparql.values.numerics import EXACT, quotient, to_rank, to_single
from tidings.sparql.values.temporal import add_durations, between, negate_duration, ratio, scale, shift


def _combine(x: Number, y: Number, on_real: Callable[[Any, Any], Any], on_decimal: Callable[[Any, Any], Any]) -> Number:
    rank = x.rank if x.rank > y.rank else y.rank
    if rank == INTEGER:
        return Number(INTEGER, on_real(x.value, y.value))
    if rank == DECIMAL:
        return Number(DECIMAL, on_decimal(x.value, y.value))
    result = on_real(to_rank(x, rank), to_rank(y, rank))
    return Number(rank, to_single(result) if rank == FLOAT else result)


def add_numbers(x: Number, y: Number) -> Number:
    return _combine(x, y, operator.add, EXACT.add)


def subtract_numbers(x: Number, y: Number) -> Number:
    return _combine(x, y, operator.sub, EXACT.subtract)


def multiply_numbers(x: Number, y: Number) -> Number:
    return _combine(x, y, operator.mul, EXACT.multiply)


def divide_numbers(x: Number, y: Number) -> Number | None:
    if x.rank <= DECIMAL and y.rank <= DECIMAL:
        assert not isinstance(x.value, float)
        assert not isinstance(y.value, float)
        return Number(DECIMAL, quotient(x.value, y.value)) if y.value else None
    return _combine(x, y, _divide_reals, _divide_reals)


def _divide_reals(over: float, under: float) -> float:
    if under:
        return over / under
    if not over or math.isnan(over):
        return math.nan
    return math.copysign(math.inf, over) * math.copysign(1.0, under)


def negate_number(x: Number) -> Number:
    return Number(x.rank, x.value.copy_negate() if isinstance(x.value, Decimal) else -x.value)


def _moment_term(moment: DateTime | None) -> Term | None:
    return None if moment is None else encode_moment(moment)


def _duration_term(duration: Duration | None) -> Term | None:
    return None if duration is None else encode_duration(duration)


def add(left: Term, right: Term) -> Term | None:
    match decode(left), decode(right):
        case ((Number() as x), (Number() as y)):
            return encode_number(add_numbers(x, y))
        case ((DateTime() as moment), (Duration() as by)) | ((Duration() as by), (DateTime() as moment)):
            return _moment_term(shift(moment, by))
        case ((Duration() as x), (Duration() as y)):
            return _duration_term(add_durations(x, y))
        case _:
            return None


def subtract(left: Term, right: Term) -> Term | None:
    match decode(left), decode(right):
        case ((Number() as x), (Number() as y)):
            return encode_number(subtract_numbers(x, y))
        case ((DateTime() as moment), (Duration() as by)):
            return _moment_term(shift(moment, negate_duration(by)))
        case ((DateTime() as later), (DateTime() as earlier)):
            return _duration_term(between(later, earlier))
        case ((Duration() as x), (Duration() as y)):
            return _duration_term(add_durations(x, negate_duration(y)))
        case _:
            return None


def multiply(left: Term, right: Term) -> Term | None:
    match decode(left), decode(right):
        case ((Number() as x), (Number() as y)):
            return encode_number(multiply_numbers(x, y))
        case ((Duration() as duration), (Number() as factor)) | ((Number() as factor), (Duration() as duration)):
            return _duration_term(scale(duration, factor))
        case _:
            return None


def divide(left: Term, right: Term) -> Term | None:
    match decode(left), decode(right):
        case ((Number() as x), (Number() as y)):
            return encode_number(divide_numbers(x, y))
        case ((Duration() as duration), (Number() as divisor)):
            return _duration_term(scale(duration, divisor, divide=True))
        case ((Duration() as x), (Duration() as y)):
            return encode_number(ratio(x, y))
        case _:
            return None


def negate(term: Term) -> Term | None:
    """The unary `-`."""
    value = decode(term)
    return encode_number(negate_number(value)) if type(value) is Number else None


def plus(term: Term) -> Term | None:
    """The unary `+`: the number as it is, in its own numeric type."""
    value = decode(term)
    return encode_number(value) if type(value) is Number else None
