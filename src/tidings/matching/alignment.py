"""Relatedness of phrases from similarity of words: each word needs a similar one on the other side.

    agreement of a word     the greatest similarity of it, or of a term that it is part of, to any on the other side
    agreement of a side     the weighted harmonic mean over its words: one word without a similar one spoils a phrase
    relatedness             the harmonic mean of both sides, or their arithmetic mean (`even`)

Words that only say that something is an event ("event", "notification") have a quarter of the weight. Similarity is the
cosine of word vectors, stretched by a logistic curve; with a thesaurus, `evidence` combines the two. `paraphrases`, if
present, compares descriptions on one side with words on the other.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tidings.matching.evidence import Meanings, Thesaurus, Weights, Witness, WordVectors
from tidings.matching.paraphrases import LENGTHS, Described, Paraphrases
from tidings.matching.paraphrases import MOST_WORDS as MOST_DESCRIBED
from tidings.matching.relatedness import Calibration, Matrix, Related
from tidings.matching.synonym_lists import SynonymLists
from tidings.matching.words import spelled

STOP = frozenset(["a", "an", "and", "at", "by", "for", "in", "is", "its", "of", "on", "the", "to"])
LIGHT = frozenset(["event", "incident", "occurrence", "report", "notice", "message", "notification", "alert"]) | {
    *("information", "reading", "measurement", "value", "data"),
}
_NO_ENDS = STOP | LIGHT
"""A description does not begin or end with one of these."""
_LIGHT_WEIGHT = 0.25
_LEAST = 0.02
"""The least agreement of a word. It is above 0, so that one unknown word does not exclude a long phrase."""
_LIGHT_LEAST = 0.3
"""The least agreement of a light word beside others: "ferry arrived report" and "ferry arrived event" are related."""
MOST_WORDS = 32
"""How many words of a phrase count; those after them are ignored."""
_TINY = np.float32(1e-9)
_KEPT = 4_096
"""How many items are cached with their similarities to one set of phrases."""


WEIGHTS = Weights()


class Stretch(Protocol):
    """A function from cosines to similarities."""

    def __call__(self, cosine: NDArray[np.float32]) -> NDArray[np.float32]: ...


@dataclass(frozen=True, slots=True)
class Curve:
    """Similarity from a cosine c: the logistic curve of `steepness` with its middle at `middle`, 1 at c = 1."""

    middle: float
    steepness: float

    def __call__(self, cosine: NDArray[np.float32]) -> NDArray[np.float32]:
        top = 1 / (1 + np.exp(-self.steepness * (1 - self.middle)))
        stretched = 1 / (1 + np.exp(-self.steepness * (cosine - self.middle))) / top
        return np.asarray(stretched, np.float32)


class Aligned:
    """A backend as `relatedness` defines it."""

    def __init__(
        self,
        name: str,
        calibration: Calibration,
        vectors: WordVectors,
        curve: Curve,
        thesaurus: Thesaurus | None = None,
        weights: Weights = WEIGHTS,
        *,
        even: bool = False,
        paraphrases: Paraphrases | None = None,
        lists: SynonymLists | None = None,
    ) -> None:
        self.name = name
        self.calibration = calibration
        self.vectors = vectors
        self.meanings = Meanings(vectors)
        self.curve = curve
        self.thesaurus = thesaurus
        self.weights = weights
        self.even = even
        self.paraphrases = paraphrases
        self.lists = lists

    def relate(self, left: Sequence[str], right: Sequence[str]) -> Matrix:
        return self.against(right)(left)

    def against(self, right: Sequence[str]) -> Related:
        return _Prepared(self, [self.parts(each) for each in right])

    def parts(self, text: str) -> "Parts":
        """The words of a phrase that count, and the terms and descriptions that they form."""
        phrase = spelled(text)
        words = phrase.split()[:MOST_WORDS]
        kept = [place for place, word in enumerate(words) if word not in STOP] or list(range(len(words)))
        items = [words[place] for place in kept]
        covering = [[number] for number in range(len(kept))]
        for start, end in self._together(words):
            for number, place in enumerate(kept):
                if start <= place < end:
                    covering[number].append(len(items))
            items.append(" ".join(words[start:end]))
        light = [words[place] in LIGHT for place in kept]
        weights = [_LIGHT_WEIGHT if each and not all(light) else 1.0 for each in light]
        return Parts(phrase, tuple(items), tuple(tuple(each) for each in covering), tuple(weights))

    def _together(self, words: list[str]) -> Iterator[tuple[int, int]]:
        """The ranges of words that form a term, or may be a description."""
        for length in LENGTHS if self.thesaurus is not None or self.paraphrases is not None else ():
            for start in range(len(words) - length + 1):
                several = words[start : start + length]
                if self._is_term(several) or (len(words) <= MOST_DESCRIBED and self._may_describe(several)):
                    yield start, start + length

    def _is_term(self, words: list[str]) -> bool:
        return self.thesaurus is not None and self.thesaurus.has(" ".join(words))

    def _may_describe(self, words: list[str]) -> bool:
        return self.paraphrases is not None and not {words[0], words[-1]} & _NO_ENDS and all(map(str.isalpha, words))


@dataclass(frozen=True, slots=True)
class Parts:
    phrase: str
    items: tuple[str, ...]
    """The words, then the terms and descriptions that some of them form."""
    covering: tuple[tuple[int, ...], ...]
    """For each word, the places of the items that it is part of."""
    weights: tuple[float, ...]


class _Prepared:
    """Phrases, prepared. Sums run along the first axis, so that no score depends on which others are computed."""

    def __init__(self, backend: Aligned, right: Sequence[Parts]) -> None:
        self._backend = backend
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, each in enumerate(right):
            self._places[each.phrase].append(place)
        self._similarities = _Similarities(backend, list(dict.fromkeys(item for each in right for item in each.items)))
        index, none = self._similarities.index, len(self._similarities.index)
        items = max((len(each.items) for each in right), default=0)
        words = max((len(each.covering) for each in right), default=0)
        covers = max((len(each) for parts in right for each in parts.covering), default=0)
        self._items = np.full((items, len(right)), none, np.intp)
        self._covering = np.full((words, covers, len(right)), none, np.intp)
        self._weights = np.zeros((words, len(right)), np.float32)
        for column, parts in enumerate(right):
            numbers = [index[item] for item in parts.items]
            self._items[: len(numbers), column] = numbers
            self._weights[: len(parts.weights), column] = parts.weights
            for row, places in enumerate(parts.covering):
                self._covering[row, : len(places), column] = [numbers[place] for place in places]
        self._least = np.where(self._weights == _LIGHT_WEIGHT, _LIGHT_LEAST, _LEAST).astype(np.float32)
        self._size = np.maximum(self._weights.sum(axis=0), _TINY)
        self._empty = np.flatnonzero(self._weights.sum(axis=0) == 0)

    def __call__(self, left: Sequence[str]) -> Matrix:
        related = np.zeros((len(left), self._weights.shape[1]), np.float32)
        split = [self._backend.parts(text) for text in left]
        self._similarities.expect([item for parts in split for item in parts.items])
        for row, parts in enumerate(split):
            if parts.items and self._weights.shape[1]:
                related[row] = self._one(parts)
            related[row, self._places.get(parts.phrase, [])] = 1.0
        return related

    def _one(self, parts: Parts) -> NDArray[np.float32]:
        rows = np.array([self._similarities.of(item) for item in parts.items])
        ours = self._our_side(parts, rows)
        theirs = np.maximum(rows.max(axis=0)[self._covering].max(axis=1, initial=0.0), self._least)
        their_loss = np.maximum((self._weights / theirs).sum(axis=0) / self._size, _TINY)
        related = (1 / ours + 1 / their_loss) / 2 if self._backend.even else 2 / (ours + their_loss)
        related[self._empty] = 0
        return np.asarray(related, np.float32)

    def _our_side(self, parts: Parts, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """The reciprocal of the left side's agreement with each phrase."""
        best = np.maximum(rows[:, self._items].max(axis=1, initial=0.0), np.float32(_LEAST))
        loss = np.zeros(self._weights.shape[1], np.float32)
        for places, weight in zip(parts.covering, parts.weights, strict=True):
            agreement = best[places[0]] if len(places) == 1 else best[list(places)].max(axis=0)
            if weight == _LIGHT_WEIGHT:
                agreement = np.maximum(agreement, np.float32(_LIGHT_LEAST))
            loss += weight / agreement
        return loss / np.float32(sum(parts.weights))


