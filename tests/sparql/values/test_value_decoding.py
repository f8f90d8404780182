"""What literals mean, and how values are written."""

import datetime
import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.model.terms import XSD, lang_literal, literal
from tidings.sparql.values import (
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER,
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
    decode,
    encode,
)
from tidings.sparql.values.civil import civil_from_days, days_from_civil, days_in_month
from tidings.sparql.values.kinds import DateTimeKind
from tidings.sparql.values.moments import at_local
from tidings.sparql.values.numerics import to_single


def typed(lexical: str, name: str) -> str:
    return literal(lexical, f"{XSD}{name}")


@pytest.mark.parametrize(
    ("term", "value"),
    [
        ("<http://example.org/a>", Iri("http://example.org/a")),
        ("_:b0", Blank("b0")),
        ('"a\\"b\\n"', Text('a"b\n')),
        ('"colour"@en-GB', LangText("colour", "en-gb")),
        (typed("true", "boolean"), Boolean(True)),
        (typed("0", "boolean"), Boolean(False)),
        (typed("+007", "integer"), Number(INTEGER, 7)),
        (typed("-128", "byte"), Number(INTEGER, -128)),
        (typed("1.50", "decimal"), Number(DECIMAL, Decimal("1.5"))),
        (typed(".5", "decimal"), Number(DECIMAL, Decimal("0.5"))),
        (typed("0.1", "float"), Number(FLOAT, to_single(0.1))),
        (typed("1e400", "double"), Number(DOUBLE, math.inf)),
        (typed("-INF", "double"), Number(DOUBLE, -math.inf)),
        (typed("-P1Y2M", "yearMonthDuration"), Duration("yearMonthDuration", -14, Decimal(0))),
        (typed("P1DT0.5S", "dayTimeDuration"), Duration("dayTimeDuration", 0, Decimal("86400.5"))),
        (literal("x", "http://example.org/type"), Other("x", "http://example.org/type")),
    ],
)
def test_a_term_has_the_value_of_its_datatype(term: str, value: Value) -> None:
    assert decode(term) == value


@pytest.mark.parametrize(
    ("lexical", "name"),
    [
        ("300", "byte"),
        ("-1", "nonNegativeInteger"),
        ("0", "positiveInteger"),
        ("1.0", "integer"),
        (" 1", "integer"),
        ("1\n", "integer"),
        ("\u0661", "integer"),
        ("9" * 5000, "integer"),
        ("1e0", "decimal"),
        (".", "decimal"),
        ("inf", "double"),
        ("1_0", "double"),
        ("TRUE", "boolean"),
        ("2001-02-29", "date"),
        ("2000-13-01", "date"),
        ("02000-01-01", "date"),
        ("2000-01-01T24:00:01", "dateTime"),
        ("2000-01-01T00:60:00", "dateTime"),
        ("2000-01-01T00:00:00+14:01", "dateTime"),
        ("2000-01-01T00:00:00", "dateTimeStamp"),
        ("12:00", "time"),
        ("--02-30", "gMonthDay"),
        ("P", "duration"),
        ("P1DT", "duration"),
        ("P1D", "yearMonthDuration"),
        ("P1M", "dayTimeDuration"),
        ("P1.5Y", "duration"),
    ],
)
def test_a_lexical_form_its_datatype_does_not_allow_has_no_known_value(lexical: str, name: str) -> None:
    assert decode(typed(lexical, name)) == Other(lexical, f"{XSD}{name}")


def test_moments_reach_beyond_the_years_of_the_standard_library() -> None:
    distant = decode(typed("-12000-02-29T24:00:00.1234567890123456789-05:30", "dateTime"))
    assert not isinstance(distant, DateTime)  # 24:00:00 takes no fraction
    distant = decode(typed("-12000-02-29T23:00:00.1234567890123456789-05:30", "dateTime"))
    assert isinstance(distant, DateTime)
    assert (distant.year, distant.month, distant.day, distant.offset) == (-12000, 2, 29, -330)
    assert distant.second == Decimal("0.1234567890123456789")


