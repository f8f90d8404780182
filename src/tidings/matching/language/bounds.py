"""How large events and subscriptions may be. Larger ones are refused before they are matched."""

from dataclasses import dataclass

from tidings.matching.language.values import Event, EventTuple, Predicate, Subscription, Value
from tidings.model.errors import RequestTooComplex


@dataclass(frozen=True, slots=True)
class Bounds:
    predicates: int = 64
    """The most predicates of a subscription."""
    tuples: int = 10_000
    """The most tuples of an event."""
    characters: int = 1_000
    """The most characters of one attribute or value."""
    mappings: int = 100
    """The most mappings that a subscription may want of one event."""

    def check_subscription(self, subscription: Subscription) -> Subscription:
        """Return the subscription. Raises RequestTooComplex if it is too large."""
        _check(len(subscription.predicates), self.predicates, "predicates in a subscription")
        _check(subscription.parameters.mappings, self.mappings, "mappings of an event")
        for predicate in subscription.predicates:
            self._check_terms(predicate)
        return subscription

    def check_event(self, event: Event) -> Event:
        """Return the event. Raises RequestTooComplex if it is too large."""
        _check(len(event.tuples), self.tuples, "tuples in an event")
        for each in event.tuples:
            self._check_terms(each)
        return event

    def _check_terms(self, pair: Predicate | EventTuple) -> None:
        self._check_length(pair.attribute)
        value = getattr(pair.condition, "value", "") if isinstance(pair, Predicate) else pair.value
        self._check_length(value)

    def _check_length(self, term: Value) -> None:
        if isinstance(term, str):
            _check(len(term), self.characters, "characters in an attribute or a value")


def _check(measured: int, limit: int, what: str) -> None:
    if measured > limit:
        raise RequestTooComplex(f"{measured:,} {what}; at most {limit:,} are allowed", measured=measured, limit=limit)


DEFAULT_BOUNDS = Bounds()
