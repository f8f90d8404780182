"""The operators `=` and `<`, the effective boolean value, and the order of ORDER BY."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.model.terms import XSD, literal
from tidings.sparql.values import ebv, equality_key, equals, less, less_or_equal, order_key


def typed(lexical: str, name: str) -> str:
    return literal(lexical, f"{XSD}{name}")


def integer(value: int) -> str:
    return typed(str(value), "integer")


UNKNOWN = "http://example.org/unknown"
NAN = typed("NaN", "double")


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        (integer(1), typed("01", "integer"), True),
        (integer(1), typed("1.0", "decimal"), True),
        (integer(1), typed("1e0", "double"), True),
        (typed("0.1", "decimal"), typed("0.1", "double"), True),
        (typed("0.1", "float"), typed("0.1", "double"), False),
        (typed("0.1", "float"), typed("0.1", "decimal"), True),
        (NAN, NAN, False),
        (typed("-0", "double"), typed("0", "double"), True),
        ('"a"', '"a"', True),
        ('"a"', '"b"', False),
        ('"a"', '"a"@en', False),
        ('"a"@EN', '"a"@en', True),
        ('"a"@en', '"a"@fr', False),
        ('"1"', integer(1), False),
        (typed("1", "boolean"), typed("true", "boolean"), True),
        (typed("1", "boolean"), integer(1), False),
        (typed("true", "boolean"), typed("yes", "boolean"), None),
        (literal("a", UNKNOWN), literal("a", UNKNOWN), True),
        (literal("a", UNKNOWN), literal("b", UNKNOWN), None),
        (literal("a", UNKNOWN), '"a"', None),
        (literal("a", UNKNOWN), '"a"@en', False),
        (typed("xyz", "integer"), '"xyz"', None),
        (typed("xyz", "integer"), typed("xyz", "integer"), True),
        (typed("xyz", "integer"), literal("xyz", UNKNOWN), None),
        ("<a:b>", "<a:b>", True),
        ("<a:b>", '"a:b"', False),
        ("_:a", "_:b", False),
        ("_:a", literal("a", UNKNOWN), False),
        (typed("2006-08-23", "date"), typed("2006-08-23Z", "date"), None),
        (typed("2006-08-23Z", "date"), typed("2006-08-23+00:00", "date"), True),
        (typed("2006-08-23", "date"), typed("2001-01-01Z", "date"), False),
        (typed("2006-08-23", "date"), typed("2006-08-23T00:00:00", "dateTime"), False),
        (typed("08:00:00+09:00", "time"), typed("17:00:00-06:00", "time"), False),
        (typed("21:30:00+10:30", "time"), typed("06:00:00-05:00", "time"), True),
        (typed("2000", "gYear"), typed("2000", "gYear"), True),
        (typed("P1Y", "yearMonthDuration"), typed("P12M", "duration"), True),
        (typed("P0M", "yearMonthDuration"), typed("PT0S", "dayTimeDuration"), True),
    ],
)
def test_equality_is_by_value_and_unknown_values_are_errors(left: str, right: str, verdict: bool | None) -> None:
    assert equals(left, right) is verdict
    assert equals(right, left) is verdict
    assert not verdict or equality_key(left) == equality_key(right)


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        (integer(9), integer(10), True),
        (integer(2), typed("1.5", "decimal"), False),
        (typed("1.5", "decimal"), typed("1e1", "double"), True),
        (NAN, integer(1), False),
        (typed("1.5", "decimal"), NAN, False),
        ('"a"', '"b"', True),
        ('"Z"', '"a"', True),
        ('"a"', '"b"@en', None),
        ('"a"@en', '"b"@EN', True),
        ('"a"@en', '"b"@fr', None),
        (typed("false", "boolean"), typed("true", "boolean"), True),
        (integer(1), '"2"', None),
        ("<a:a>", "<a:b>", None),
        ("_:a", "_:b", None),
        (literal("a", UNKNOWN), literal("a", UNKNOWN), None),
        (typed("2008-10-01T00:00:00Z", "dateTime"), typed("2008-10-03T00:00:00", "dateTime"), True),
        (typed("2008-10-03T00:00:00", "dateTime"), typed("2008-10-01T00:00:00Z", "dateTime"), False),
        (typed("2008-10-01T00:00:00Z", "dateTime"), typed("2008-10-01T12:00:00", "dateTime"), None),
        (typed("2008-10-01T00:00:00Z", "dateTime"), typed("2008-10-01T14:00:00", "dateTime"), None),
        (typed("2008-10-01T00:00:00Z", "dateTime"), typed("2008-10-01T14:00:00.1", "dateTime"), True),
        (typed("2008-10-01T12:00:00+03:00", "dateTime"), typed("2008-10-01T10:00:00Z", "dateTime"), True),
        (typed("2006-08-22", "date"), typed("2006-08-23T09:00:00+01:00", "dateTime"), None),
        (typed("-0001-01-01", "date"), typed("0000-01-01", "date"), True),
        (typed("9999", "gYear"), typed("10000", "gYear"), True),
        (typed("PT23H", "dayTimeDuration"), typed("P1D", "dayTimeDuration"), True),
        (typed("P11M", "yearMonthDuration"), typed("P1Y", "yearMonthDuration"), True),
        (typed("P1M", "duration"), typed("P30D", "duration"), None),
        (typed("P1M", "duration"), typed("P32D", "duration"), True),
        (typed("P27D", "duration"), typed("P1M", "duration"), True),
        (typed("P1Y", "duration"), typed("P365D", "duration"), None),
    ],
)
def test_less_holds_within_a_kind_and_is_an_error_across(left: str, right: str, verdict: bool | None) -> None:
    assert less(left, right) is verdict


def test_less_or_equal_is_either_of_its_parts() -> None:
    assert less_or_equal(integer(2), typed("2.0", "decimal")) is True
    assert less_or_equal(integer(3), integer(2)) is False
    assert less_or_equal(NAN, NAN) is False
    assert less_or_equal('"a"', '"a"') is True
    assert less_or_equal('"a"', integer(1)) is None
    assert less_or_equal("<a:a>", "<a:a>") is None
    midday = typed("2008-10-01T12:00:00", "dateTime")
    assert less_or_equal(midday, midday) is True
    assert less_or_equal(midday, typed("2008-10-01T12:00:00Z", "dateTime")) is None


@pytest.mark.parametrize(
    ("term", "truth"),
    [
        (typed("true", "boolean"), True),
        (typed("0", "boolean"), False),
        (typed("maybe", "boolean"), False),
        (integer(0), False),
        (typed("-0.1", "decimal"), True),
        (NAN, False),
        (typed("abc", "byte"), False),
        ('""', False),
        ('"false"', True),
        ('"x"@en', True),
        ("<a:b>", None),
        ("_:a", None),
        (typed("2000-01-01", "date"), None),
        (literal("true", UNKNOWN), None),
    ],
)
def test_truth_of_terms(term: str, truth: bool | None) -> None:
    assert ebv(term) is truth


def test_unbound_comes_before_blank_nodes_before_iris_before_literals() -> None:
    ordered = [None, "_:a", "_:b", "<a:a>", "<a:b>", NAN, integer(1), '"a"', '"a"@en', '"b"', typed("true", "boolean")]
    shuffled = [*ordered[5:], *ordered[:5]]
    assert sorted(shuffled, key=order_key) == ordered


def test_equal_values_stay_as_they_were() -> None:
    same = [integer(1), typed("1.0", "decimal"), typed("1e0", "double"), typed("01", "integer")]
    assert sorted(same, key=order_key) == same
    same.reverse()
    assert sorted(same, key=order_key) == same


def literals_of(name: str, texts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return texts.map(lambda text: typed(text, name))


def padded(format_spec: str, *ranges: tuple[int, int]) -> st.SearchStrategy[str]:
    fields: Callable[[tuple[int, ...]], str] = lambda numbers: format_spec.format(*numbers)  # noqa: E731
    return st.tuples(*(st.integers(low, high) for low, high in ranges)).map(fields)


ZONES = st.sampled_from(["", "", "Z", "+14:00", "-05:30"])
CLOCK = padded("{:02}:{:02}:{:02}.{}", (0, 23), (0, 59), (0, 59), (0, 99))
DATE = padded("{:04}-{:02}-{:02}", (1999, 2001), (1, 12), (1, 28))
TERMS = st.one_of(
    literals_of("integer", st.integers(-5, 5).map(str) | st.integers().map(str)),
    literals_of("decimal", st.decimals(-5, 5, places=2).map(lambda d: format(d, "f"))),
    literals_of("double", st.floats(-5, 5).map(str) | st.sampled_from(["NaN", "INF", "1e300"])),
    literals_of("float", st.floats(-5, 5, width=32).map(str)),
    literals_of("boolean", st.sampled_from(["true", "false", "1", "0"])),
    literals_of("dateTime", st.tuples(DATE, CLOCK, ZONES).map(lambda parts: f"{parts[0]}T{parts[1]}{parts[2]}")),
    literals_of("date", st.tuples(DATE, ZONES).map("".join)),
    literals_of("time", st.tuples(CLOCK, ZONES).map("".join)),
    literals_of("duration", padded("P{}Y{}M{}DT{}H", (0, 2), (0, 13), (0, 400), (0, 25))),
    literals_of("yearMonthDuration", padded("-P{}Y{}M", (0, 2), (0, 13))),
    st.text(max_size=3).map(literal),
    st.sampled_from(['"a"@en', '"b"@en', '"a"@fr', "<a:a>", "_:b", literal("x", UNKNOWN), typed("x", "integer")]),
)


@given(TERMS, TERMS)
def test_the_order_agrees_with_less(left: str, right: str) -> None:
    first, second = order_key(left), order_key(right)
    if less(left, right):
        assert first < second
    elif less(right, left):
        assert second < first
    elif first != second:
        assert (first < second) is not (second < first)


@given(TERMS, TERMS)
def test_equal_terms_are_not_less_and_exactly_equal_values_have_equal_keys(left: str, right: str) -> None:
    if equals(left, right):
        assert less(left, right) in (False, None)
        assert less(right, left) in (False, None)
    if order_key(left) == order_key(right) and not left == right == NAN:
        assert equals(left, right) or (left.startswith('"NaN') and right.startswith('"NaN'))


@given(TERMS, TERMS)
def test_equal_terms_have_one_equality_key(left: str, right: str) -> None:
    if equals(left, right):
        assert equality_key(left) == equality_key(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (typed("2006-08-23T09:00:00Z", "dateTime"), typed("2006-08-23T09:00:01Z", "dateTime")),
        (typed("2006-08-23", "date"), typed("2006-08-23Z", "date")),
        (typed("P1M", "duration"), typed("P30D", "duration")),
        (typed("true", "boolean"), typed("false", "boolean")),
        ('"a"@en', '"a"@de'),
        (literal("a", UNKNOWN), literal("b", UNKNOWN)),
    ],
)
def test_keys_tell_values_apart(left: str, right: str) -> None:
    assert equality_key(left) != equality_key(right)


@given(st.lists(TERMS, max_size=8))
def test_any_terms_can_be_sorted(terms: list[str]) -> None:
    ordered = sorted(terms, key=order_key)
    assert ordered == sorted(ordered, key=order_key)
