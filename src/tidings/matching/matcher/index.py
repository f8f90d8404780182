"""Thousands of subscriptions against one event at a time, without looking at all of them: a lossless index.

The geometric mean of a mapping reaches the threshold θ only if each of its n scores is at least θⁿ, and only if the
mean of what each predicate could get at best, were tuples not taken, reaches it. Each distinct predicate is scored once
for an event; both bounds are then arithmetic over arrays. Whoever passes is assigned tuples as any matcher would.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tidings.matching.language.values import Event, EventTuple, Subscription
from tidings.matching.matcher.matcher import Match, best_mappings
from tidings.matching.matcher.scores import Knowledge, Scored, ScoreTable

Key = TypeVar("Key", bound=Hashable)

_SLACK = 1e-6
"""For rounding: what is within it of a bound passes, and is then measured exactly."""
_LEAST = 1e-300
"""Below any score that is not 0."""
_PORTION = 256
"""Tuples of an event that are scored together."""


class SubscriptionIndex(Generic[Key]):
    """Subscriptions by keys. It is made ready when an event comes after a change."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._subscriptions: dict[Key, Subscription] = {}
        self._ready: _Ready[Key] | None = None
        self.looked_at = 0
        """Pairs of a subscription and an event that passed the bounds."""
        self.pairs = 0
        """All pairs."""

    def __len__(self) -> int:
        return len(self._subscriptions)

    def add(self, key: Key, subscription: Subscription) -> None:
        self._subscriptions[key] = subscription
        self._ready = None

    def remove(self, key: Key) -> None:
        """Does nothing if there is no such key."""
        if self._subscriptions.pop(key, None) is not None:
            self._ready = None

    def match(self, event: Event) -> list[tuple[Key, Match]]:
        """Whom the event matches, in the order in which they came."""
        if self._ready is None:
            self._ready = _Ready(self._subscriptions, self._knowledge)
        ready = self._ready
        candidates = ready.candidates(event)
        self.pairs += len(ready)
        self.looked_at += len(candidates)
        return list(ready.matches(candidates, event))


class _Ready(Generic[Key]):
    def __init__(self, subscriptions: Mapping[Key, Subscription], knowledge: Knowledge) -> None:
        self._keys = list(subscriptions)
        self._subscriptions = list(subscriptions.values())
        places: dict[Scored, int] = {}
        lists = [
            [places.setdefault(scored, len(places)) for scored in knowledge.scored(each)]
            for each in self._subscriptions
        ]
        self._table = ScoreTable(list(places), knowledge)
        self._lists = lists
        self._thresholds = np.array([knowledge.threshold(each) for each in self._subscriptions])
        sizes = np.array([len(each) for each in lists], np.float64)
        widest = max((len(each) for each in lists), default=0)
        # A row for each subscription; beyond its predicates, the place of a score that is always 1.
        self._members = np.full((len(lists), widest), len(places), np.intp)
        for row, members in enumerate(lists):
            self._members[row, : len(members)] = members
        # n log θ: for the sum of the logarithms of all scores, and so for each of them, none of which exceeds 0
        self._least = sizes * np.log(np.maximum(self._thresholds, _LEAST)) - _SLACK

    def __len__(self) -> int:
        return len(self._keys)

    def candidates(self, event: Event) -> NDArray[np.intp]:
        """Those that the bounds leave."""
        if not self._keys:
            return np.empty(0, np.intp)
        greatest = self._greatest(event.tuples)
        with np.errstate(divide="ignore"):
            logarithms = np.append(np.log(greatest.astype(np.float64)), 0.0)
        passed = np.arange(len(self._keys))
        total = np.zeros(len(self._keys))
        for column in self._members.T:  # one predicate after the other: most are out after the first
            total = total + logarithms[column[passed]]
            passed_now = total >= self._least[passed]
            passed, total = passed[passed_now], total[passed_now]
        return passed

    def _greatest(self, tuples: Sequence[EventTuple]) -> NDArray[np.float32]:
        """The greatest score of each distinct predicate, whoever takes the tuple."""
        greatest = np.zeros(len(self._table), np.float32)
        for begin in range(0, len(tuples), _PORTION):
            portion = self._table.matrix(tuples[begin : begin + _PORTION])
            np.maximum(greatest, portion.max(axis=1), out=greatest)
        return greatest

    def matches(self, candidates: NDArray[np.intp], event: Event) -> Iterator[tuple[Key, Match]]:
        if not len(candidates):
            return
        scores = self._table.matrix(event.tuples)
        for place in candidates.tolist():
            threshold = self._thresholds[place]
            wanted = self._subscriptions[place].parameters.mappings
            found = best_mappings(scores[self._lists[place]], wanted)
            reached = tuple(each for each in found if each.degree >= threshold)
            if reached:
                yield self._keys[place], Match(reached)
