"""An index of subscriptions in which an event matches only those that share one of its topics, as in the paper.

Unlike `SubscriptionIndex`, which it uses, it may miss matches, and counts these. It saves no time: the bounds of the
index leave one pair in a hundred to examine, topics at best half of them. An index for each set of topics would have to
score the same words several times.
"""

from collections import Counter
from collections.abc import Hashable
from typing import Generic, TypeVar

from tidings.matching.language.values import Event, Subscription
from tidings.matching.matcher.index import SubscriptionIndex
from tidings.matching.matcher.matcher import Match
from tidings.matching.matcher.scores import Knowledge
from tidings.matching.taxonomy.clusters import Clusters, meet

Key = TypeVar("Key", bound=Hashable)


class ClusteredIndex(Generic[Key]):
    """An index of subscriptions, with their topics."""

    def __init__(self, knowledge: Knowledge, clusters: Clusters) -> None:
        self._clusters = clusters
        self._index: SubscriptionIndex[Key] = SubscriptionIndex(knowledge)
        self._topics: dict[Key, frozenset[str]] = {}
        self._sizes: Counter[frozenset[str]] = Counter()
        self.kept = 0
        """Pairs that share a topic."""
        self.lost = 0
        """Matches of pairs that share none."""

    def __len__(self) -> int:
        return len(self._index)

    @property
    def pairs(self) -> int:
        return self._index.pairs

    @property
    def looked_at(self) -> int:
        return self._index.looked_at

    def add(self, key: Key, subscription: Subscription) -> None:
        topics = self._topics[key] = self._clusters.of_subscription(subscription)
        self._sizes[topics] += 1
        self._index.add(key, subscription)

    def match(self, event: Event) -> list[tuple[Key, Match]]:
        """The subscriptions that the event matches and shares a topic with, in the order in which they were added."""
        own = self._clusters.of_event(event)
        self.kept += sum(size for topics, size in self._sizes.items() if meet(own, topics))
        every = self._index.match(event)
        found = [(key, match) for key, match in every if meet(own, self._topics[key])]
        self.lost += len(every) - len(found)
        return found
