"""Days of the proleptic Gregorian calendar, for years of any size.

Years are counted from 1 March so that the leap day comes last, and days in eras of 400 years (146,097 days). The year
0 exists, as in ISO 8601 and XSD 1.1. The dates of the standard library have only the years 1 to 9999.
"""

DAY = 86_400
"""Seconds in a day: there are no leap seconds in XSD."""

_DAYS_PER_ERA = 146_097
_MARCH_0000_TO_1970 = 719_468
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def days_in_month(year: int, month: int) -> int:
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if leap else _LENGTHS[month - 1]


def days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01."""
    shifted = year if month > 2 else year - 1
    era, year_of_era = divmod(shifted, 400)
    day_of_year = (153 * ((month - 3) % 12) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return era * _DAYS_PER_ERA + day_of_era - _MARCH_0000_TO_1970


def civil_from_days(days: int) -> tuple[int, int, int]:
    """Year, month and day: the inverse of `days_from_civil`."""
    era, day_of_era = divmod(days + _MARCH_0000_TO_1970, _DAYS_PER_ERA)
    year_of_era = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_from_march = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month_from_march + 2) // 5 + 1
    month = month_from_march + 3 if month_from_march < 10 else month_from_march - 9
    return era * 400 + year_of_era + (month <= 2), month, day


def plus_months(year: int, month: int, day: int, months: int) -> tuple[int, int, int]:
    """The same day so many months later, or the last day of that month if it is shorter."""
    later, index = divmod(year * 12 + month - 1 + months, 12)
    return later, index + 1, min(day, days_in_month(later, index + 1))
