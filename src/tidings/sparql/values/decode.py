"""From a term to its value."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import get_args

from tidings.model.terms import XSD, Term, split_literal, unescape
from tidings.sparql.values.durations import parse_day_time_duration, parse_duration, parse_year_month_duration
from tidings.sparql.values.kinds import Blank, Boolean, DateTimeKind, Iri, LangText, Other, Text, Value
from tidings.sparql.values.moments import parse_date_time_stamp, parse_moment
from tidings.sparql.values.numerics import INTEGER_BOUNDS, integer_parser, parse_decimal, parse_double, parse_float

_BOOLEANS = {"true": Boolean(True), "1": Boolean(True), "false": Boolean(False), "0": Boolean(False)}

PARSERS: dict[str, Callable[[str], Value | None]] = {
    **{f"{XSD}{name}": integer_parser(name) for name in INTEGER_BOUNDS},
    f"{XSD}decimal": parse_decimal,
    f"{XSD}float": parse_float,
    f"{XSD}double": parse_double,
    f"{XSD}boolean": _BOOLEANS.get,
    f"{XSD}string": Text,
    **{f"{XSD}{kind}": partial(parse_moment, kind=kind) for kind in get_args(DateTimeKind)},
    f"{XSD}dateTimeStamp": parse_date_time_stamp,
    f"{XSD}duration": parse_duration,
    f"{XSD}dayTimeDuration": parse_day_time_duration,
    f"{XSD}yearMonthDuration": parse_year_month_duration,
}
"""The parser of lexical forms for each datatype, by its bare IRI. It returns None for an ill-formed one."""

NUMERIC_DATATYPES = frozenset(f"{XSD}{name}" for name in (*INTEGER_BOUNDS, "decimal", "float", "double"))


@lru_cache(maxsize=2**14)
def decode(term: Term) -> Value:
    """The value of a term. Cached: a second look at a number costs some 60 ns, a first one 1 to 2 µs."""
    first = term[0]
    if first == "<":
        return Iri(term[1:-1])
    if first == "_":
        return Blank(term[2:])
    if term[-1] == '"':
        return Text(unescape(term[1:-1]))
    lexical, datatype, language = split_literal(term)
    if language:
        return LangText(lexical, language.lower())
    parse = PARSERS.get(datatype)
    value = None if parse is None else parse(lexical)
    return Other(lexical, datatype) if value is None else value
