"""Dates and times: their lexical forms, and comparison, also of those with a timezone with those without one.

Every moment is a dateTime on the timeline: parts that a type lacks come from the reference date of XPath (1972-12-31,
and the first month or day for the `g` types). A moment without a timezone may be up to fourteen hours earlier or later.
"""

import math
import re
from decimal import Decimal

from tidings.sparql.values.civil import DAY, civil_from_days, days_from_civil, days_in_month
from tidings.sparql.values.kinds import DateTime, DateTimeKind
from tidings.sparql.values.numerics import EXACT, MAX_DIGITS, write_decimal

_DATE = r"(?P<year>-?(?:[1-9][0-9]{3,}|0[0-9]{3}))-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
_TIME = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2}(?:\.[0-9]+)?)"
_ZONE = r"(?P<zone>Z|[+-](?:0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)?"
_FORMS: dict[DateTimeKind, re.Pattern[str]] = {
    "dateTime": re.compile(f"{_DATE}T{_TIME}{_ZONE}"),
    "date": re.compile(f"{_DATE}{_ZONE}"),
    "time": re.compile(f"{_TIME}{_ZONE}"),
    "gYearMonth": re.compile(f"{_DATE[: _DATE.index('-(?P<day>')]}{_ZONE}"),
    "gYear": re.compile(f"{_DATE[: _DATE.index('-(?P<month>')]}{_ZONE}"),
    "gMonthDay": re.compile(rf"--(?P<month>[0-9]{{2}})-(?P<day>[0-9]{{2}}){_ZONE}"),
    "gMonth": re.compile(rf"--(?P<month>[0-9]{{2}}){_ZONE}"),
    "gDay": re.compile(rf"---(?P<day>[0-9]{{2}}){_ZONE}"),
}
_REFERENCE: dict[DateTimeKind, tuple[str, str, str]] = {
    "time": ("1972", "12", "31"),
    "gYearMonth": ("", "", "01"),
    "gYear": ("", "01", "01"),
    "gMonthDay": ("1972", "", ""),
    "gMonth": ("1972", "", "01"),
    "gDay": ("1972", "12", ""),
}
REFERENCE_DAY = days_from_civil(1972, 12, 31)
"""The day of a time, on the timeline."""

_FOURTEEN_HOURS = Decimal(14 * 3_600)


def build(kind: DateTimeKind, days: int, seconds: Decimal, offset: int | None) -> DateTime:
    """The moment so many days after 1970-01-01 and seconds into the day, in the local time of its timezone."""
    year, month, day = civil_from_days(days)
    whole = math.floor(seconds)
    second = EXACT.subtract(seconds, Decimal(whole - whole % 60))
    instant = EXACT.add(Decimal(days * DAY - 60 * (offset or 0)), seconds)
    return DateTime(kind, year, month, day, whole // 3_600, whole // 60 % 60, second, offset, instant)


def at_local(kind: DateTimeKind, local: Decimal, offset: int | None) -> DateTime:
    """The moment whose local time is `local`, in seconds since 1970-01-01T00:00:00."""
    days = math.floor(local) // DAY
    return build(kind, days, EXACT.subtract(local, Decimal(days * DAY)), offset)


def local_seconds(moment: DateTime) -> Decimal:
    """The local time in its timezone, in seconds since 1970-01-01T00:00:00."""
    return EXACT.add(moment.instant, Decimal(60 * (moment.offset or 0)))


def parse_moment(text: str, kind: DateTimeKind) -> DateTime | None:
    match = _FORMS[kind].fullmatch(text) if len(text) <= MAX_DIGITS else None
    if match is None:
        return None
    parts = match.groupdict()
    by_default = _REFERENCE.get(kind, ("", "", ""))
    year, month, day = (int(parts.get(name) or by_default[i]) for i, name in enumerate(("year", "month", "day")))
    hour, minute, second = int(parts.get("hour") or 0), int(parts.get("minute") or 0), Decimal(parts.get("second") or 0)
    if not (1 <= month <= 12 and 1 <= day <= days_in_month(year, month) and minute < 60 and second < 60):
        return None
    if hour > 24 or (hour == 24 and (minute or second)):
        return None
    days = days_from_civil(year, month, day)
    if hour == 24:  # the end of a day is the start of the next day, and for an xsd:time 24:00:00 is 00:00:00
        hour, days = 0, days + (kind == "dateTime")
    seconds = EXACT.add(Decimal(hour * 3_600 + minute * 60), second)
    return build(kind, days, seconds, _read_zone(parts["zone"]))


def parse_date_time_stamp(text: str) -> DateTime | None:
    """An `xsd:dateTimeStamp` is a dateTime that has a timezone."""
    moment = parse_moment(text, "dateTime")
    return moment if moment is not None and moment.offset is not None else None


def _read_zone(zone: str | None) -> int | None:
    if zone is None or zone == "Z":
        return None if zone is None else 0
    minutes = int(zone[1:3]) * 60 + int(zone[4:6])
    return -minutes if zone[0] == "-" else minutes


def write_zone(offset: int | None) -> str:
    if not offset:
        return "" if offset is None else "Z"
    hours, minutes = divmod(abs(offset), 60)
    return f"{'-' if offset < 0 else '+'}{hours:02d}:{minutes:02d}"


def write_moment(moment: DateTime) -> str:
    """The canonical lexical form, in the timezone the moment has."""
    year = f"{'-' if moment.year < 0 else ''}{abs(moment.year):04d}"
    month, day = f"{moment.month:02d}", f"{moment.day:02d}"
    second = write_decimal(moment.second)
    clock = f"{moment.hour:02d}:{moment.minute:02d}:{'0' if moment.second < 10 else ''}{second}"
    texts: dict[DateTimeKind, str] = {
        "dateTime": f"{year}-{month}-{day}T{clock}",
        "date": f"{year}-{month}-{day}",
        "time": clock,
        "gYearMonth": f"{year}-{month}",
        "gYear": year,
        "gMonthDay": f"--{month}-{day}",
        "gMonth": f"--{month}",
        "gDay": f"---{day}",
    }
    return texts[moment.kind] + write_zone(moment.offset)


def moment_less(left: DateTime, right: DateTime) -> bool | None:
    """The order of two moments of one kind; None if it depends on a timezone that is not known."""
    if (left.offset is None) == (right.offset is None):
        return left.instant < right.instant
    gap = EXACT.subtract(right.instant, left.instant)
    return gap > 0 if gap.copy_abs() > _FOURTEEN_HOURS else None


def moment_equals(left: DateTime, right: DateTime) -> bool | None:
    if (left.offset is None) == (right.offset is None):
        return left.instant == right.instant
    return None if moment_less(left, right) is None else False
