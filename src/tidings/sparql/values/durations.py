"""Durations: months and seconds, their lexical forms, and the partial order of XSD on them.

The length of a month depends on the date that it is added to, so P1M and P30D cannot be ordered: one duration is less
than another if it is less from each of the four reference dates of XSD 1.1 (section 3.3.6.2).
"""

import math
import re
from decimal import Decimal

from tidings.sparql.values.civil import DAY, days_from_civil, plus_months
from tidings.sparql.values.kinds import Duration, DurationKind
from tidings.sparql.values.numerics import EXACT, MAX_DIGITS, write_decimal

_DURATION = re.compile(
    r"(-)?P(?=.)(?:([0-9]+)Y)?(?:([0-9]+)M)?(?:([0-9]+)D)?"
    r"(T(?=.)(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:\.[0-9]+)?)S)?)?"
).fullmatch
_STARTS = tuple((year, month, 1) for year, month in ((1696, 9), (1697, 2), (1903, 3), (1903, 7)))
_FORBIDDEN = {"dayTimeDuration": (2, 3), "yearMonthDuration": (4, 5)}
"""The groups of `_DURATION` that a restricted kind may not have."""


def parse_duration(text: str, kind: DurationKind = "duration") -> Duration | None:
    if len(text) > MAX_DIGITS:
        return None
    match = _DURATION(text)
    if match is None or any(match[group] is not None for group in _FORBIDDEN.get(kind, ())):
        return None
    sign = -1 if match[1] else 1
    years, months, days, hours, minutes = (int(match[group] or 0) for group in (2, 3, 4, 6, 7))
    whole = days * DAY + hours * 3_600 + minutes * 60
    seconds = EXACT.add(Decimal(whole), Decimal(match[8] or 0))
    return Duration(kind, sign * (years * 12 + months), EXACT.multiply(seconds, Decimal(sign)))


def parse_day_time_duration(text: str) -> Duration | None:
    return parse_duration(text, "dayTimeDuration")


def parse_year_month_duration(text: str) -> Duration | None:
    return parse_duration(text, "yearMonthDuration")


def build(kind: DurationKind, months: int, seconds: Decimal) -> Duration | None:
    """A duration; None if its two parts have opposite signs, for which XSD has no lexical form."""
    if months * seconds.compare(0) < 0:
        return None
    return Duration(kind, months, seconds)


def write_duration(duration: Duration) -> str:
    """The canonical lexical form: `P1Y2M3DT4H5M6.7S`, `P0M` and `PT0S` for none."""
    years, months = divmod(abs(duration.months), 12)
    seconds = duration.seconds.copy_abs()
    whole = math.floor(seconds)
    days, in_day = divmod(whole, DAY)
    hours, in_hour = divmod(in_day, 3_600)
    minutes = in_hour // 60
    rest = EXACT.subtract(seconds, Decimal(whole - in_hour % 60))
    date = "".join(f"{n}{unit}" for n, unit in ((years, "Y"), (months, "M"), (days, "D")) if n)
    time = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M")) if n)
    if rest:
        time += f"{write_decimal(rest)}S"
    if not date and not time:
        return "P0M" if duration.kind == "yearMonthDuration" else "PT0S"
    sign = "-" if duration.months < 0 or duration.seconds < 0 else ""
    return f"{sign}P{date}{'T' if time else ''}{time}"


def lengths(duration: Duration) -> list[Decimal]:
    """The length in seconds from each of the reference dates."""
    months, seconds = duration.months, duration.seconds
    days = (days_from_civil(*plus_months(*start, months)) - days_from_civil(*start) for start in _STARTS)
    return [EXACT.add(Decimal(n * DAY), seconds) for n in days]


def duration_less(left: Duration, right: Duration) -> bool | None:
    """XSD's partial order; None if two durations are not comparable."""
    if left.months == right.months:
        return left.seconds < right.seconds
    if left.seconds == right.seconds:
        return left.months < right.months
    verdicts = {a.compare(b) for a, b in zip(lengths(left), lengths(right), strict=True)}
    return verdicts == {Decimal(-1)} if len(verdicts) == 1 else None
