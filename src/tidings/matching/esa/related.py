"""Relatedness of phrases by explicit semantic analysis.

It caches the vectors of phrases, up to a total size, and drops the least recently used ones first.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tidings.matching.esa.formulas import EMPTY, Vector, combined
from tidings.matching.esa.index import Index
from tidings.matching.esa.terms import terms
from tidings.matching.language.values import Scoring
from tidings.matching.relatedness import Calibration
from tidings.matching.words import spelled

if TYPE_CHECKING:
    from tidings.matching.relatedness import Matrix

ENTRIES = 4_000_000
"""The most entries of all cached vectors together, 8 bytes each."""
_MOST_TERMS = 64
"""How many terms of a phrase count; those after them are ignored."""
CALIBRATION = Calibration(threshold=0.45, attribute_exponent=0.15, floor=0.3, scoring=Scoring.PRODUCT)
"""Found on the vocabularies `clinic` and `harbour` of the benchmark, with an index of WordNet: F1 .67."""


class Concept(NamedTuple):
    """A concept of a phrase, with its weight."""

    title: str
    weight: float


class EsaRelatedness:
    """A backend as `matching/relatedness.py` defines it."""

    name = "esa"
    calibration = CALIBRATION

    def __init__(self, index: Index, entries: int = ENTRIES) -> None:
        self.index = index
        self._most = entries
        self._size = 0
        self._kept: OrderedDict[str, Vector] = OrderedDict()

    def relate(self, left: Sequence[str], right: Sequence[str]) -> "Matrix":
        return self.against(right)(left)

    def against(self, right: Sequence[str]) -> Callable[[Sequence[str]], "Matrix"]:
        """Make an inverted index of these phrases by concept, so that a comparison reads few of their entries."""
        theirs = [spelled(each) for each in right]
        return _Prepared(theirs, [self.vector(each) for each in theirs], self.vector)

    def vector(self, phrase: str) -> Vector:
        """The vector of a phrase, of length 1; empty if no word of the phrase is known."""
        known = self._kept.get(phrase)
        if known is None:
            known = self._made(phrase)
            self._keep(phrase, known)
        else:
            self._kept.move_to_end(phrase)
        return known

    def concepts(self, phrase: str, most: int = 10) -> list[Concept]:
        """The concepts of a phrase with the greatest weights."""
        return self._titled(self.vector(spelled(phrase)), most)

    def shared(self, left: str, right: str, most: int = 10) -> list[Concept]:
        """The concepts that two phrases share, each with its contribution to their cosine."""
        ours, theirs = self.vector(spelled(left)), self.vector(spelled(right))
        both, here, there = np.intersect1d(ours.concepts, theirs.concepts, assume_unique=True, return_indices=True)
        return self._titled(Vector(both, ours.weights[here] * theirs.weights[there]), most)

    def unknown(self, phrase: str) -> list[str]:
        """The terms of a phrase that the index does not have."""
        return [term for term in dict.fromkeys(terms(phrase)) if self.index.find(term) is None]

    @property
    def kept(self) -> int:
        """How many entries the cached vectors have together."""
        return self._size

    def _titled(self, vector: Vector, most: int) -> list[Concept]:
        order = np.argsort(-vector.weights, kind="stable")[:most]
        return [Concept(self.index.title(int(vector.concepts[i])), float(vector.weights[i])) for i in order]

    def _made(self, phrase: str) -> Vector:
        found = terms(phrase)[:_MOST_TERMS]
        return combined([self.index.word(term) for term in found]) if found else EMPTY

    def _keep(self, phrase: str, vector: Vector) -> None:
        self._kept[phrase] = vector
        self._size += _cost(vector)
        while self._size > self._most and len(self._kept) > 1:
            self._size -= _cost(self._kept.popitem(last=False)[1])


class _Prepared:
    """The entries of the vectors of some phrases, ordered by concept."""

    def __init__(self, phrases: list[str], vectors: list[Vector], vector: Callable[[str], Vector]) -> None:
        self._vector, self._size = vector, len(phrases)
        self._places: dict[str, list[int]] = {}
        for place, phrase in enumerate(phrases):
            self._places.setdefault(phrase, []).append(place)
        concepts = np.concatenate([EMPTY.concepts, *(each.concepts for each in vectors)])
        order = np.argsort(concepts, kind="stable")
        self._concepts = concepts[order]
        self._weights = np.concatenate([EMPTY.weights, *(each.weights for each in vectors)])[order]
        self._columns = np.repeat(np.arange(self._size), [each.concepts.size for each in vectors])[order]

    def __call__(self, left: Sequence[str]) -> "Matrix":
        result = np.zeros((len(left), self._size), np.float32)
        for row, phrase in enumerate(map(spelled, left)):
            result[row] = self._cosines(self._vector(phrase))
            result[row, self._places.get(phrase, [])] = 1.0
        return np.clip(result, 0.0, 1.0)

    def _cosines(self, vector: Vector) -> NDArray[np.float64]:
        starts = np.searchsorted(self._concepts, vector.concepts, "left")
        sizes = np.searchsorted(self._concepts, vector.concepts, "right") - starts
        before = np.cumsum(sizes) - sizes
        entries = np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))
        parts = np.repeat(vector.weights, sizes) * self._weights[entries]
        return np.bincount(self._columns[entries], weights=parts, minlength=self._size).astype(np.float64)


def _cost(vector: Vector) -> int:
    """The size of a cached vector in entries; an empty one takes memory, too."""
    return vector.concepts.size + 16
