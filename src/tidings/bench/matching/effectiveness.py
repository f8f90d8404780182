"""Precision, recall and F-score of a matcher on an event set.

Each pair of a subscription and an event is a decision, and the event set knows the right one. A pair whose score
reaches the threshold of the backend counts as found, so one pass over the events gives all three figures.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tidings.bench.matching.event_set import EventSet
from tidings.matching.language.values import Parameters
from tidings.matching.matcher.index import SubscriptionIndex
from tidings.matching.matcher.scores import Knowledge
from tidings.matching.taxonomy.clustered import ClusteredIndex
from tidings.matching.taxonomy.clusters import Clusters


@dataclass(frozen=True, slots=True)
class Effectiveness:
    """Counts of pairs."""

    found: int
    right: int
    """The number of found pairs that are right."""
    relevant: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.relevant if self.relevant else 1.0

    @property
    def f_score(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


@dataclass(frozen=True, slots=True)
class Judged:
    """The effectiveness by the strict and the loose truth, and the share of pairs that the index scored."""

    loose: Effectiveness
    strict: Effectiveness
    looked_at: float


def judge(
    events: EventSet,
    knowledge: Knowledge,
    approximation: float,
    parameters: Parameters,
    clusters: Clusters | None = None,
) -> Judged:
    """The effectiveness of a matcher with this knowledge, at a degree of approximation from 0 to 1; within clusters, if
    any."""
    index: SubscriptionIndex[int] | ClusteredIndex[int] = SubscriptionIndex(knowledge)
    if clusters is not None:
        index = ClusteredIndex(knowledge, clusters)
    for key, subscription in enumerate(events.subscriptions(approximation, parameters)):
        index.add(key, subscription)
    found = [frozenset(key for key, _ in index.match(each.event)) for each in events.events]
    return Judged(_counted(events, found, strict=False), _counted(events, found, strict=True), _share(index))


def _share(index: SubscriptionIndex[int] | ClusteredIndex[int]) -> float:
    return index.looked_at / index.pairs if index.pairs else 0.0


def _counted(events: EventSet, found: Iterable[frozenset[int]], *, strict: bool) -> Effectiveness:
    wanted = [frozenset(each) for each in events.wanted]
    relevant = list(_relevant(events, wanted, strict=strict))
    pairs = list(zip(found, relevant, strict=True))
    return Effectiveness(
        sum(len(each) for each, _ in pairs),
        sum(len(each & truth) for each, truth in pairs),
        sum(len(truth) for truth in relevant),
    )


def _relevant(
    events: EventSet, wanted: list[frozenset[tuple[str, tuple[str, ...]]]], *, strict: bool
) -> Iterator[frozenset[int]]:
    for each in events.events:
        yield frozenset(key for key, tuples in enumerate(wanted) if each.relevant(tuples, strict=strict))
