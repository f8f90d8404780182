"""The index never changes an answer: it gives what a matcher of each subscription gives."""

from hypothesis import given
from hypothesis import strategies as st

from matching.backends import Letters
from tidings.matching.language.values import (
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
from tidings.matching.matcher.index import SubscriptionIndex
from tidings.matching.matcher.matcher import Matcher
from tidings.matching.matcher.scores import Knowledge

KNOWLEDGE = Knowledge(Letters())
TERMS = st.sampled_from(
    ["parking", "car park", "spark", "vacant", "occupied", "room 1", "room 2", "ark", "3", "κλειστό", "🚗"]
)
VALUES = TERMS | st.integers(0, 4)
CONDITIONS = st.builds(Equals, VALUES, st.booleans()) | st.builds(Compares, st.sampled_from(Operator), st.just(2.0))
PREDICATES = st.builds(Predicate, TERMS, CONDITIONS, st.booleans())
SUBSCRIPTIONS = st.builds(
    Subscription,
    st.lists(PREDICATES, max_size=4).map(tuple),
    st.builds(
        Parameters,
        st.sampled_from([None, 0.0, 0.3, 0.9, 1.0]),
        st.sampled_from([None, 0.4]),
        st.sampled_from(Scoring),
        st.none(),
        st.integers(1, 3),
    ),
)
EVENTS = st.lists(st.builds(EventTuple, TERMS, VALUES), max_size=5).map(lambda tuples: Event(tuple(tuples)))


@given(st.lists(SUBSCRIPTIONS, max_size=6), st.lists(EVENTS, max_size=3))
def test_the_index_gives_what_each_matcher_gives(subscriptions: list[Subscription], events: list[Event]) -> None:
    index: SubscriptionIndex[int] = SubscriptionIndex(KNOWLEDGE)
    for key, subscription in enumerate(subscriptions):
        index.add(key, subscription)
    matchers = [Matcher(each, KNOWLEDGE) for each in subscriptions]
    for event in events:
        each_one = [(key, match) for key, one in enumerate(matchers) if (match := one.match(event)) is not None]
        assert index.match(event) == each_one


def test_subscriptions_come_and_go() -> None:
    index: SubscriptionIndex[str] = SubscriptionIndex(KNOWLEDGE)
    event = Event((EventTuple("a", "b"),))
    assert index.match(event) == []
    for key in ("one", "two"):
        index.add(key, Subscription((Predicate("a", Equals("b")),)))
    assert [key for key, _ in index.match(event)] == ["one", "two"]
    index.remove("one")
    index.remove("unknown")
    assert [key for key, _ in index.match(event)] == ["two"]
    assert len(index) == 1


def test_most_pairs_are_never_looked_at() -> None:
    index: SubscriptionIndex[int] = SubscriptionIndex(KNOWLEDGE)
    for key in range(100):
        index.add(key, Subscription((Predicate("n", Equals(key)),)))
    assert [key for key, _ in index.match(Event((EventTuple("n", 42),)))] == [42]
    assert (index.pairs, index.looked_at) == (100, 1)


def test_an_event_of_ten_thousand_tuples_is_matched() -> None:
    index: SubscriptionIndex[int] = SubscriptionIndex(KNOWLEDGE)
    index.add(0, Subscription((Predicate("n", Equals("car park", approximate=True)), Predicate("n", Equals(9_999)))))
    event = Event(
        (*(EventTuple("n", number) for number in range(9_999)), EventTuple("n", "park"), EventTuple("n", 9_999))
    )
    ((_, match),) = index.match(event)
    assert match.mappings[0].tuples == (9_999, 10_000)
