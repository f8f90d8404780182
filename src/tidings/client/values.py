"""Converts Python values to lexical forms of XSD datatypes, and back.

Reading loses information in two cases only: Python's times have microseconds, so finer fractions are cut off, and
Python's dates have no timezone.
"""

import binascii
from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import TypeAlias

from tidings.model.terms import XSD
from tidings.sparql.values import DOUBLE, Boolean, DateTime, Duration, Number
from tidings.sparql.values.decode import PARSERS
from tidings.sparql.values.durations import write_duration
from tidings.sparql.values.moments import write_zone
from tidings.sparql.values.numerics import MAX_DIGITS, write_decimal, write_real

Native: TypeAlias = str | bool | int | float | Decimal | datetime | date | time | timedelta | bytes

_FARTHEST = timedelta(hours=14)
"""The greatest offset of a timezone in XSD."""
_MICROSECOND = timedelta(microseconds=1)


def read(lexical: str, datatype: str) -> Native:
    """The value of a literal; its lexical form if Python has no such value, or the literal is ill-typed."""
    binary = _BINARY.get(datatype)
    if binary is not None:
        return binary(lexical)
    parse = PARSERS.get(datatype)
    try:
        match None if parse is None else parse(lexical):
            case Number(_, value) | Boolean(value):
                return value
            case DateTime() as moment:
                return _moment(moment, lexical)
            case Duration("dayTimeDuration", _, seconds):
                return timedelta(microseconds=int(seconds * 1_000_000))
            case _:
                return lexical
    except (ValueError, OverflowError):  # the calendar of Python ends at the years 1 and 9999
        return lexical


def _moment(moment: DateTime, lexical: str) -> Native:
    zone = None if moment.offset is None else timezone(timedelta(minutes=moment.offset))
    micros = int(moment.second * 1_000_000)
    clock = (moment.hour, moment.minute, micros // 1_000_000, micros % 1_000_000)
    match moment.kind:
        case "dateTime":
            return datetime(moment.year, moment.month, moment.day, *clock, tzinfo=zone)
        case "date":
            return date(moment.year, moment.month, moment.day)
        case "time":
            return time(*clock, tzinfo=zone)
        case _:
            return lexical


def _hex(lexical: str) -> Native:
    try:
        return binascii.unhexlify(lexical)
    except ValueError:
        return lexical


def _base64(lexical: str) -> Native:
    try:
        return b64decode(lexical.replace(" ", ""), validate=True)
    except ValueError:
        return lexical


_BINARY: dict[str, Callable[[str], Native]] = {f"{XSD}hexBinary": _hex, f"{XSD}base64Binary": _base64}


def write(value: object) -> tuple[str, str]:
    """The lexical form and the datatype of a value that is not a string.

    Raises ValueError for values that XSD cannot represent, TypeError for types that RDF does not have.
    """
    match value:
        case bool():
            return ("true" if value else "false"), f"{XSD}boolean"
        case int():
            return str(int(value)), f"{XSD}integer"
        case float():
            return write_real(value, DOUBLE), f"{XSD}double"
        case Decimal():
            return _decimal(value), f"{XSD}decimal"
        case datetime():
            return _date_time(value), f"{XSD}dateTime"
        case date():
            return value.isoformat(), f"{XSD}date"
        case time():
            return _clock(value) + _zone(value.utcoffset()), f"{XSD}time"
        case timedelta():
            seconds = Decimal(value // _MICROSECOND) / 1_000_000
            return write_duration(Duration("dayTimeDuration", 0, seconds)), f"{XSD}dayTimeDuration"
        case bytes():
            return b64encode(value).decode(), f"{XSD}base64Binary"
        case _:
            raise TypeError(f"{type(value).__name__} is no value of RDF")


def _decimal(value: Decimal) -> str:
    if not value.is_finite():
        raise ValueError(f"xsd:decimal has no {value}")
    if abs(value.adjusted()) > MAX_DIGITS:
        raise ValueError(f"a decimal of more than {MAX_DIGITS:,} digits")
    return write_decimal(value)


def _date_time(value: datetime) -> str:
    offset = value.utcoffset()
    if offset is not None and (offset % timedelta(minutes=1) or abs(offset) > _FARTHEST):
        value, offset = _in_utc(value), timedelta(0)  # the same instant, as XSD cannot represent such an offset
    return f"{value.year:04d}-{value.month:02d}-{value.day:02d}T{_clock(value.time())}{_zone(offset)}"


def _in_utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"xsd:dateTime cannot have the offset of {value}") from error


def _clock(value: time) -> str:
    fraction = f".{value.microsecond:06d}".rstrip("0") if value.microsecond else ""
    return f"{value.hour:02d}:{value.minute:02d}:{value.second:02d}{fraction}"


def _zone(offset: timedelta | None) -> str:
    if offset is None:
        return ""
    minutes, rest = divmod(offset, timedelta(minutes=1))
    if rest or abs(offset) > _FARTHEST:
        raise ValueError(f"XSD has no timezone {offset} away from UTC")
    return write_zone(minutes)
