"""Functions on numbers (SPARQL 1.1, 17.4.4). A result has the type of its argument; all integers are `xsd:integer`."""

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from tidings.model.terms import Term
from tidings.sparql.values import Number, decode, encode_number
from tidings.sparql.values.numerics import EXACT

_HALF = Decimal("0.5")


def absolute(term: Term) -> Term | None:
    value = decode(term)
    if type(value) is not Number:
        return None
    number = value.value
    return encode_number(Number(value.rank, number.copy_abs() if isinstance(number, Decimal) else abs(number)))


def _to_whole(term: Term, on_decimal: Callable[[Decimal], Decimal], on_real: Callable[[float], float]) -> Term | None:
    """A numeric term rounded to a whole number; NaN, the infinities and the sign of a zero stay as they are."""
    value = decode(term)
    if type(value) is not Number:
        return None
    number = value.value
    if isinstance(number, Decimal):
        return encode_number(Number(value.rank, on_decimal(number)))
    if isinstance(number, float) and math.isfinite(number):
        return encode_number(Number(value.rank, math.copysign(on_real(number), number)))
    return encode_number(value)


def ceiling(term: Term) -> Term | None:
    return _to_whole(term, lambda d: d.to_integral_value(ROUND_CEILING, EXACT), lambda x: float(math.ceil(x)))


def floor(term: Term) -> Term | None:
    return _to_whole(term, lambda d: d.to_integral_value(ROUND_FLOOR, EXACT), lambda x: float(math.floor(x)))


def round_half_up(term: Term) -> Term | None:
    """`ROUND`: to the nearest whole number, and from halfway to the greater one, as `fn:round`."""
    return _to_whole(term, lambda d: EXACT.add(d, _HALF).to_integral_value(ROUND_FLOOR, EXACT), _round_real)


def _round_real(value: float) -> float:
    whole = math.floor(value)
    return float(whole + (value - whole >= 0.5))  # value + 0.5 would round 0.49999999999999994 up
