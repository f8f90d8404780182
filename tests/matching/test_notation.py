"""The paper's notation: what it means, where it is wrong, and that what is written is read as the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.matching.language.bounds import Bounds
from tidings.matching.language.documents import subscription_document, subscription_of
from tidings.matching.language.errors import MatchingSyntaxError
from tidings.matching.language.notation import (
    number_of,
    read_event,
    read_subscription,
    write_event,
    write_subscription,
)
from tidings.matching.language.values import (
    Between,
    Compares,
    Equals,
    Event,
    EventTuple,
    Operator,
    Parameters,
    Predicate,
    Scoring,
    Subscription,
)
from tidings.model.errors import RequestTooComplex

TERMS = st.text(min_size=1, max_size=12).filter(str.strip)
NUMBERS = st.integers(-(10**9), 10**9) | st.floats(-1e9, 1e9)
RANGES = st.tuples(NUMBERS, NUMBERS, st.booleans(), st.booleans()).map(
    lambda r: Between(float(min(r[:2])), float(max(r[:2])), *r[2:])
)
CONDITIONS = (
    st.builds(Equals, TERMS | NUMBERS, st.booleans())
    | st.builds(Compares, st.sampled_from(Operator), NUMBERS.map(float))
    | RANGES
)
PREDICATES = st.builds(Predicate, TERMS, CONDITIONS, st.booleans())
PARAMETERS = st.builds(
    Parameters,
    st.none() | st.floats(0, 1),
    st.none() | st.floats(0, 1),
    st.none() | st.sampled_from(Scoring),
    st.none() | st.floats(0, 1),
    st.integers(1, 9),
)
SUBSCRIPTIONS = st.builds(Subscription, st.lists(PREDICATES, max_size=5).map(tuple), PARAMETERS)


def test_the_papers_example_is_read() -> None:
    read = read_subscription("{type~ = parking occupied event~, country = ireland~}")
    assert read.predicates == (
        Predicate("type", Equals("parking occupied event", approximate=True), approximate_attribute=True),
        Predicate("country", Equals("ireland", approximate=True)),
    )


def test_sarahs_comparison_is_read() -> None:
    (predicate,) = read_subscription("{empty parking slot~ > 0}").predicates
    assert predicate == Predicate("empty parking slot", Compares(Operator.GREATER, 0.0), approximate_attribute=True)
    assert predicate.approximate


def test_ranges_have_open_and_closed_ends() -> None:
    read = read_subscription("{a = [18, 25), b = (-1.5,1e3], c = (c) no range, d <= .5}")
    assert [each.condition for each in read.predicates] == [
        Between(18, 25, high_open=True),
        Between(-1.5, 1000, low_open=True),
        Equals("(c) no range"),
        Compares(Operator.AT_MOST, 0.5),
    ]


def test_quotes_hold_what_the_notation_means_something_by() -> None:
    (predicate,) = read_subscription('{"a, b = c"~ = "say \\"x\\" \\\\ ~"}').predicates
    assert predicate == Predicate("a, b = c", Equals('say "x" \\ ~'), approximate_attribute=True)
    assert read_event('{n = "3", m = 3}').tuples == (EventTuple("n", "3"), EventTuple("m", 3))


@pytest.mark.parametrize(
    ("text", "line", "column", "expected"),
    [
        ("", 1, 1, "'{'"),
        ("{a}", 1, 3, "'=', '<', '<=', '>' or '>='"),
        ("{a = }", 1, 6, "a value"),
        ("{a = b\n, ~ = c}", 2, 3, "an attribute"),
        ("{a > many}", 1, 6, "a number"),
        ("{a > 1~}", 1, 7, "',' or '}'"),
        ("{a = b", 1, 7, "',' or '}'"),
        ("{a = b} c", 1, 9, "the end"),
        ('{a = "b}', 1, 6, "a closing quote"),
        ("{a = [2, 1]}", 1, 6, "a low end, then a high end"),
        ("{a > 1e999}", 1, 6, "a number"),
    ],
)
def test_an_error_says_where_it_is_and_what_was_expected(text: str, line: int, column: int, expected: str) -> None:
    with pytest.raises(MatchingSyntaxError) as caught:
        read_subscription(text)
    assert (caught.value.line, caught.value.column, caught.value.expected) == (line, column, expected)
    assert caught.value.code == "matching_syntax_error"


def test_an_event_has_no_tilde_and_no_comparison() -> None:
    with pytest.raises(MatchingSyntaxError) as caught:
        read_event("{a = b, c~ = d}")
    assert caught.value.column == 9
    with pytest.raises(MatchingSyntaxError):
        read_event("{a > 1}")


def test_what_is_too_large_is_refused() -> None:
    bounds = Bounds(predicates=2, tuples=2, characters=5, mappings=3)
    for text in ("{a = 1, b = 2, c = 3}", "{abcdef = 1}", "{a = abcdef}"):
        with pytest.raises(RequestTooComplex):
            read_subscription(text, bounds=bounds)
        with pytest.raises(RequestTooComplex):
            read_event(text, bounds=bounds)
    with pytest.raises(RequestTooComplex):
        read_subscription("{a = 1}", Parameters(mappings=4), bounds)


def test_numerals_are_numbers_however_they_came() -> None:
    assert [number_of(each) for each in (3, " 3.50 ", "-1e3", "three", "", "3 m")] == [3, 3.5, -1000, None, None, None]


@given(SUBSCRIPTIONS)
def test_what_is_written_is_read_as_the_same(subscription: Subscription) -> None:
    assert read_subscription(write_subscription(subscription), subscription.parameters) == subscription
    assert subscription_of(subscription_document(subscription)) == subscription


@given(st.lists(st.builds(EventTuple, TERMS, TERMS | NUMBERS), max_size=5))
def test_events_are_read_as_they_were_written(tuples: list[EventTuple]) -> None:
    event = Event(tuple(tuples))
    assert read_event(write_event(event)) == event
