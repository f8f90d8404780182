"""The operators `+ - * /` on numbers, dates, times and durations."""

from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.model.terms import XSD, literal
from tidings.sparql.values import add, divide, equals, multiply, negate, plus, subtract


def typed(lexical: str, name: str) -> str:
    return literal(lexical, f"{XSD}{name}")


def integer(value: int) -> str:
    return typed(str(value), "integer")


def decimal(value: Decimal | str) -> str:
    return typed(format(Decimal(value), "f"), "decimal")


Operator = Callable[[str, str], str | None]
NUMBERS = {name: typed("3", name) for name in ("byte", "integer", "decimal", "float", "double")}
RESULTS = ["integer", "integer", "decimal", "float", "double"]


@pytest.mark.parametrize(("operator", "expected"), [(add, "6"), (subtract, "0"), (multiply, "9"), (divide, "1")])
def test_operands_are_promoted_to_the_greater_type(operator: Operator, expected: str) -> None:
    for i, left in enumerate(NUMBERS.values()):
        for j, right in enumerate(NUMBERS.values()):
            name = RESULTS[max(i, j)]
            name = "decimal" if operator is divide and name == "integer" else name
            result = operator(left, right)
            assert result is not None
            assert result.endswith(f"{name}>")
            assert equals(result, integer(int(expected)))


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (divide(integer(1), integer(0)), None),
        (divide(decimal("1"), decimal("0.0")), None),
        (divide(integer(1), typed("0", "double")), typed("INF", "double")),
        (divide(integer(1), typed("-0", "double")), typed("-INF", "double")),
        (divide(typed("0", "float"), integer(0)), typed("NaN", "float")),
        (divide(integer(1), integer(3)), decimal("0.3333333333333333333333333333")),
        (divide(decimal("1E+30"), integer(3)), decimal("333333333333333333333333333333.333333333333333333333")),
        (multiply(integer(2**64), integer(2**64)), integer(2**128)),
        (add(typed("16777216", "float"), typed("1", "float")), typed("1.6777216E7", "float")),
        (multiply(typed("1e308", "double"), integer(10)), typed("INF", "double")),
        (add(integer(10**400), typed("1", "double")), typed("INF", "double")),
        (multiply(integer(10**3000), integer(10**3000)), None),
        (negate(decimal("2.50")), decimal("-2.5")),
        (negate(typed("1", "unsignedByte")), integer(-1)),
        (plus(typed("01", "byte")), integer(1)),
        (negate('"1"'), None),
        (plus("<a:b>"), None),
        (add('"1"', '"2"'), None),
        (add(integer(1), typed("x", "integer")), None),
        (subtract(integer(1), typed("true", "boolean")), None),
    ],
)
def test_numbers_and_errors(result: str | None, expected: str | None) -> None:
    assert result == expected


exact = st.integers().map(integer) | st.decimals(-(10**30), 10**30, places=25).map(decimal)


@given(exact, exact)
def test_to_add_and_then_subtract_changes_nothing(left: str, right: str) -> None:
    total = add(left, right)
    assert total is not None
    back = subtract(total, right)
    assert back is not None
    assert equals(back, left)


@given(exact, exact, exact)
def test_multiplication_distributes_without_rounding(left: str, right: str, factor: str) -> None:
    total, a, b = add(left, right), multiply(left, factor), multiply(right, factor)
    assert total is not None
    assert a is not None
    assert b is not None
    assert multiply(total, factor) == add(a, b)


def moment(text: str) -> str:
    return typed(text, "dateTime" if "T" in text else "time" if ":" in text[:3] else "date")


def duration(text: str) -> str:
    months = "M" in text.partition("T")[0] or "Y" in text
    return typed(text, "yearMonthDuration" if months else "dayTimeDuration")


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (add(moment("2000-01-31T10:00:00Z"), duration("P1M")), moment("2000-02-29T10:00:00Z")),
        (add(duration("P1Y"), moment("2000-02-29")), moment("2001-02-28")),
        (subtract(moment("2000-03-01"), duration("PT1S")), moment("2000-02-29")),
        (add(moment("2000-10-30T11:12:00"), duration("P3DT1H15M")), moment("2000-11-02T12:27:00")),
        (add(moment("9999-12-31T23:59:59.75"), duration("PT0.25S")), moment("10000-01-01T00:00:00")),
        (add(moment("23:30:00-05:00"), duration("P2DT1H")), typed("00:30:00-05:00", "time")),
        (add(typed("08:20:00", "time"), duration("P1M")), None),
        (add(moment("2000-01-31"), typed("P1M1D", "duration")), moment("2000-03-01")),
        (subtract(moment("2000-10-30T06:12:00-05:00"), moment("1999-11-28T09:00:00Z")), duration("P337DT2H12M")),
        (subtract(moment("2000-01-02"), moment("2000-01-01")), duration("P1D")),
        (subtract(typed("11:00:00", "time"), typed("10:30:00", "time")), duration("PT30M")),
        (subtract(moment("2000-01-02"), moment("2000-01-01Z")), None),
        (subtract(moment("2000-01-02"), moment("2000-01-01T00:00:00")), None),
        (subtract(typed("2001", "gYear"), typed("2000", "gYear")), None),
        (add(duration("P1Y"), duration("P1M")), duration("P1Y1M")),
        (subtract(duration("PT1H"), duration("PT90M")), duration("-PT30M")),
        (add(duration("P1Y"), duration("P1D")), typed("P1Y1D", "duration")),
        (subtract(duration("P1Y"), duration("P1D")), None),
        (multiply(duration("PT2H10M"), decimal("2.1")), duration("PT4H33M")),
        (multiply(decimal("2.3"), duration("P2Y11M")), duration("P6Y9M")),
        (divide(duration("P2Y11M"), decimal("1.5")), duration("P1Y11M")),
        (divide(duration("P1D"), typed("2", "double")), duration("PT12H")),
        (divide(duration("P1D"), integer(0)), None),
        (multiply(duration("P1D"), typed("NaN", "double")), None),
        (multiply(duration("P1D"), typed("INF", "double")), None),
        (divide(duration("P3Y4M"), duration("-P1Y4M")), decimal("-2.5")),
        (divide(duration("P1D"), duration("P1M")), None),
        (add(moment("2000-01-01"), integer(1)), None),
    ],
)
def test_dates_times_and_durations(result: str | None, expected: str | None) -> None:
    assert result == expected


@given(st.integers(-(10**12), 10**12), st.integers(-(10**12), 10**12))
def test_what_lies_between_two_moments_leads_from_one_to_the_other(first: int, second: int) -> None:
    epoch = moment("1970-01-01T00:00:00Z")
    one = add(epoch, duration(f"{'-' if first < 0 else ''}PT{abs(first)}S"))
    other = add(epoch, duration(f"{'-' if second < 0 else ''}PT{abs(second)}S"))
    assert one is not None
    assert other is not None
    gap = subtract(other, one)
    assert gap is not None
    assert add(one, gap) == other
