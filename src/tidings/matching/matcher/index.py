"""Thousands of subscriptions against one event at a time, without looking at all of them: a lossless index.

The geometric mean of a mapping reaches the threshold θ only if each of its n scores is at least θⁿ, and only if the
mean of what each predicate could get at best, were tuples not taken, reaches it. Each distinct predicate is scored once
for an event; both bounds are then arithmetic over arrays. Whoever passes is assigned tuples as any matcher would.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tidings.matching.language.values import Event, EventTuple, Subscription
from tidings.matching.matcher.matcher import Mapping as BestMapping
from tidings.matching.matcher.matcher import Match, best_mappings, geometric_mean
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
        self.pairs += len(self._subscriptions)
        self.looked_at += ready.count(candidates)
        found = [(order, key, match) for match, asking in ready.matches(candidates, event) for order, key in asking]
        found.sort(key=itemgetter(0))
        return [(key, match) for _, key, match in found]


class _Kind(NamedTuple):
    """What subscriptions that ask for the same have in common; they are matched once for all of them."""

    members: tuple[int, ...]
    """The places of their predicates among the distinct ones."""
    threshold: float
    mappings: int


class _Ready(Generic[Key]):
    def __init__(self, subscriptions: Mapping[Key, Subscription], knowledge: Knowledge) -> None:
        places: dict[Scored, int] = {}
        kinds: dict[_Kind, list[tuple[int, Key]]] = {}
        for order, (key, each) in enumerate(subscriptions.items()):
            members = tuple(places.setdefault(scored, len(places)) for scored in knowledge.scored(each))
            kind = _Kind(members, knowledge.threshold(each), each.parameters.mappings)
            kinds.setdefault(kind, []).append((order, key))
        self._kinds = list(kinds)
        self._asking = list(kinds.values())
        self._sizes = np.array([len(each) for each in self._asking], np.intp)
        self._table = ScoreTable(list(places), knowledge)
        widest = max((len(each.members) for each in kinds), default=0)
        # A row for each kind; beyond its predicates, the place of a score that is always 1.
        self._members = np.full((len(kinds), widest), len(places), np.intp)
        for row, each_kind in enumerate(kinds):
            self._members[row, : len(each_kind.members)] = each_kind.members
        # n log θ: for the sum of the logarithms of all scores, and so for each of them, none of which exceeds 0
        thresholds = np.array([each.threshold for each in kinds], np.float64)
        numbers = np.array([len(each.members) for each in kinds], np.float64)
        self._least = numbers * np.log(np.maximum(thresholds, _LEAST)) - _SLACK

    def count(self, candidates: NDArray[np.intp]) -> int:
        """The subscriptions behind them."""
        return int(self._sizes[candidates].sum())

    def candidates(self, event: Event) -> NDArray[np.intp]:
        """Those that the bounds leave."""
        if not self._kinds:
            return np.empty(0, np.intp)
        greatest = self._greatest(event.tuples)
        with np.errstate(divide="ignore"):
            logarithms = np.append(np.log(greatest.astype(np.float64)), 0.0)
        passed = np.arange(len(self._kinds))
        total = np.zeros(len(self._kinds))
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

    def matches(self, candidates: NDArray[np.intp], event: Event) -> Iterator[tuple[Match, list[tuple[int, Key]]]]:
        """The matches, each with those who asked for it."""
        if not len(candidates):
            return
        scores = self._table.matrix(event.tuples)
        columns = scores.argmax(axis=1).tolist() if event.tuples else []
        greatest = scores.max(axis=1).tolist() if event.tuples else []
        for place in candidates.tolist():
            kind = self._kinds[place]
            picked = tuple([columns[member] for member in kind.members]) if event.tuples else ()
            if kind.mappings == 1 and len(set(picked)) == len(kind.members):  # the shortcut of `assignment.best`
                chosen = tuple([greatest[member] for member in kind.members])
                degree = geometric_mean(chosen)
                if degree < kind.threshold or degree <= 0:
                    continue
                found = [BestMapping(picked, chosen, degree)]
            else:
                found = best_mappings(scores[list(kind.members)], kind.mappings)
            reached = tuple([each for each in found if each.degree >= kind.threshold and each.degree > 0])
            if reached:
                yield Match(reached), self._asking[place]
