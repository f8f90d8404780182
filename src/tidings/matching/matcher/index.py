"""A lossless index: matches one event with thousands of subscriptions, without examining all of them.

The geometric mean of a mapping reaches the threshold θ only if each of its n scores is at least θⁿ, and only if the
mean of each predicate's best score, regardless of other predicates, reaches it. The index scores each distinct
predicate once for an event. It then computes both bounds with arrays, for the subscriptions whose rarest predicate some
tuple meets. Only subscriptions that pass both get the full assignment of tuples.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tidings.matching.language.values import Event, EventTuple, Subscription
from tidings.matching.matcher.matcher import Mapping as BestMapping
from tidings.matching.matcher.matcher import Match, best_mappings, root
from tidings.matching.matcher.scores import Knowledge, Scored, ScoreTable

Key = TypeVar("Key", bound=Hashable)

_SLACK = 1e-6
"""A tolerance for rounding: subscriptions so close to a bound pass, and get an exact score."""
_LEAST = 1e-300
"""A number below any score that is not 0."""
_PORTION = 256
"""How many tuples of an event are scored together."""


class SubscriptionIndex(Generic[Key]):
    """Subscriptions by keys. After a change, the next event rebuilds the index."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._subscriptions: dict[Key, Subscription] = {}
        self._ready: _Ready[Key] | None = None
        self.looked_at = 0
        """Pairs of a subscription and an event that passed the bounds."""
        self.pairs = 0
        """All pairs of a subscription and an event."""

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
        """The keys of the subscriptions that the event matches, in the order in which they were added."""
        if self._ready is None:
            self._ready = _Ready(self._subscriptions, self._knowledge)
        ready = self._ready
        best = ready.best(event.tuples)
        candidates = ready.candidates(best)
        self.pairs += len(self._subscriptions)
        self.looked_at += ready.count(candidates)
        return ready.told(ready.matches(candidates, best, event))


class _Kind(NamedTuple):
    """Subscriptions with the same predicates and parameters share a kind, and are matched together."""

    members: tuple[int, ...]
    """The places of their predicates among the distinct ones."""
    threshold: float
    mappings: int


class _Best(NamedTuple):
    """For each distinct predicate, the greatest score and the first tuple that has it, regardless of other predicates.
    Then come the entries for the padding of `_members`: the score 1, and numbers that are no tuple's."""

    scores: NDArray[np.float64]
    tuples: NDArray[np.intp]


