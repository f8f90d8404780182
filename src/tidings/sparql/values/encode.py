"""From a value back to a term, in the canonical lexical form of its datatype."""

from typing import assert_never

from tidings.model.terms import FALSE, TRUE, XSD, Term, blank, iri, lang_literal, literal
from tidings.sparql.values.durations import write_duration
from tidings.sparql.values.kinds import (
    Blank,
    Boolean,
    DateTime,
    Duration,
    Iri,
    LangText,
    Number,
    Other,
    Text,
    Value,
)
from tidings.sparql.values.moments import write_moment
from tidings.sparql.values.numerics import write_number

_SUFFIXES = tuple(f'"^^<{XSD}{name}>' for name in ("integer", "decimal", "float", "double"))
"""The end of a numeric literal, by rank."""


def encode_boolean(value: bool) -> Term:
    return TRUE if value else FALSE


def encode_integer(value: int) -> Term:
    """The term of an integer of moderate size: a count, a length, a year."""
    return f'"{value}{_SUFFIXES[0]}'


def encode_number(number: Number | None) -> Term | None:
    """The term of a number; None for an overflow, and for None."""
    text = None if number is None else write_number(number)
    return None if number is None or text is None else f'"{text}{_SUFFIXES[number.rank]}'


def encode_moment(moment: DateTime) -> Term:
    return f'"{write_moment(moment)}"^^<{XSD}{moment.kind}>'


def encode_duration(duration: Duration) -> Term:
    return f'"{write_duration(duration)}"^^<{XSD}{duration.kind}>'


def encode(value: Value) -> Term | None:
    """The term of a value; None only for a number too long to be written."""
    match value:
        case Number():
            return encode_number(value)
        case Boolean(truth):
            return encode_boolean(truth)
        case Text(text):
            return literal(text)
        case LangText(text, language):
            return lang_literal(text, language)
        case DateTime():
            return encode_moment(value)
        case Duration():
            return encode_duration(value)
        case Iri(text):
            return iri(text)
        case Blank(label):
            return blank(label)
        case Other(lexical, datatype):
            return literal(lexical, datatype)
        case _:
            assert_never(value)
