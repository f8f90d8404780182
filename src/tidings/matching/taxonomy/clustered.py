"""Subscriptions by their topics: an event is matched with those that share one of its topics, as in the paper.

Unlike the index it is made of, it may miss matches; `Clusters.report` says how many.
"""

from collections.abc import Hashable
from typing import Generic, TypeVar

from tidings.matching.language.values import Event, Subscription
from tidings.matching.matcher.index import SubscriptionIndex
from tidings.matching.matcher.matcher import Match
from tidings.matching.matcher.scores import Knowledge
from tidings.matching.taxonomy.clusters import Clusters, meet

Key = TypeVar("Key", bound=Hashable)


class ClusteredIndex(Generic[Key]):
    """An index for each set of topics that some subscription has."""

    def __init__(self, knowledge: Knowledge, clusters: Clusters) -> None:
        self._knowledge, self._clusters = knowledge, clusters
        self._indexes: dict[frozenset[str], SubscriptionIndex[Key]] = {}
        self._order: dict[Key, int] = {}
        self.pairs = 0
        self.kept = 0
        """Pairs that share a topic."""

    @property
    def looked_at(self) -> int:
        """Pairs that share a topic and passed the bounds of the index."""
        return sum(index.looked_at for index in self._indexes.values())

    def __len__(self) -> int:
        return len(self._order)

    def add(self, key: Key, subscription: Subscription) -> None:
        topics = self._clusters.of_subscription(subscription)
        if topics not in self._indexes:
            self._indexes[topics] = SubscriptionIndex(self._knowledge)
        self._indexes[topics].add(key, subscription)
        self._order[key] = len(self._order)

    def match(self, event: Event) -> list[tuple[Key, Match]]:
        """Whom the event matches and shares a topic with, in the order in which they came."""
        own = self._clusters.of_event(event)
        near = [index for topics, index in self._indexes.items() if meet(own, topics)]
        self.pairs += len(self._order)
        self.kept += sum(len(index) for index in near)
        found = [each for index in near for each in index.match(event)]
        return sorted(found, key=lambda each: self._order[each[0]])
