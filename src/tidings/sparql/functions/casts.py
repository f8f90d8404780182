"""Constructor functions of XSD types (SPARQL 1.1, 17.5; XPath and XQuery Functions and Operators, section 17).

From a string, a cast reads the lexical form, less the space around it; from another type it converts the value. A
language-tagged string, an IRI and a literal of unknown value can only become a string.
"""

import math
from collections.abc import Callable
from decimal import Decimal
from typing import assert_never

from tidings.model.terms import XSD, Term, is_blank, lexical_form, literal
from tidings.sparql.functions.catalogue import Function
from tidings.sparql.values import (
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER,
    Boolean,
    DateTime,
    Duration,
    Number,
    Text,
    Value,
    decode,
    encode,
)
from tidings.sparql.values.civil import DAY
from tidings.sparql.values.decode import PARSERS
from tidings.sparql.values.kinds import DateTimeKind, DurationKind
from tidings.sparql.values.moments import REFERENCE_DAY, at_local, build, local_seconds
from tidings.sparql.values.numerics import (
    EXACT,
    INTEGER_BOUNDS,
    is_nan,
    shortest_digits,
    to_double,
    to_single,
    within,
    write_decimal,
    write_real,
)

_Convert = Callable[[Value], Value | None]
_SPACE = " \t\n\r"


def _number(rank: int) -> _Convert:
    def convert(value: Value) -> Value | None:
        match value:
            case Boolean(truth):
                return _as_rank(Number(INTEGER, int(truth)), rank)
            case Number():
                return _as_rank(value, rank)
            case _:
                return None

    return convert


def _as_rank(number: Number, rank: int) -> Number | None:
    if rank in (FLOAT, DOUBLE):
        real = to_double(number.value)
        return Number(rank, to_single(real) if rank == FLOAT else real)
    if isinstance(number.value, float) and not math.isfinite(number.value):
        return None
    return Number(rank, int(number.value) if rank == INTEGER else Decimal(number.value))


def _integer(local_name: str) -> _Convert:
    to_integer = _number(INTEGER)

    def convert(value: Value) -> Value | None:
        number = to_integer(value)
        return number if isinstance(number, Number) and within(int(number.value), local_name) else None

    return convert


def _boolean(value: Value) -> Value | None:
    match value:
        case Boolean():
            return value
        case Number(_, number):
            return Boolean(number != 0 and not is_nan(value))
        case _:
            return None


def _moment(kind: DateTimeKind) -> _Convert:
    """Casts between dateTime, date and time: a date is at midnight, and a dateTime has a date and a time."""

    def convert(value: Value) -> Value | None:
        if not isinstance(value, DateTime):
            return None
        if value.kind == kind:
            return value
        local = local_seconds(value)
        midnight = math.floor(local) // DAY * DAY
        match value.kind, kind:
            case "date", "dateTime":
                return at_local("dateTime", local, value.offset)
            case "dateTime", "date":
                return at_local("date", Decimal(midnight), value.offset)
            case "dateTime", "time":
                return build("time", REFERENCE_DAY, EXACT.subtract(local, Decimal(midnight)), value.offset)
            case _:
                return None

    return convert


def _duration(kind: DurationKind) -> _Convert:
    """Casts between the kinds of durations, which drop the part that the new kind lacks."""

    def convert(value: Value) -> Value | None:
        if not isinstance(value, Duration):
            return None
        match kind:
            case "duration":
                return Duration(kind, value.months, value.seconds)
            case "dayTimeDuration":
                return Duration(kind, 0, value.seconds)
            case "yearMonthDuration":
                return Duration(kind, value.months, Decimal(0))
            case _:
                assert_never(kind)

    return convert


def to_string(term: Term) -> Term | None:
    """`xsd:string`: IRIs and unknown literals as they are written, values in their canonical form."""
    if is_blank(term):
        return None
    value = decode(term)
    if isinstance(value, Number) and isinstance(value.value, float):
        return literal(_real_text(value.value, value.rank))
    if isinstance(value, Number | Boolean | DateTime | Duration):
        canonical = encode(value)
        return None if canonical is None else literal(lexical_form(canonical))
    return literal(lexical_form(term))


def _real_text(value: float, rank: int) -> str:
    """A float or double as XPath writes it: as a decimal from a millionth up to a million, else with an exponent."""
    if value == 0:
        return "-0" if math.copysign(1.0, value) < 0 else "0"
    if 1e-6 <= abs(value) < 1e6:
        return write_decimal(Decimal(shortest_digits(value, rank)))
    return write_real(value, rank)


def _cast(datatype: str, convert: _Convert) -> Callable[[Term], Term | None]:
    parse = PARSERS[datatype]

    def cast(term: Term) -> Term | None:
        value = decode(term)
        result = parse(value.text.strip(_SPACE)) if isinstance(value, Text) else convert(value)
        if result is None:
            return None
        canonical = encode(result)
        derived = datatype not in _PRIMARY
        return literal(lexical_form(canonical), datatype) if derived and canonical is not None else canonical

    return cast


_CONVERSIONS: dict[str, _Convert] = {
    "boolean": _boolean,
    "decimal": _number(DECIMAL),
    "float": _number(FLOAT),
    "double": _number(DOUBLE),
    **{name: _integer(name) for name in INTEGER_BOUNDS},
    "dateTime": _moment("dateTime"),
    "date": _moment("date"),
    "time": _moment("time"),
    "duration": _duration("duration"),
    "dayTimeDuration": _duration("dayTimeDuration"),
    "yearMonthDuration": _duration("yearMonthDuration"),
}
_PRIMARY = frozenset(f"{XSD}{name}" for name in _CONVERSIONS if name not in INTEGER_BOUNDS or name == "integer")
"""The datatypes that `encode` writes. A cast to another numeric type, such as `xsd:byte`, replaces the datatype IRI."""

_CALLS = {f"{XSD}{name}": _cast(f"{XSD}{name}", convert) for name, convert in _CONVERSIONS.items()}
_CALLS[f"{XSD}string"] = to_string

CASTS: dict[str, Function] = {name: Function(name, 1, 1, call) for name, call in _CALLS.items()}
"""The constructor functions, by the bare IRI of their datatype."""
