"""The similarity of two words, by combining their vectors with a thesaurus.

    logit = Σ weight · evidence - doubt          similarity = 1 / (1 + exp(-logit))

    cosine      of the vectors of the words
    near        a sense of one is one relation away from a sense of the other
    beyond      some sense is one relation away from both
    explained   the greatest cosine of explanations of their senses, each the mean of its words' vectors
    mentioned   one is a word of an explanation of the other
    part        one is a part of the other, so they do not mean the same: Dublin is not Ireland. This weight is set by
                hand, not by regression
    listed      a thesaurus of synonyms lists one for the other
    overlap     how much their lists of synonyms overlap
    unlisted    both have lists of synonyms: counts against words that are not listed for each other

Words that share a sense have at least the similarity `same`, regardless of other evidence. If the thesaurus does not
have one of the words, the similarity is made of the cosine only.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tidings.matching.synonym_lists import Listed, SynonymLists

_KEPT = 16_384
"""How many vectors of explanations are cached: 16 MB."""


class WordVectors(Protocol):
    """Vectors of words and of terms of several words."""

    @property
    def dimensions(self) -> int: ...

    def vector(self, item: str) -> NDArray[np.float32] | None:
        """A vector of length 1; None for an unknown word."""
        ...

    def vectors(self, items: Sequence[str]) -> NDArray[np.float32]:
        """A row for each item, zeros for an unknown one; faster than a call for each."""
        ...


class Thesaurus(Protocol):
    """A thesaurus: senses of words, relations between senses, and explanations of senses."""

    def has(self, term: str) -> bool:
        """Whether the thesaurus has this term, of one or several words."""
        ...

    def senses(self, item: str) -> frozenset[str]: ...

    def near(self, item: str) -> frozenset[str]:
        """Senses that are one relation away from a sense of the item."""
        ...

    def parts(self, item: str) -> frozenset[str]:
        """Senses that a sense of the item is a part of, or that are a part of it."""
        ...

    def explained(self, item: str) -> tuple[tuple[str, ...], ...]:
        """For each of its senses, the words that explain it."""
        ...


@dataclass(frozen=True, slots=True)
class Weights:
    """Found by logistic regression on pairs of terms, synonyms and others, from the vocabularies for calibration."""

    cosine: float = 4.0
    near: float = 2.4
    beyond: float = 0.8
    explained: float = 2.7
    mentioned: float = 1.1
    part: float = -4.0
    doubt: float = 3.5
    same: float = 0.95
    listed: float = 0.0
    overlap: float = 0.0
    unlisted: float = 0.0


class Meanings:
    """Vectors of explanations, each the mean of its words' vectors, with length 1. Synonyms share explanations, so the
    vectors are cached, up to a bound."""

    def __init__(self, vectors: WordVectors) -> None:
        self._vectors = vectors
        self._kept: dict[tuple[str, ...], NDArray[np.float32] | None] = {}

    def of(self, explained: Sequence[tuple[str, ...]]) -> NDArray[np.float32]:
        """A row for each explanation that has a known word."""
        kept = self._kept
        if len(kept) + len(explained) > _KEPT:
            kept.clear()
        missing = list(dict.fromkeys(each for each in explained if each not in kept))
        if missing:
            kept.update(self._made(missing))
        found = [each for words in explained if (each := kept[words]) is not None]
        return np.array(found, np.float32).reshape(-1, self._vectors.dimensions)

    def _made(self, explained: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], NDArray[np.float32] | None]:
        """The vectors of some explanations; looks up the vectors of all their words at once."""
        made: dict[tuple[str, ...], NDArray[np.float32] | None] = dict.fromkeys(explained)
        vectors = self._vectors.vectors(list(chain.from_iterable(explained)))
        totals = sums(vectors, [len(words) for words in explained])
        lengths = np.sqrt((totals * totals).sum(axis=1)).tolist()
        found = zip(explained, totals, lengths, strict=True)
        made.update((words, total / length) for words, total, length in found if length)
        return made


def sums(rows: NDArray[np.float32], sizes: Sequence[int]) -> NDArray[np.float32]:
    """The sums of consecutive groups of rows with these sizes. A call of `np.add.reduce` for each group takes an eighth
    of the time of `np.add.reduceat`."""
    found = np.empty((len(sizes), rows.shape[1]), np.float32)
    begin = 0
    for place, size in enumerate(sizes):
        np.add.reduce(rows[begin : begin + size], out=found[place])
        begin += size
    return found


class Witness:
    """The evidence of a thesaurus for a fixed set of items, to be compared with other items."""

    def __init__(
        self,
        thesaurus: Thesaurus,
        meanings: Meanings,
        items: Sequence[str],
        weights: Weights,
        lists: SynonymLists | None = None,
    ) -> None:
        self._thesaurus, self._meanings, self._weights = thesaurus, meanings, weights
        self._listed = None if lists is None else Listed(lists, items)
        self._size = len(items)
        self._number = _Table((number, [item]) for number, item in enumerate(items))
        self._senses = _Table((number, thesaurus.senses(item)) for number, item in enumerate(items))
        self._near = _Table((number, thesaurus.near(item)) for number, item in enumerate(items))
        self._parts = _Table((number, thesaurus.parts(item)) for number, item in enumerate(items))
        self._mentioning = _Table((number, _words(thesaurus.explained(item))) for number, item in enumerate(items))
        self._known = np.array([bool(thesaurus.senses(item)) for item in items], bool)
        explained = [meanings.of(thesaurus.explained(item)) for item in items]
        self._meant = np.concatenate([meanings.of([]), *explained])
        sizes = np.array([len(each) for each in explained], np.intp)
        self._having = np.flatnonzero(sizes)
        self._starts = (np.cumsum(sizes) - sizes)[self._having]

    def similarities(
        self, item: str, cosines: NDArray[np.float32], stretched: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """The similarity of an item to each of the fixed ones. `stretched`: the similarities by the cosines alone."""
        thesaurus, weights = self._thesaurus, self._weights
        senses, near = thesaurus.senses(item), thesaurus.near(item)
        if not senses:
            return stretched
        logit = weights.cosine * np.maximum(cosines, 0) + weights.explained * self._explained(item) - weights.doubt
        for weight, places in (
            (weights.near, self._senses[near] | self._near[senses]),
            (weights.beyond, self._near[near]),
            (weights.part, self._senses[thesaurus.parts(item)] | self._parts[senses]),
            (weights.mentioned, self._number[_words(thesaurus.explained(item))] | self._mentioning[frozenset([item])]),
        ):
            if places:
                logit[[*places]] += weight
        if self._listed is not None:
            both, listed, overlap = self._listed.of(item)
            logit += weights.unlisted * both + weights.listed * listed + weights.overlap * overlap
        similar = np.where(self._known, 1 / (1 + np.exp(-logit)), stretched)
        if same := [*self._senses[senses]]:
            similar[same] = np.maximum(similar[same], weights.same)
        return np.asarray(similar, np.float32)

    def _explained(self, item: str) -> NDArray[np.float32]:
        """The greatest cosine of an explanation of the item with one of each other."""
        greatest = np.zeros(self._size, np.float32)
        meanings = self._meanings.of(self._thesaurus.explained(item))
        if len(meanings) and self._starts.size:
            # vecdot: the same sum for each pair, however many there are
            cosines = np.vecdot(self._meant[:, None], meanings)
            nearest = np.maximum.reduceat(cosines.max(axis=1), self._starts)
            greatest[self._having] = np.maximum(nearest, 0)
        return greatest


def _words(explained: Iterable[Sequence[str]]) -> frozenset[str]:
    return frozenset(chain.from_iterable(explained))


class _Table:
    """Maps keys to the numbers of the items that have them."""

    def __init__(self, known: Iterable[tuple[int, Iterable[str]]]) -> None:
        self._numbers: dict[str, set[int]] = defaultdict(set)
        for number, found in known:
            for each in found:
                self._numbers[each].add(number)
        self._keys = frozenset(self._numbers)

    def __getitem__(self, keys: frozenset[str]) -> set[int]:
        """The numbers of the items with any of these keys, most of which the table does not have."""
        return set().union(*map(self._numbers.__getitem__, keys & self._keys))
