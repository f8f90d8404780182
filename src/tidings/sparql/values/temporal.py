"""Arithmetic with dates, times and durations (XPath and XQuery Functions and Operators, sections 8 and 10).

    moment ± duration = moment      moment - moment = dayTimeDuration      duration ± duration = duration
    duration * number = duration    duration / number = duration           duration / duration = decimal

If only one of two moments has a timezone, their difference is not known, which is an error.
"""

import math
from decimal import Decimal

from tidings.sparql.values import durations
from tidings.sparql.values.civil import DAY, days_from_civil, plus_months
from tidings.sparql.values.kinds import DECIMAL, DateTime, Duration, Number
from tidings.sparql.values.moments import REFERENCE_DAY, at_local, build, local_seconds
from tidings.sparql.values.numerics import EXACT, MAX_DIGITS, quotient, shortest_digits

_HALF = Decimal("0.5")


def negate_duration(duration: Duration) -> Duration:
    return Duration(duration.kind, -duration.months, duration.seconds.copy_negate())


def shift(moment: DateTime, duration: Duration) -> DateTime | None:
    """DateTime plus duration: first the months, at most to the end of the month, then the seconds."""
    match moment.kind:
        case "dateTime":
            return at_local("dateTime", _shifted(moment, duration), moment.offset)
        case "date":  # a date is its midnight, and the result has no time of day
            whole_days = math.floor(_shifted(moment, duration)) // DAY
            return at_local("date", Decimal(whole_days * DAY), moment.offset)
        case "time":
            if duration.months:
                return None
            later = _shifted(moment, duration)
            midnight = math.floor(later) // DAY * DAY
            return build("time", REFERENCE_DAY, EXACT.subtract(later, Decimal(midnight)), moment.offset)
        case _:
            return None


def _shifted(moment: DateTime, duration: Duration) -> Decimal:
    """The local seconds of a moment moved by a duration."""
    today = moment.year, moment.month, moment.day
    days = days_from_civil(*plus_months(*today, duration.months)) - days_from_civil(*today)
    return EXACT.add(EXACT.add(local_seconds(moment), Decimal(days * DAY)), duration.seconds)


def between(later: DateTime, earlier: DateTime) -> Duration | None:
    """Later minus earlier, of two dateTimes, two dates or two times."""
    comparable = later.kind == earlier.kind and (later.offset is None) == (earlier.offset is None)
    if not comparable or later.kind not in ("dateTime", "date", "time"):
        return None
    return Duration("dayTimeDuration", 0, EXACT.subtract(later.instant, earlier.instant))


def add_durations(left: Duration, right: Duration) -> Duration | None:
    kind = left.kind if left.kind == right.kind else "duration"
    return durations.build(kind, left.months + right.months, EXACT.add(left.seconds, right.seconds))


def scale(duration: Duration, factor: Number, *, divide: bool = False) -> Duration | None:
    """A duration times, or divided by, a number: months are rounded half up, seconds are exact except in a quotient."""
    number = _exact(factor)
    if number is None or duration.kind == "duration" or (divide and not number):
        return None
    in_months = duration.kind == "yearMonthDuration"
    size = Decimal(duration.months) if in_months else duration.seconds
    scaled = quotient(size, number) if divide else EXACT.multiply(size, number)
    if scaled.adjusted() >= MAX_DIGITS // 2:
        return None
    if in_months:
        return Duration(duration.kind, math.floor(EXACT.add(scaled, _HALF)), Decimal(0))
    return Duration(duration.kind, 0, scaled)


def _exact(number: Number) -> Decimal | None:
    """A number as a decimal, a double by its shortest digits; None for NaN and the infinities."""
    if not isinstance(number.value, float):
        return Decimal(number.value)
    if not math.isfinite(number.value):
        return None
    return Decimal(shortest_digits(number.value, number.rank))


def ratio(left: Duration, right: Duration) -> Number | None:
    """How many times one duration contains another, both in months or both in seconds."""
    if left.kind != right.kind or left.kind == "duration":
        return None
    over, under = (
        (Decimal(left.months), Decimal(right.months))
        if left.kind == "yearMonthDuration"
        else (left.seconds, right.seconds)
    )
    return Number(DECIMAL, quotient(over, under)) if under else None
