"""Compares a description with a word for the same: a "heavy goods vehicle" is a truck, a "freight box" a container.

    description   two or three words beside each other that are no term of the thesaurus
    similarity    1 / (1 + exp(-(14 · cosine - 8))), of the vectors that a sentence transformer has of both

A description is compared with words and terms, not with other descriptions, nor with what has a word in common with it
or means the same as one of its words: "exam postponed" is near to "exam" and to "examination", and means neither. Words
and terms are compared as without.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tidings.matching.evidence import Thesaurus, WordVectors

LENGTHS = (2, 3)
"""Words of a term, and of a description."""
MOST_WORDS = 8
"""Of a phrase in which descriptions are looked for: a longer one is prose, and would take a vector for each of them."""
_STEEPNESS = np.float32(14.0)
_DOUBT = np.float32(8.0)
_MEANS_IT = np.float32(0.9)
"""From this similarity on, a word alone means what the other one means."""


class Paraphrases:
    """Knows descriptions, by a thesaurus, which has what is none, and by vectors of phrases."""

    def __init__(self, vectors: WordVectors, thesaurus: Thesaurus | None) -> None:
        self.vectors = vectors
        self._thesaurus = thesaurus

    def is_description(self, item: str) -> bool:
        return " " in item and (self._thesaurus is None or not self._thesaurus.has(item))


class Described:
    """Some items, made ready to be compared with others."""

    def __init__(self, paraphrases: Paraphrases, items: Sequence[str]) -> None:
        self._paraphrases = paraphrases
        self._vectors = paraphrases.vectors.vectors(items)
        self._having: dict[str, list[int]] = defaultdict(list)
        for place, item in enumerate(items):
            for word in item.split():
                self._having[word].append(place)
        number = {item: place for place, item in enumerate(items)}
        self._places = np.flatnonzero([paraphrases.is_description(item) for item in items])
        self._words = np.full((len(self._places), max(LENGTHS)), len(items), np.intp)
        """Of each description, the places of its words."""
        for row, place in enumerate(self._places.tolist()):
            known = [number[word] for word in items[place].split() if word in number]
            self._words[row, : len(known)] = known

    def expect(self, items: Sequence[str]) -> None:
        """The vectors of several items take less time together."""
        self._paraphrases.vectors.vectors(items)

    def of_description(self, item: str, words: NDArray[np.float32]) -> NDArray[np.float32]:
        """Similarities of a description to each of these; `words`: those of its words."""
        alike = self._alike(item)
        alike[(words > _MEANS_IT).any(axis=0)] = 0
        alike[self._places] = 0
        return alike

    def of_word(self, item: str, similar: NDArray[np.float32]) -> NDArray[np.float32]:
        """Of what is none: those that are given, but to descriptions."""
        if not self._places.size:
            return similar
        alike = self._alike(item)[self._places]
        means = np.append(similar, np.float32(0))[self._words] > _MEANS_IT
        alike[means.any(axis=1)] = 0
        found = similar.copy()
        found[self._places] = alike
        return found

    def _alike(self, item: str) -> NDArray[np.float32]:
        vector = self._paraphrases.vectors.vectors([item])[0]
        # einsum: the same sum for each row, however many there are
        cosines = np.einsum("id,d->i", self._vectors, vector)
        alike = 1 / (1 + np.exp(_DOUBT - _STEEPNESS * cosines))
        alike[[place for word in item.split() for place in self._having.get(word, ())]] = 0
        return np.asarray(alike, np.float32)
