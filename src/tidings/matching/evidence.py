"""How alike two words are, by what vectors and a thesaurus say of them together.

    logit = Σ weight · evidence - doubt          similarity = 1 / (1 + exp(-logit))

    cosine      of the vectors of the words
    near        a sense of one is one relation away from a sense of the other
    beyond      some sense is one relation away from both
    explained   the greatest cosine of explanations of their senses, each the mean of its words' vectors
    mentioned   one is a word of an explanation of the other
    part        one is a part of the other, and not meant by it; this weight is set, not found: Dublin is not Ireland

Words that share a sense are as alike as `same` says, whatever else there is. Where the thesaurus does not have one of
them, there is nothing but the cosine to go by.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class WordVectors(Protocol):
    """Vectors of words and of terms of several words."""

    @property
    def dimensions(self) -> int: ...

    def vector(self, item: str) -> NDArray[np.float32] | None:
        """Of length 1; None for what it does not know."""
        ...


class Thesaurus(Protocol):
    """Which words mean the same, which nearly so, and what they mean."""

    def has(self, term: str) -> bool:
        """Whether some words together are a term."""
        ...

    def senses(self, item: str) -> frozenset[str]: ...

    def near(self, item: str) -> frozenset[str]:
        """Senses that are one relation away from one of its own."""
        ...

    def parts(self, item: str) -> frozenset[str]:
        """Senses that one of its own is a part of, or that are a part of it."""
        ...

    def explained(self, item: str) -> tuple[tuple[str, ...], ...]:
        """For each of its senses, the words that explain it."""
        ...


@dataclass(frozen=True, slots=True)
class Weights:
    """Found by logistic regression on pairs of terms of the vocabularies for calibration: synonyms, and not."""

    cosine: float = 4.0
    near: float = 2.4
    beyond: float = 0.8
    explained: float = 2.7
    mentioned: float = 1.1
    part: float = -4.0
    doubt: float = 3.5
    same: float = 0.95


class Witness:
    """What a thesaurus says of some items, asked about others."""

    def __init__(self, thesaurus: Thesaurus, vectors: WordVectors, items: Sequence[str], weights: Weights) -> None:
        self._thesaurus, self._vectors, self._weights = thesaurus, vectors, weights
        self._size = len(items)
        self._number = {item: [number] for number, item in enumerate(items)}
        self._senses = _table((number, thesaurus.senses(item)) for number, item in enumerate(items))
        self._near = _table((number, thesaurus.near(item)) for number, item in enumerate(items))
        self._parts = _table((number, thesaurus.parts(item)) for number, item in enumerate(items))
        self._mentioning = _table((number, _words(thesaurus.explained(item))) for number, item in enumerate(items))
        self._known = np.array([bool(thesaurus.senses(item)) for item in items], bool)
        explained = [self._meanings(item) for item in items]
        self._meant = np.concatenate([np.zeros((0, vectors.dimensions), np.float32), *explained])
        sizes = np.array([len(each) for each in explained], np.intp)
        self._having = np.flatnonzero(sizes)
        self._starts = (np.cumsum(sizes) - sizes)[self._having]

    def similarities(
        self, item: str, cosines: NDArray[np.float32], stretched: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Of an item to each of the others, from their cosines; `stretched`: what these make by themselves."""
        thesaurus, weights = self._thesaurus, self._weights
        senses, near = thesaurus.senses(item), thesaurus.near(item)
        if not senses:
            return stretched
        mentioned = _found(self._number, _words(thesaurus.explained(item))) + _found(self._mentioning, [item])
        logit = weights.cosine * np.maximum(cosines, 0) + weights.explained * self._explained(item) - weights.doubt
        logit += weights.near * self._marks(_found(self._senses, near) + _found(self._near, senses))
        logit += weights.beyond * self._marks(_found(self._near, near))
        logit += weights.part * self._marks(_found(self._senses, thesaurus.parts(item)) + _found(self._parts, senses))
        logit += weights.mentioned * self._marks(mentioned)
        similar = np.where(self._known, 1 / (1 + np.exp(-logit)), stretched)
        same = _found(self._senses, senses)
        similar[same] = np.maximum(similar[same], weights.same)
        return np.asarray(similar, np.float32)

    def _marks(self, numbers: list[int]) -> NDArray[np.float32]:
        marks = np.zeros(self._size, np.float32)
        marks[numbers] = 1
        return marks

    def _explained(self, item: str) -> NDArray[np.float32]:
        """The greatest cosine of an explanation of the item with one of each other."""
        greatest = np.zeros(self._size, np.float32)
        # einsum: the same sum for each row, however many there are
        found = [np.einsum("id,d->i", self._meant, meaning) for meaning in self._meanings(item)]
        if found and self._starts.size:
            nearest = np.maximum.reduceat(np.maximum.reduce(found), self._starts)
            greatest[self._having] = np.maximum(nearest, 0)
        return greatest

    def _meanings(self, item: str) -> NDArray[np.float32]:
        made = [each for words in self._thesaurus.explained(item) if (each := self._mean(words)) is not None]
        return np.array(made, np.float32).reshape(-1, self._vectors.dimensions)

    def _mean(self, words: Sequence[str]) -> NDArray[np.float32] | None:
        known = [vector for word in words if (vector := self._vectors.vector(word)) is not None]
        if not known:
            return None
        total = np.add.reduce(known)  # of length 1, it is what their mean is
        length = np.sqrt((total * total).sum())
        return np.asarray(total / length, np.float32) if length else None


def _words(explained: Iterable[Sequence[str]]) -> frozenset[str]:
    return frozenset(word for each in explained for word in each)


def _table(known: Iterable[tuple[int, Iterable[str]]]) -> dict[str, list[int]]:
    """Numbers by what they have."""
    table: dict[str, list[int]] = defaultdict(list)
    for number, found in known:
        for each in found:
            table[each].append(number)
    return table


def _found(table: dict[str, list[int]], keys: Iterable[str]) -> list[int]:
    return [number for key in keys for number in table.get(key, ())]