class _Similarities:
    """Similarities of any item to a fixed set; the last entry of each array is 0, for padding."""

    def __init__(self, backend: Aligned, items: list[str]) -> None:
        self._backend = backend
        self.index = {item: number for number, item in enumerate(items)}
        self._vectors = np.zeros((len(items), backend.vectors.dimensions), np.float32)
        for item, number in self.index.items():
            vector = backend.vectors.vector(item)
            if vector is not None:
                self._vectors[number] = vector
        thesaurus = backend.thesaurus
        self._witness = None
        if thesaurus is not None:
            self._witness = Witness(thesaurus, backend.meanings, items, backend.weights, backend.lists)
        paraphrases = backend.paraphrases
        self._described = None if paraphrases is None else Described(paraphrases, items)
        self._kept: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    def expect(self, items: Sequence[str]) -> None:
        """Prepare for calls of `of` with these items."""
        if self._described is not None and (new := [item for item in items if item not in self._kept]):
            self._described.expect(new)

    def of(self, item: str) -> NDArray[np.float32]:
        row = self._kept.get(item)
        if row is None:
            row = self._kept[item] = self._found(item)
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(item)
        return row

    def _found(self, item: str) -> NDArray[np.float32]:
        paraphrases = self._backend.paraphrases
        row = np.zeros(len(self.index) + 1, np.float32)
        if self._described is None or paraphrases is None:
            row[:-1] = self._similar(item)
        elif paraphrases.is_description(item):
            words = np.array([self.of(word)[:-1] for word in item.split()])
            row[:-1] = self._described.of_description(item, words)
        else:
            row[:-1] = self._described.of_word(item, self._similar(item))
        same = self.index.get(item)
        if same is not None:
            row[same] = 1.0
        return np.minimum(row, 1.0)

    def _similar(self, item: str) -> NDArray[np.float32]:
        vector = self._backend.vectors.vector(item)
        cosines = np.zeros(len(self.index), np.float32)
        if vector is not None:
            # einsum: the sum of a row does not depend on the number of rows
            cosines = np.einsum("id,d->i", self._vectors, vector)
        stretched = np.where(cosines > 0, self._backend.curve(cosines), np.float32(0))
        return stretched if self._witness is None else self._witness.similarities(item, cosines, stretched)
