"""Functions on dates and times (SPARQL 1.1, 17.4.5): of a dateTime, and by extension of a date or a time."""

from collections.abc import Callable
from decimal import Decimal

from tidings.model.terms import Term, lexical_form, literal
from tidings.sparql.values import (
    DECIMAL,
    DateTime,
    Duration,
    Number,
    decode,
    encode_duration,
    encode_integer,
    encode_number,
)

_DATED = ("dateTime", "date")
_TIMED = ("dateTime", "time")


def _part(term: Term, kinds: tuple[str, ...], read: Callable[[DateTime], int]) -> Term | None:
    value = decode(term)
    return encode_integer(read(value)) if isinstance(value, DateTime) and value.kind in kinds else None


def year(term: Term) -> Term | None:
    return _part(term, _DATED, lambda moment: moment.year)


def month(term: Term) -> Term | None:
    return _part(term, _DATED, lambda moment: moment.month)


def day(term: Term) -> Term | None:
    return _part(term, _DATED, lambda moment: moment.day)


def hours(term: Term) -> Term | None:
    return _part(term, _TIMED, lambda moment: moment.hour)


def minutes(term: Term) -> Term | None:
    return _part(term, _TIMED, lambda moment: moment.minute)


def seconds(term: Term) -> Term | None:
    """The seconds as a decimal, with the fraction that was written."""
    value = decode(term)
    if not isinstance(value, DateTime) or value.kind not in _TIMED:
        return None
    return encode_number(Number(DECIMAL, value.second))


def timezone(term: Term) -> Term | None:
    """`TIMEZONE`: the offset from UTC as a dayTimeDuration; an error if there is none."""
    value = decode(term)
    if not isinstance(value, DateTime) or value.offset is None:
        return None
    return encode_duration(Duration("dayTimeDuration", 0, Decimal(value.offset * 60)))


def timezone_text(term: Term) -> Term | None:
    """`TZ`: the timezone as it was written, or the empty string."""
    value = decode(term)
    if not isinstance(value, DateTime):
        return None
    text = lexical_form(term)
    return literal("" if value.offset is None else "Z" if text[-1] == "Z" else text[-6:])
