"""Relatedness of phrases from similarity of words: what it is, and that it is the same however it is asked for."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tidings.matching.alignment import Aligned, Curve
from tidings.matching.evidence import Weights
from tidings.matching.relatedness import Calibration

WORDS = ["parking", "car", "park", "vacant", "empty", "slot", "event", "incident", "the", "of", "zebra", "🚗", "停车"]


class Drawn:
    """Vectors from a table of numbers; no other word is known."""

    dimensions = 8

    def __init__(self, words: list[str]) -> None:
        self._known = {word: np.random.default_rng(place).random(8) for place, word in enumerate(words)}

    def vector(self, item: str) -> NDArray[np.float32] | None:
        found = self._known.get(item)
        return None if found is None else (found / np.linalg.norm(found)).astype(np.float32)

    def vectors(self, items: Sequence[str]) -> NDArray[np.float32]:
        rows = [np.zeros(8) if (found := self.vector(item)) is None else found for item in items]
        return np.array(rows, np.float32).reshape(-1, 8)


class Told:
    """A thesaurus of what a test says."""

    def __init__(self, senses: Mapping[str, str], near: Mapping[str, str]) -> None:
        self._senses, self._near = senses, near

    def has(self, term: str) -> bool:
        return term in self._senses

    def senses(self, item: str) -> frozenset[str]:
        return frozenset(self._senses.get(item, "").split())

    def near(self, item: str) -> frozenset[str]:
        return frozenset(self._near.get(item, "").split())

    def parts(self, item: str) -> frozenset[str]:
        return frozenset({"wheel": "s4"}.get(item, "").split())

    def explained(self, item: str) -> tuple[tuple[str, ...], ...]:
        return EXPLAINED.get(item, ())


EXPLAINED = {"bus": (("many", "seats"), ("computer", "line")), "coach": (("a", "bus", "with", "seats"),)}


THESAURUS = Told(
    {
        "car park": "s1",
        "garage": "s1",
        "empty": "s2",
        "vacant": "s2",
        "lorry": "s3",
        "car": "s4",
        "bus": "s5",
        "coach": "s6",
        "wheel": "s7",
    },
    {"car": "s3"},
)
PLAIN = Aligned("plain", Calibration(0.5), Drawn(WORDS[:-3]), Curve(0.9, 20.0))
WITH = Aligned("with", Calibration(0.5), Drawn([]), Curve(0.5, 10.0), THESAURUS)
EVEN = Aligned("even", Calibration(0.5), Drawn([]), Curve(0.5, 10.0), THESAURUS, even=True)
PHRASES = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)


def related(backend: Aligned, left: str, right: str) -> float:
    return float(backend.relate([left], [right])[0, 0])


def test_the_same_phrase_is_1_whether_its_words_are_known_or_not() -> None:
    assert related(PLAIN, "Zebra_Crossing", "zebra crossing") == 1
    assert related(PLAIN, "", "") == 1
    assert related(PLAIN, "", "zebra") == 0
    assert related(PLAIN, "the", "zebra") <= 0.05


def test_synonyms_of_several_words_are_found() -> None:
    assert related(WITH, "car park", "garage") == pytest.approx(0.95)
    assert related(WITH, "empty car park", "vacant garage") == pytest.approx(0.95)
    assert related(WITH, "car", "garage") < 0.05


def test_evidence_adds_up() -> None:
    assert 0.05 < related(WITH, "car", "lorry") < 0.5  # near, and nothing else speaks for it
    words = Drawn(["many", "seats", "computer", "line", "bus", "with"])
    spoken = Aligned("spoken", Calibration(0.5), words, Curve(0.5, 10.0), THESAURUS)
    assert related(spoken, "bus", "coach") > related(spoken, "bus", "lorry")
    assert related(spoken, "coach", "bus") == related(spoken, "bus", "coach")
    without = Aligned("without", Calibration(0.5), words, Curve(0.5, 10.0), THESAURUS, Weights(mentioned=0.0))
    assert related(without, "bus", "coach") < related(spoken, "bus", "coach")


def test_a_part_is_not_the_whole() -> None:
    assert related(WITH, "wheel", "car") < related(WITH, "wheel", "lorry") == related(WITH, "lorry", "wheel")


def test_one_word_without_its_like_spoils_a_phrase_and_less_so_if_sides_count_evenly() -> None:
    assert related(WITH, "empty", "empty zebra") == pytest.approx(2 / (1 + (1 + 50) / 2))
    assert related(EVEN, "empty", "empty zebra") == pytest.approx((1 + 2 / 51) / 2)


def test_words_that_only_say_event_weigh_little() -> None:
    assert related(WITH, "vacant event", "vacant") > related(WITH, "vacant zebra", "vacant")


def test_words_that_only_say_event_do_not_spoil_a_phrase_and_count_where_there_are_no_others() -> None:
    assert related(WITH, "vacant event", "vacant message") > 0.6
    assert related(WITH, "vacant zebra", "vacant garage") < 0.1
    assert related(WITH, "event", "message") < 0.05


@given(st.lists(PHRASES, max_size=5), st.lists(PHRASES, max_size=5))
def test_relatedness_is_symmetric_bounded_and_does_not_depend_on_the_company(left: list[str], right: list[str]) -> None:
    for backend in (PLAIN, WITH, EVEN):
        whole = backend.relate(left, right)
        assert whole.shape == (len(left), len(right))
        assert ((whole >= 0) & (whole <= 1)).all()
        assert np.allclose(whole, backend.relate(right, left).T, atol=1e-6)
        for row, one in enumerate(left):
            for column, other in enumerate(right):
                assert whole[row, column] == backend.relate([one], [other])[0, 0]


def test_a_text_of_a_thousand_words_is_known_by_its_first_ones() -> None:
    assert related(PLAIN, "parking " * 1_000, "parking " * 999) == pytest.approx(1, abs=1e-6)
