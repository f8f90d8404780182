"""Descriptions of what the other side has a word for: what is compared with what, and that nothing else changes."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from matching.test_alignment import THESAURUS, Drawn
from tidings.matching.alignment import Aligned, Curve
from tidings.matching.paraphrases import MOST_WORDS, Paraphrases
from tidings.matching.relatedness import Calibration

MEANT = {
    "truck": 0, "heavy goods vehicle": 0, "large load mover": 0, "vacant": 1, "nobody inside": 1, "garage": 2,
    "house for cars": 2, "goods": 3, "heavy goods": 3, "car park": 4, "place with lanes": 4,
    "vacant house": 5, "empty": 5, "nobody": 5,
}  # fmt: skip
"""Phrases with the same number have the same vector; all others are at right angles."""


class Meant:
    """Vectors of phrases by a table."""

    dimensions = 8

    def vector(self, item: str) -> NDArray[np.float32] | None:
        return self.vectors([item])[0] if item in MEANT else None

    def vectors(self, items: Sequence[str]) -> NDArray[np.float32]:
        rows = [np.eye(8)[MEANT[item]] if item in MEANT else np.zeros(8) for item in items]
        return np.array(rows, np.float32).reshape(-1, 8)


def backend(*, described: bool = True) -> Aligned:
    paraphrases = Paraphrases(Meant(), THESAURUS) if described else None
    return Aligned("m", Calibration(0.5), Drawn([]), Curve(0.5, 10.0), THESAURUS, paraphrases=paraphrases)


WITH, WITHOUT = backend(), backend(described=False)
ALIKE = 1 / (1 + np.exp(-6))
WORDS = ["heavy", "goods", "vehicle", "truck", "nobody", "inside", "vacant", "car", "park", "garage", "event", "the"]
PHRASES = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), max_size=4)


def related(left: str, right: str, by: Aligned = WITH) -> float:
    return float(by.relate([left], [right])[0, 0])


@pytest.mark.parametrize("around", ["{}", "{} event", "vacant {}", "the {}"])
def test_a_description_is_what_it_describes(around: str) -> None:
    left, right = around.format("heavy goods vehicle"), around.format("truck")
    assert related(left, right) >= ALIKE - 1e-6
    assert related(left, right) == pytest.approx(related(right, left))
    assert related(left, right, WITHOUT) < 0.2


def test_two_descriptions_meet_in_one_phrase() -> None:
    assert related("heavy goods vehicle nobody inside", "truck vacant") == pytest.approx(ALIKE)


def test_a_description_is_compared_with_terms_of_several_words() -> None:
    assert related("place with lanes", "car park") == pytest.approx(ALIKE)


def test_a_description_is_not_compared_with_another() -> None:
    assert related("heavy goods vehicle", "large load mover") < 0.1
    assert related("nobody inside", "heavy goods vehicle") < 0.1


def test_a_description_is_not_compared_with_what_has_a_word_of_it() -> None:
    assert related("goods", "heavy goods") == related("goods", "heavy goods", WITHOUT) < 0.5


def test_a_description_is_not_compared_with_what_one_of_its_words_means() -> None:
    """ "vacant house" is near to what "vacant" is near to, and "house" is what makes the difference."""
    assert related("vacant house", "empty") == related("vacant house", "empty", WITHOUT)
    assert related("empty", "vacant house") == related("empty", "vacant house", WITHOUT)
    assert related("vacant house", "nobody") > 0.9


def test_words_and_terms_are_compared_as_without() -> None:
    for left, right in [("truck", "vacant"), ("car park", "garage"), ("car", "lorry"), ("empty", "vacant")]:
        assert related(left, right) == related(left, right, WITHOUT)


def test_words_that_say_little_neither_begin_nor_end_a_description() -> None:
    items = WITH.parts("the house for cars event").items
    assert "house for cars" in items
    assert not [item for item in items if item.startswith(("the ", "for ")) or item.endswith((" event", " for"))]


def test_no_description_is_looked_for_in_prose_or_among_numbers() -> None:
    prose = "heavy goods vehicle " + "so " * (MOST_WORDS - 3)
    assert "heavy goods vehicle" in WITH.parts(prose).items
    assert "heavy goods vehicle" not in WITH.parts(f"{prose} on").items
    assert WITH.parts("room 101").items == ("room", "101")


@given(PHRASES, PHRASES)
def test_relatedness_is_symmetric_bounded_and_does_not_depend_on_the_company(left: list[str], right: list[str]) -> None:
    whole = WITH.relate(left, right)
    assert ((whole >= 0) & (whole <= 1)).all()
    assert np.allclose(whole, WITH.relate(right, left).T, atol=1e-6)
    for row, one in enumerate(left):
        for column, other in enumerate(right):
            assert whole[row, column] == WITH.relate([one], [other])[0, 0]
