"""Measures the speed of matching: one cached match, over K and over the number of predicates; and events against
thousands of subscriptions. Times are processor times, the best of several rounds, to reduce the effect of other
processes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import process_time

from tidings.bench.matching.event_set import Sizes, event_set
from tidings.bench.matching.vocabulary import Vocabulary
from tidings.matching.language.values import Equals, Event, Parameters, Predicate, Subscription
from tidings.matching.matcher.index import SubscriptionIndex
from tidings.matching.matcher.matcher import Matcher
from tidings.matching.matcher.scores import Knowledge

_ROUNDS = 7
_CALLS = 50


@dataclass(frozen=True, slots=True)
class Throughput:
    subscriptions: int
    events: int
    cold: float
    """Events a second if they are new."""
    warm: float
    """Events a second if their tuples were seen before."""
    looked_at: float
    """The share of pairs that the bounds of the index do not exclude."""


def seconds_for(predicates: int, tuples: int, k: int, words: Vocabulary, knowledge: Knowledge) -> float:
    """The time of one match whose tuples were seen before."""
    subscription, event = _sized(predicates, tuples, words, Parameters(0.0, 0.0, mappings=k))
    matcher = Matcher(subscription, knowledge)
    return _best(lambda: matcher.mappings(event, k), _CALLS)


def throughput(words: Vocabulary, knowledge: Knowledge, subscriptions: int, events: int) -> Throughput:
    made = event_set(words, 1, Sizes(events=events, subscriptions=subscriptions))
    index: SubscriptionIndex[int] = SubscriptionIndex(knowledge)
    for key, subscription in enumerate(made.subscriptions(1.0, Parameters())):
        index.add(key, subscription)
    index.match(Event(()))  # the first match builds the index
    published = [each.event for each in made.events]
    cold = _taken(lambda: _publish(index, published))
    warm = min(_taken(lambda: _publish(index, published)) for _ in range(2))
    return Throughput(subscriptions, events, events / cold, events / warm, index.looked_at / index.pairs)


def _publish(index: SubscriptionIndex[int], events: Sequence[Event]) -> None:
    for event in events:
        index.match(event)


def _sized(predicates: int, tuples: int, words: Vocabulary, parameters: Parameters) -> tuple[Subscription, Event]:
    """A subscription and an event of these sizes, with texts of several events, so that every predicate has a score
    with every tuple."""
    made = event_set(words, 1, Sizes(seeds=40, events=40, subscriptions=1))
    texts = dict.fromkeys(each for one in made.events for each in one.event.tuples if isinstance(each.value, str))
    wanted = [Predicate(each.attribute, Equals(each.value, approximate=True), True) for each in texts][-predicates:]
    return Subscription(tuple(wanted), parameters), Event(tuple(texts)[:tuples])


def _best(call: Callable[[], object], calls: int) -> float:
    def several() -> None:
        for _ in range(calls):
            call()

    several()
    return min(_taken(several) for _ in range(_ROUNDS)) / calls


def _taken(call: Callable[[], object]) -> float:
    begun = process_time()
    call()
    return max(process_time() - begun, 1e-9)