class _Ready(Generic[Key]):
    def __init__(self, subscriptions: Mapping[Key, Subscription], knowledge: Knowledge) -> None:
        places: dict[Scored, int] = {}
        kinds: dict[_Kind, list[int]] = {}
        for order, each in enumerate(subscriptions.values()):
            members = tuple(places.setdefault(scored, len(places)) for scored in knowledge.scored(each))
            kind = _Kind(members, knowledge.threshold(each), each.parameters.mappings)
            kinds.setdefault(kind, []).append(order)
        self._keys = list(subscriptions)
        self._kinds = list(kinds)
        self._asking = [*kinds.values()]
        self._sizes = np.array([len(each) for each in self._asking], np.intp)
        self._table = ScoreTable(list(places), knowledge)
        self._every = np.arange(len(places))
        widest = max((len(each.members) for each in kinds), default=0)
        self._nothing = _Best(
            np.concatenate([np.zeros(len(places)), np.ones(widest)]),
            np.concatenate([np.zeros(len(places), np.intp), -1 - np.arange(widest)]),
        )
        # A column for each kind: sums along thousands of short columns take half of the time of sums along rows
        self._members = np.tile(len(places) + np.arange(widest)[:, None], len(kinds))
        for column, each_kind in enumerate(kinds):
            self._members[: len(each_kind.members), column] = each_kind.members
        self._single = np.array([each.mappings == 1 for each in kinds], bool)
        # n log θ: the bound for the sum of the logarithms, and for each of them, because none exceeds 0
        thresholds = np.array([each.threshold for each in kinds], np.float64)
        numbers = np.array([len(each.members) for each in kinds], np.float64)
        self._least = numbers * np.log(np.maximum(thresholds, _LEAST)) - _SLACK
        self._needing, self._always = _by_rarest(self._kinds, len(places))

    def count(self, candidates: NDArray[np.intp]) -> int:
        """How many subscriptions these kinds have."""
        return int(np.add.reduce(self._sizes[candidates]))

    def best(self, tuples: Sequence[EventTuple]) -> _Best:
        size, scores, picked = len(self._table), self._nothing.scores.copy(), self._nothing.tuples.copy()
        for begin in range(0, len(tuples), _PORTION):
            portion = self._table.columns(tuples[begin : begin + _PORTION])
            first = portion.argmax(axis=0)
            greatest = portion[first, self._every]
            better = (greatest > scores[:size]).nonzero()[0]
            scores[better] = greatest[better]
            picked[better] = begin + first[better]
        return _Best(scores, picked)

    def candidates(self, best: _Best) -> NDArray[np.intp]:
        """The kinds that pass the bounds, of those whose rarest predicate is met by some tuple."""
        met = best.scores[: len(self._needing)].nonzero()[0].tolist()
        passed = np.concatenate([self._always, *[self._needing[place] for place in met]])
        with np.errstate(divide="ignore"):
            logarithms = np.log(best.scores)
        greatest = np.add.reduce(logarithms[self._members[:, passed]])
        return np.asarray(passed[greatest >= self._least[passed]], np.intp)

    def matches(self, candidates: NDArray[np.intp], best: _Best, event: Event) -> Iterator[tuple[int, Match]]:
        """The matches, each with its kind."""
        if not candidates.size:
            return
        members = self._members[:, candidates]
        picked, scores = best.tuples[members], best.scores[members]
        ordered = np.sort(picked, axis=0)
        apart = self._single[candidates] & np.logical_and.reduce(ordered[1:] != ordered[:-1])
        products = np.multiply.reduce(scores)  # in the same order as `math.prod`, for the same rounding
        by_row = [row.tolist() for row in (candidates, apart, products)]
        by_column = [zip(*each.tolist(), strict=True) if len(each) else repeat(()) for each in (picked, scores)]
        for place, is_apart, product, tuples, own in zip(*by_row, *by_column, strict=False):
            kind = self._kinds[place]
            if is_apart:  # the shortcut of `assignment.best`
                size = len(kind.members)
                degree = root(product, size)
                if degree >= kind.threshold and degree > 0:
                    yield place, Match((BestMapping(tuples[:size], own[:size], degree),))
                continue
            found = best_mappings(self._table.matrix(event.tuples)[list(kind.members)], kind.mappings)
            reached = tuple([each for each in found if each.degree >= kind.threshold and each.degree > 0])
            if reached:
                yield place, Match(reached)

    def told(self, found: Iterable[tuple[int, Match]]) -> list[tuple[Key, Match]]:
        """The matches of kinds as matches of their subscriptions, in the order in which these were added."""
        asking, keys = self._asking, self._keys
        matches = {order: match for kind, match in found for order in asking[kind]}
        return [(keys[order], matches[order]) for order in sorted(matches)]


def _by_rarest(kinds: Sequence[_Kind], places: int) -> tuple[list[NDArray[np.intp]], NDArray[np.intp]]:
    """For each predicate, the kinds whose rarest predicate it is; and the kinds without predicates."""
    having = Counter(member for kind in kinds for member in set(kind.members))
    needing: list[list[int]] = [[] for _ in range(places)]
    always: list[int] = []
    for row, kind in enumerate(kinds):
        rarest = min(kind.members, key=having.__getitem__, default=None)
        (always if rarest is None else needing[rarest]).append(row)
    return [np.array(each, np.intp) for each in needing], np.array(always, np.intp)