def test_the_end_of_a_day_is_the_start_of_the_next() -> None:
    assert decode(typed("1999-12-31T24:00:00Z", "dateTime")) == decode(typed("2000-01-01T00:00:00Z", "dateTime"))


@given(st.integers(-(10**12), 10**12))
def test_days_and_dates_are_inverses(days: int) -> None:
    year, month, day = civil_from_days(days)
    assert 1 <= day <= days_in_month(year, month)
    assert days_from_civil(year, month, day) == days


@given(st.dates())
def test_days_are_those_of_the_standard_library(date: datetime.date) -> None:
    assert days_from_civil(date.year, date.month, date.day) == date.toordinal() - 719_163


decimals = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**40), max_value=10**40, places=20)
singles = st.floats(width=32).filter(lambda x: not math.isnan(x))
doubles = st.floats(allow_nan=False)
kinds: st.SearchStrategy[DateTimeKind] = st.sampled_from(["dateTime"])
seconds = st.decimals(-(10**15), 10**15, places=9)
values: st.SearchStrategy[Value] = st.one_of(
    st.builds(Number, st.just(INTEGER), st.integers()),
    st.builds(Number, st.just(DECIMAL), decimals),
    st.builds(Number, st.just(FLOAT), singles),
    st.builds(Number, st.just(DOUBLE), doubles),
    st.builds(Boolean, st.booleans()),
    st.builds(Text, st.text()),
    st.builds(LangText, st.text(), st.sampled_from(["en", "en-gb", "x-y"])),
    st.builds(at_local, kinds, seconds, st.none() | st.integers(-840, 840)),
    st.builds(Duration, st.just("dayTimeDuration"), st.just(0), seconds),
    st.builds(Duration, st.just("yearMonthDuration"), st.integers(), st.just(Decimal(0))),
    st.builds(Duration, st.just("duration"), st.integers(0), seconds.map(abs)),
)


@given(values)
def test_a_value_is_read_back_as_it_was_written(value: Value) -> None:
    term = encode(value)
    assert term is not None
    assert decode(term) == value
    assert encode(decode(term)) == term


@pytest.mark.parametrize(
    ("lexical", "canonical", "name"),
    [
        ("+01", "1", "integer"),
        ("2.50", "2.5", "decimal"),
        ("3.0", "3", "decimal"),
        ("-0.0", "0", "decimal"),
        ("1500", "1.5E3", "double"),
        ("1", "1.0E0", "double"),
        ("0.00012", "1.2E-4", "double"),
        ("1e21", "1.0E21", "double"),
        ("0", "0.0E0", "float"),
        ("-0", "-0.0E0", "double"),
        ("3.3", "3.3E0", "float"),
        ("16777216", "1.6777216E7", "float"),
        ("NaN", "NaN", "float"),
        ("+INF", "INF", "double"),
        ("P14M", "P1Y2M", "yearMonthDuration"),
        ("-PT36H0.50S", "-P1DT12H0.5S", "dayTimeDuration"),
        ("P0Y", "P0M", "yearMonthDuration"),
        ("-P0D", "PT0S", "duration"),
        ("2000-01-01T00:00:00.500+00:00", "2000-01-01T00:00:00.5Z", "dateTime"),
        ("-0044-03-15-08:00", "-0044-03-15-08:00", "date"),
        ("24:00:00", "00:00:00", "time"),
        ("--02-29Z", "--02-29Z", "gMonthDay"),
        ("12345", "12345", "gYear"),
        ("2000-12", "2000-12", "gYearMonth"),
        ("--07", "--07", "gMonth"),
        ("---31+01:00", "---31+01:00", "gDay"),
    ],
)
def test_values_are_written_in_canonical_form(lexical: str, canonical: str, name: str) -> None:
    assert encode(decode(typed(lexical, name))) == typed(canonical, name)


def test_a_number_beyond_all_measure_cannot_be_written() -> None:
    assert encode(Number(INTEGER, 10**6000)) is None
    assert encode(Number(DECIMAL, Decimal(10) ** 5000)) is None


def test_escapes_survive() -> None:
    assert decode(lang_literal('tab\t"quoted" \\', "en")) == LangText('tab\t"quoted" \\', "en")
