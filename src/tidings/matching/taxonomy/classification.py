"""Finds the nearest topic of a phrase: the one whose label, or alternative label, is most related to it."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from tidings.matching.language.notation import number_of
from tidings.matching.relatedness import Relatedness, against
from tidings.matching.taxonomy.topics import Taxonomy
from tidings.matching.words import spelled

CACHED = 65_536


class Classifier:
    """Classifies phrases into the topics of one level of a taxonomy. Caches topics of phrases, up to a bound."""

    def __init__(self, taxonomy: Taxonomy, relatedness: Relatedness, level: int = 2) -> None:
        labels: dict[str, str] = {}
        for topic in taxonomy.topics:
            for text in (topic.label, *topic.alternatives):
                labels.setdefault(spelled(text), taxonomy.at(topic.id, level))
        self._topics = list(labels.values())
        self._related = against(relatedness, list(labels))
        self._cached = lru_cache(maxsize=CACHED)(self._nearest)

    def topic(self, phrase: str) -> str | None:
        """The topic of a phrase; None for a number, and for a phrase that is not related to any topic."""
        return None if number_of(phrase) is not None else self._cached(spelled(phrase))

    def topics(self, phrases: Sequence[str]) -> frozenset[str]:
        return frozenset(topic for phrase in phrases if (topic := self.topic(phrase)) is not None)

    def _nearest(self, phrase: str) -> str | None:
        (scores,) = self._related([phrase])
        place = int(np.argmax(scores))
        return self._topics[place] if scores[place] > 0 else None
