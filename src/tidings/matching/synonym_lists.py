"""Compares two words in a thesaurus of synonyms: whether it lists one for the other, and how much their lists overlap.

    overlap = |A ∩ B| / √(|A| · |B|)      for the lists A and B of two words

Such a thesaurus lists synonyms of a word in any of its senses, without saying in which. So this is only one kind of
evidence for `evidence.py`. If two known words are not listed for each other, that is evidence as well.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int32]


class SynonymLists(Protocol):
    """A thesaurus of synonyms, whose words are numbered."""

    def known(self, item: str) -> Numbers:
        """The numbers, in order, of the words that an item may be a form of; empty for an unknown item."""
        ...

    def listed(self, item: str) -> Numbers:
        """The numbers, in order, of all words that the thesaurus lists for the words of `known`."""
        ...


class Listings(NamedTuple):
    """The comparison of an item with each of some others."""

    both: NDArray[np.bool_]
    """Whether both have a list."""
    listed: NDArray[np.bool_]
    """Whether one is in the list of the other."""
    overlap: NDArray[np.float32]


class Listed:
    """The lists of synonyms of a fixed set of items, to be compared with other items."""

    def __init__(self, lists: SynonymLists, items: Sequence[str]) -> None:
        self._lists = lists
        self._sizes, self._holders = _held([lists.listed(item) for item in items])
        _, self._forms = _held([lists.known(item) for item in items])

    def of(self, item: str) -> Listings:
        count = len(self._sizes)
        mine = self._lists.listed(item)
        shared = np.bincount(self._holders.of(mine), minlength=count)
        sizes = self._sizes * np.float32(len(mine))
        both = sizes > 0
        listed = np.zeros(count, bool)
        listed[self._forms.of(mine)] = True
        listed[self._holders.of(self._lists.known(item))] = True
        overlap = np.divide(shared, np.sqrt(sizes), out=np.zeros(count, np.float32), where=both, casting="same_kind")
        return Listings(both, listed, overlap)


class _Holders:
    """Maps numbers to the items that have them."""

    def __init__(self, numbers: Numbers, items: NDArray[np.intp]) -> None:
        order = np.argsort(numbers, kind="stable")
        self._numbers, self._items = numbers[order], items[order]

    def of(self, numbers: Numbers) -> NDArray[np.intp]:
        """The items that have any of these numbers, each once for each number."""
        begin, end = np.searchsorted(self._numbers, numbers), np.searchsorted(self._numbers, numbers, "right")
        sizes = end - begin
        steps = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return np.asarray(self._items[np.repeat(begin, sizes) + steps], np.intp)


def _held(found: Sequence[Numbers]) -> tuple[NDArray[np.float32], _Holders]:
    """How many numbers each item has, and a map from numbers to items."""
    sizes = np.array([len(each) for each in found], np.intp)
    numbers = np.concatenate([np.zeros(0, np.int32), *found])
    return sizes.astype(np.float32), _Holders(numbers, np.repeat(np.arange(len(found)), sizes))
