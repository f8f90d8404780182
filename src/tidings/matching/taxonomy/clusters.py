"""Clusters events and subscriptions by their topics: a pair is matched only if they share one.

    EVERYTHING   the topics of all attributes and values, as in the paper
    VALUES       the topics of the values: almost all events have a type and a place, so attributes exclude few pairs

An event or a subscription without a topic is never excluded. `Clusters.report` counts the matches that clusters lose.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from tidings.matching.language.values import Equals, Event, Subscription, Value
from tidings.matching.taxonomy.classification import Classifier


class Clustering(StrEnum):
    EVERYTHING = "everything"
    VALUES = "values"


@dataclass(frozen=True, slots=True)
class Kept:
    """How many pairs clusters keep, of all pairs and of those that match."""

    pairs: int = 0
    kept: int = 0
    matches: int = 0
    matches_kept: int = 0

    def __add__(self, other: "Kept") -> "Kept":
        return Kept(
            self.pairs + other.pairs,
            self.kept + other.kept,
            self.matches + other.matches,
            self.matches_kept + other.matches_kept,
        )

    @property
    def share(self) -> float:
        """The share of the pairs that are still to be matched."""
        return self.kept / self.pairs if self.pairs else 1.0

    @property
    def recall(self) -> float:
        """The share of the matches that can still be found."""
        return self.matches_kept / self.matches if self.matches else 1.0


class Clusters:
    """Decides by topics which pairs of an event and a subscription are matched."""

    def __init__(self, classifier: Classifier, clustering: Clustering = Clustering.VALUES) -> None:
        self._classifier = classifier
        self._attributes = clustering is Clustering.EVERYTHING

    def of_event(self, event: Event) -> frozenset[str]:
        return self._topics((each.attribute, each.value) for each in event.tuples)

    def of_subscription(self, subscription: Subscription) -> frozenset[str]:
        return self._topics(
            (each.attribute, each.condition.value if isinstance(each.condition, Equals) else None)
            for each in subscription.predicates
        )

    def report(self, events: Iterable[Event], subscriptions: list[Subscription], matches: set[tuple[int, int]]) -> Kept:
        """Count what clusters keep. `matches` are the places of the events and subscriptions that match."""
        topics = [self.of_subscription(each) for each in subscriptions]
        total = Kept()
        for place, event in enumerate(events):
            own = self.of_event(event)
            kept = {number for number, each in enumerate(topics) if meet(own, each)}
            true = {number for number in range(len(topics)) if (place, number) in matches}
            total += Kept(len(topics), len(kept), len(true), len(kept & true))
        return total

    def _topics(self, terms: Iterable[tuple[str, Value | None]]) -> frozenset[str]:
        phrases = []
        for attribute, value in terms:
            phrases += [attribute] if self._attributes else []
            phrases += [value] if isinstance(value, str) else []
        return self._classifier.topics(phrases)


def meet(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether a pair with these topics is matched."""
    return not ours or not theirs or not ours.isdisjoint(theirs)
