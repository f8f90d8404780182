"""THE STORY of a match: the scores of all predicates against all tuples, the best injective mapping, its degree.

    degree = (product of the n scores of the mapping) ** (1/n), the geometric mean

An event matches if the degree of its best mapping reaches the threshold. A subscription without predicates matches
every event, with degree 1.
"""

from collections.abc import Iterable, Sequence
from heapq import nlargest
from math import prod

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tidings.matching.language.values import Event, Subscription
from tidings.matching.matcher.assignment import best, k_best
from tidings.matching.matcher.exchanges import Columns
from tidings.matching.matcher.scores import Knowledge, ScoreTable


class Mapping(Struct, frozen=True, gc=False):
    """The tuple of the event for each predicate, by its place, and the scores of these pairs."""

    tuples: tuple[int, ...]
    scores: tuple[float, ...]
    degree: float


class Match(Struct, frozen=True, gc=False):
    """The best mappings of an event that matches, the best first; there is at least one."""

    mappings: tuple[Mapping, ...]

    @property
    def degree(self) -> float:
        return self.mappings[0].degree


class Matcher:
    """One subscription, prepared to be matched with many events."""

    def __init__(self, subscription: Subscription, knowledge: Knowledge) -> None:
        self.subscription = subscription
        self.threshold = knowledge.threshold(subscription)
        self.table = ScoreTable(knowledge.scored(subscription), knowledge)

    def match(self, event: Event) -> Match | None:
        """The best mappings that reach the threshold, as many as the subscription wants; None if there is none."""
        found = self.mappings(event, self.subscription.parameters.mappings)
        reached = tuple(each for each in found if each.degree >= self.threshold and each.degree > 0)
        return Match(reached) if reached else None

    def degree(self, event: Event) -> float:
        """The degree of the best mapping, regardless of the threshold; 0 if there is none."""
        scores = self.table.matrix(event.tuples)
        columns = best(scores)
        return 0.0 if columns is None else degree_of(scores, columns)

    def mappings(self, event: Event, k: int = 1) -> list[Mapping]:
        """The K best mappings, regardless of the threshold."""
        return best_mappings(self.table.matrix(event.tuples), k)

    def best_events(self, events: Iterable[Event], k: int) -> list[tuple[int, Match]]:
        """The places of the K best events that match, with their matches; among equal ones, the earlier first."""
        matches = ((place, match) for place, event in enumerate(events) if (match := self.match(event)) is not None)
        return nlargest(k, matches, key=lambda found: (found[1].degree, -found[0]))


def best_mappings(scores: NDArray[np.float32], k: int) -> list[Mapping]:
    """The K best mappings for a matrix of scores."""
    if k == 1:
        columns = best(scores)
        return [] if columns is None else [mapping_of(scores, columns)]
    rows = scores.tolist()
    return [_mapping(rows, places) for places, _ in k_best(scores.astype(np.float64), k)]


def mapping_of(scores: NDArray[np.float32], columns: Columns) -> Mapping:
    places = columns.tolist()
    picked = [float(row[place]) for row, place in zip(scores, places, strict=True)]
    return Mapping(tuple(places), tuple(picked), geometric_mean(picked))


def _mapping(rows: list[list[float]], places: tuple[int, ...]) -> Mapping:
    picked = tuple([row[place] for row, place in zip(rows, places, strict=True)])
    return Mapping(places, picked, geometric_mean(picked))


def degree_of(scores: NDArray[np.float32], columns: Columns) -> float:
    return geometric_mean([float(row[column]) for row, column in zip(scores, columns.tolist(), strict=True)])


def geometric_mean(scores: Sequence[float]) -> float:
    """The geometric mean; 1 if there are no scores."""
    return root(prod(scores), len(scores))


def root(product: float, size: int) -> float:
    """The geometric mean of `size` scores with this product."""
    return float(product ** (1 / size)) if size else 1.0
