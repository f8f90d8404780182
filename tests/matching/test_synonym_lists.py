"""What lists of synonyms say of an item and others is what sets say, whatever the company."""

from math import isclose, sqrt

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tidings.matching.evidence import Meanings, Weights, Witness
from tidings.matching.synonym_lists import Listed

ITEMS = "abcdef"
Lists = dict[str, set[int]]


class Fake:
    """An item is the word of its place, unless it is the last one, which is a form of the first two."""

    def __init__(self, lists: Lists) -> None:
        self._lists = lists

    def known(self, item: str) -> NDArray[np.int32]:
        place = ITEMS.index(item)
        return np.array([0, 1] if place == len(ITEMS) - 1 else [place], np.int32)

    def listed(self, item: str) -> NDArray[np.int32]:
        return np.array(sorted(self._lists.get(item, ())), np.int32)


lists = st.dictionaries(st.sampled_from(ITEMS), st.sets(st.integers(0, 8), max_size=6))


@given(lists, st.lists(st.sampled_from(ITEMS), unique=True), st.sampled_from(ITEMS))
def test_it_says_what_sets_say(made: Lists, items: list[str], asked: str) -> None:
    fake = Fake(made)
    found = Listed(fake, items).of(asked)
    mine, me = set(fake.listed(asked).tolist()), set(fake.known(asked).tolist())
    for number, item in enumerate(items):
        theirs, they = set(fake.listed(item).tolist()), set(fake.known(item).tolist())
        assert found.both[number] == bool(mine and theirs)
        assert found.listed[number] == bool(mine & they or theirs & me)
        expected = len(mine & theirs) / sqrt(len(mine) * len(theirs)) if mine and theirs else 0.0
        assert isclose(found.overlap[number], expected, rel_tol=1e-6)
        alone = Listed(fake, [item]).of(asked)
        assert alone.overlap[0] == found.overlap[number]


class Knows:
    """A thesaurus that has every item, and says nothing of any."""

    def has(self, term: str) -> bool:
        return False

    def senses(self, item: str) -> frozenset[str]:
        return frozenset([item])

    def near(self, item: str) -> frozenset[str]:
        return frozenset()

    def parts(self, item: str) -> frozenset[str]:
        return frozenset()

    def explained(self, item: str) -> tuple[tuple[str, ...], ...]:
        return ()


class NoVectors:
    dimensions = 1

    def vector(self, item: str) -> NDArray[np.float32] | None:
        return None

    def vectors(self, items: object) -> NDArray[np.float32]:
        return np.zeros((0, 1), np.float32)


def test_evidence_for_and_against_adds_up() -> None:
    weights = Weights(doubt=1.0, listed=2.0, overlap=4.0, unlisted=-0.5)
    fake = Fake({"a": {0, 1, 2, 3}, "b": {1, 2, 3, 4}, "c": {0, 5, 6, 7}, "d": {6, 7}})
    witness = Witness(Knows(), Meanings(NoVectors()), "bcde", weights, fake)
    none = np.zeros(4, np.float32)
    logit = [-1 - 0.5 + 2 + 4 * 3 / 4, -1 - 0.5 + 2 + 4 * 1 / 4, -1 - 0.5 + 2, -1]
    assert np.allclose(witness.similarities("a", none, none), [1 / (1 + np.exp(-each)) for each in logit])
