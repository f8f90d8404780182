"""Compares descriptions with words for the same thing: a "heavy goods vehicle" is a truck, a "freight box" a container.

    description   two or three adjacent words that are not a term of the thesaurus
    similarity    1 / (1 + exp(-(14 · cosine - 8))), for the cosine of the two vectors of a sentence transformer

A description is compared with words and terms, but not with other descriptions, nor with words and terms that share a
word with it, or mean the same as one of its words: the vector of "exam postponed" is close to those of "exam" and
"examination", and it means neither. Similarities between words and terms stay as they are.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tidings.matching.evidence import Thesaurus, WordVectors

LENGTHS = (2, 3)
"""How many words a term of several words, or a description, may have."""
MOST_WORDS = 8
"""The longest phrase in which descriptions are looked for: a longer one is prose, with too many candidates."""
_STEEPNESS = np.float32(14.0)
_DOUBT = np.float32(8.0)
_MEANS_IT = np.float32(0.9)
"""From this similarity on, two words count as having the same meaning."""


class Paraphrases:
    """Decides what is a description: several words that the thesaurus does not have. `vectors` are those of phrases."""

    def __init__(self, vectors: WordVectors, thesaurus: Thesaurus | None) -> None:
        self.vectors = vectors
        self._thesaurus = thesaurus

    def is_description(self, item: str) -> bool:
        return " " in item and (self._thesaurus is None or not self._thesaurus.has(item))


class Described:
    """A fixed set of items, prepared for comparison with other items."""

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
        """For each description, the places of its words; padded with the number of items."""
        for row, place in enumerate(self._places.tolist()):
            known = [number[word] for word in items[place].split() if word in number]
            self._words[row, : len(known)] = known

    def expect(self, items: Sequence[str]) -> None:
        """Compute the vectors of these items together, which takes less time than one after the other."""
        self._paraphrases.vectors.vectors(items)

    def of_description(self, item: str, words: NDArray[np.float32]) -> NDArray[np.float32]:
        """The similarity of a description to each item. `words`: the similarities of its words, a row for each."""
        alike = self._alike(item)
        alike[(words > _MEANS_IT).any(axis=0)] = 0
        alike[self._places] = 0
        return alike

    def of_word(self, item: str, similar: NDArray[np.float32]) -> NDArray[np.float32]:
        """The similarity of a word or term to each item: the given one, except for items that are descriptions."""
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
        # einsum: the sum of a row does not depend on the number of rows
        cosines = np.einsum("id,d->i", self._vectors, vector)
        alike = 1 / (1 + np.exp(_DOUBT - _STEEPNESS * cosines))
        alike[[place for word in item.split() for place in self._having.get(word, ())]] = 0
        return np.asarray(alike, np.float32)
