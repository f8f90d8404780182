"""Numbers: their lexical forms, XPath promotion and exact decimal arithmetic.

No context rounds decimals: an operand has at most `MAX_DIGITS` digits, so that a sum or a product always fits `EXACT`.
A number with more digits is beyond this implementation: a literal then has no known value, and a result is an overflow
(FOAR0002), an error.
"""

import math
import re
import struct
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Context, Decimal

from tidings.sparql.values.kinds import DECIMAL, DOUBLE, FLOAT, INTEGER, Number

MAX_DIGITS = 4_000
"""Below the limit that CPython sets on conversions between int and str."""

EXACT = Context(prec=3 * MAX_DIGITS, rounding=ROUND_HALF_EVEN, traps=[])

_QUOTIENT_DIGITS = 28
_INTEGER = re.compile(r"[+-]?[0-9]+").fullmatch
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)").fullmatch
_REAL = re.compile(r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|INF)|NaN").fullmatch
_SINGLE = struct.Struct("f")

INTEGER_BOUNDS: dict[str, tuple[int | None, int | None]] = {
    "integer": (None, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
    "long": (-(2**63), 2**63 - 1),
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-(2**7), 2**7 - 1),
    "nonNegativeInteger": (0, None),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 2**8 - 1),
    "positiveInteger": (1, None),
}
"""The least and the greatest value of `xsd:integer` and of each type derived from it, by local name."""


def within(value: int, local_name: str) -> bool:
    """Whether an integer belongs to a type derived from `xsd:integer`."""
    least, greatest = INTEGER_BOUNDS[local_name]
    return (least is None or value >= least) and (greatest is None or value <= greatest)


def integer_parser(local_name: str) -> Callable[[str], Number | None]:
    bounded = INTEGER_BOUNDS[local_name] != (None, None)

    def parse(text: str) -> Number | None:
        if not _INTEGER(text) or len(text) > MAX_DIGITS:
            return None
        value = int(text)
        return None if bounded and not within(value, local_name) else Number(INTEGER, value)

    return parse


def parse_decimal(text: str) -> Number | None:
    if not _DECIMAL(text) or len(text) > MAX_DIGITS:
        return None
    return Number(DECIMAL, Decimal(text))


def parse_double(text: str) -> Number | None:
    return Number(DOUBLE, float(text)) if _REAL(text) else None


def parse_float(text: str) -> Number | None:
    return Number(FLOAT, to_single(float(text))) if _REAL(text) else None


def to_single(value: float) -> float:
    """The nearest IEEE single, or infinity."""
    try:
        (rounded,) = _SINGLE.unpack(_SINGLE.pack(value))
    except OverflowError:
        return math.copysign(math.inf, value)
    return float(rounded)


def to_double(value: int | Decimal | float) -> float:
    """The nearest IEEE double, or infinity."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def to_rank(number: Number, rank: int) -> float:
    """A number promoted to FLOAT or DOUBLE, as an operand."""
    value = number.value
    if type(value) is float:
        return value
    return to_double(value) if rank == DOUBLE else to_single(to_double(value))


def is_nan(number: Number) -> bool:
    return number.rank >= FLOAT and math.isnan(number.value)


def quotient(left: int | Decimal, right: int | Decimal) -> Decimal:
    """Left divided by right (not zero), to 28 significant digits, and at least 18 after the point."""
    over, under = Decimal(left), Decimal(right)
    whole_digits = max(0, over.adjusted() - under.adjusted() + 1)
    return Context(prec=max(_QUOTIENT_DIGITS, whole_digits + 20), traps=[]).divide(over, under)


def write_decimal(value: Decimal) -> str:
    """The XSD 1.1 canonical form: no exponent, no needless zeros, no point after a whole number."""
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def shortest_digits(value: float, rank: int) -> str:
    """The fewest digits that are read back as this finite double or single."""
    if rank == DOUBLE:
        return repr(value)
    candidates = (f"{value:.{digits}g}" for digits in range(1, 9))
    return next((text for text in candidates if to_single(float(text)) == value), f"{value:.9g}")


def write_real(value: float, rank: int) -> str:
    """The XSD canonical form of a double or a float: `1.5E3`, `INF`, `-INF`, `NaN`."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"
    mantissa, _, power = shortest_digits(abs(value), rank).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return "-0.0E0" if math.copysign(1.0, value) < 0 else "0.0E0"
    exponent = int(power or 0) + len(digits) - len(fraction) - 1
    significant = digits.rstrip("0")
    return f"{'-' if value < 0 else ''}{significant[0]}.{significant[1:] or '0'}E{exponent}"


def write_number(number: Number) -> str | None:
    """The canonical lexical form; None for an overflow."""
    value = number.value
    if isinstance(value, float):
        return write_real(value, number.rank)
    try:
        text = str(value) if isinstance(value, int) else write_decimal(value)
    except ValueError:
        return None
    return text if len(text) <= MAX_DIGITS else None
