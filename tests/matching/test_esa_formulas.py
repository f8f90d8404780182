"""Explicit semantic analysis, against a direct computation of its formulas on whole matrices."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matching.small_index import indexed
from tidings.matching.esa import formulas
from tidings.matching.esa.judgement import Pair, agreement, spearman
from tidings.matching.esa.related import EsaRelatedness
from tidings.matching.esa.stems import stem
from tidings.matching.esa.terms import counted, terms

DOCUMENTS = [
    "Car park: a place where cars and other vehicles are parked.",
    "A vehicle is a car, a bus, or a lorry; vehicles carry people.",
    "Parking area, vehicle park: an area for parking vehicles in a city.",
    "Wind speed is the speed of the air. Wind carries sand.",
    "The temperature of the air and of the ground, in a city.",
    "Sand, sand, sand and wind make a desert.",
]
INDEX = indexed(DOCUMENTS)


def dense(documents: list[str], phrase: str) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """The vector of a phrase, straight from the formulas, over all documents and without pruning."""
    counts = [counted(text) for text in documents]
    vocabulary = sorted({term for each in counts for term in each})
    table = np.array([[each[term] for each in counts] for term in vocabulary], float)
    idf = np.log(len(documents) / (table > 0).sum(axis=1))
    weights = np.where(table > 0, 1 + np.log(np.maximum(table, 1)), 0) * idf[:, None]
    weights /= np.sqrt((weights**2).sum(axis=0))  # documents of length 1
    weights /= np.maximum(np.sqrt((weights**2).sum(axis=1)), 1e-30)[:, None]  # then words of length 1
    rows = [vocabulary.index(term) for term in terms(phrase) if term in vocabulary]
    vector = (idf[rows, None] * weights[rows]).sum(axis=0)
    length = np.sqrt((vector**2).sum())
    return np.asarray(vector / length if length else vector)


KNOWN = "car park vehicle parking area wind speed city sand air unheard of ground people"
WORDS = st.sampled_from(KNOWN.split())
PHRASES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)


@given(st.lists(PHRASES, min_size=1, max_size=4), st.lists(PHRASES, min_size=1, max_size=4))
def test_relatedness_is_what_the_formulas_say(left: list[str], right: list[str]) -> None:
    esa = EsaRelatedness(INDEX)
    found = esa.relate(left, right)
    assert found.shape == (len(left), len(right))
    for row, one in enumerate(left):
        for column, other in enumerate(right):
            expected = 1.0 if one == other else float(dense(DOCUMENTS, one) @ dense(DOCUMENTS, other))
            assert found[row, column] == pytest.approx(expected, abs=1e-5)


@given(PHRASES, PHRASES)
def test_the_cosine_of_two_vectors_is_their_relatedness(one: str, other: str) -> None:
    esa = EsaRelatedness(INDEX)
    if one != other:
        found = formulas.cosine(esa.vector(one), esa.vector(other))
        assert found == pytest.approx(float(esa.relate([one], [other])[0, 0]), abs=1e-5)


def test_words_that_differ_are_related_by_what_they_are_about() -> None:
    esa = EsaRelatedness(INDEX)
    near, far = esa.relate(["vehicle park"], ["parking area", "desert"])[0]
    assert near > 0.5 > far
    assert esa.shared("vehicle park", "parking area")[0].title == "document 2"
    assert [each.title for each in esa.concepts("desert")] == ["document 5"]


def test_what_is_not_known_is_related_to_itself_only() -> None:
    esa = EsaRelatedness(INDEX)
    strange = ["", "🚗", "автомобиль", "of the", "42", "x" * 10_000]
    found = esa.relate(strange, [*strange, "car"])
    assert np.array_equal(found, np.eye(len(strange), len(strange) + 1, dtype=np.float32))
    assert esa.unknown("car автомобиль") == ["автомобиль"]
    assert esa.relate([], ["car"]).shape == (0, 1)
    assert esa.relate(["car"], []).shape == (1, 0)


def test_spellings_of_one_phrase_are_the_same() -> None:
    esa = EsaRelatedness(INDEX)
    assert esa.relate(["vehiclePark"], ["Vehicle_park"])[0, 0] == 1.0


def test_what_is_kept_of_phrases_is_bounded() -> None:
    esa = EsaRelatedness(INDEX, entries=200)
    before = esa.relate(["vehicle"], ["car"])
    for number in range(500):
        esa.relate([f"vehicle {number} area"], ["car"])
        assert esa.kept <= 200
    assert np.array_equal(esa.relate(["vehicle"], ["car"]), before)


def test_pruning_keeps_the_greatest_and_drops_the_slight() -> None:
    concepts = np.arange(6, dtype=np.int32)
    weights = np.array([0.1, 3.0, 2.0, 3.0, 0.01, 1.0])
    kept = formulas.pruned(concepts, weights, most=4, least=0.5)
    assert kept.concepts.tolist() == [1, 2, 3]
    assert kept.weights == pytest.approx(np.array([3.0, 2.0, 3.0]) / np.sqrt(22))
    assert formulas.pruned(concepts, weights, most=1, least=0.0).concepts.tolist() == [1]  # the first of equals
    assert formulas.pruned(concepts[:0], weights[:0], most=4, least=0.5).concepts.size == 0


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("parking parked parks park", "park"),
        ("relational relate relates", "relat"),
        ("hopping hopped hops", "hop"),
        ("conflated conflates", "conflat"),
        ("ponies pony", "poni"),
        ("temperatures temperature", "temperatur"),
        ("vacancies vacancy", "vacanc"),
        ("controlling controlled", "control"),
        ("sky", "sky"),
        ("agreed agrees", "agre"),
        ("adoption", "adopt"),
    ],
)
def test_endings_go(words: str, expected: str) -> None:
    found = {stem(word) for word in words.split()}
    assert found == {expected}


def test_terms_are_words_that_say_something() -> None:
    assert terms("The parkingSpace_Status of 42 CO2 sensors") == ["park", "space", "statu", "co2", "sensor"]
    assert terms("of the") == ["of", "the"]  # better than nothing
    assert counted("Parks, a park; PARKING! 1984") == Counter({"park": 3})
    assert counted("y" * 41) == Counter()


def test_spearman_is_one_for_the_same_order_and_shares_ranks() -> None:
    assert spearman([1, 2, 3], [10, 20, 30]) == pytest.approx(1.0)
    assert spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1.0)
    assert spearman([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(0.948683)
    assert spearman([1, 1], [1, 2]) == 0.0
    esa = EsaRelatedness(INDEX)
    pairs = [Pair("car", "vehicle", 9), Pair("car", "desert", 1), Pair("car", "xyzzy", 0), Pair("wind", "Sand", 7)]
    found = agreement(esa, pairs)
    assert (found.pairs, found.unknown) == (4, 1)
    assert found.spearman > 0.7
