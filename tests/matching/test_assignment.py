"""The K best assignments are those that trying all of them finds."""

from itertools import permutations
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.matching.matcher.assignment import Scores, best, k_best

SCORES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]) | st.floats(0.01, 1)


@st.composite
def matrices(draw: st.DrawFn) -> Scores:
    rows, columns = draw(st.integers(0, 4)), draw(st.integers(0, 5))
    entries = draw(st.lists(SCORES, min_size=rows * columns, max_size=rows * columns))
    return np.array(entries, np.float64).reshape(rows, columns)


def brute_force(scores: Scores) -> list[float]:
    """What every injective mapping without a score of 0 is worth, the best first."""
    rows, columns = scores.shape
    worth = (prod(scores[range(rows), picked].tolist()) for picked in permutations(range(columns), rows))
    return sorted((each for each in worth if each > 0), reverse=True)


@given(matrices(), st.integers(1, 130))
def test_the_k_best_are_those_of_brute_force(scores: Scores, k: int) -> None:
    found = k_best(scores, k)
    assert [worth for _, worth in found] == pytest.approx(brute_force(scores)[:k])
    assert len({tuple(columns.tolist()) for columns, _ in found}) == len(found)
    for columns, worth in found:
        assert len(set(columns.tolist())) == len(scores)
        assert prod(scores[range(len(scores)), columns].tolist()) == pytest.approx(worth)


@given(matrices())
def test_the_best_is_the_first_of_the_k_best(scores: Scores) -> None:
    columns = best(scores)
    worths = brute_force(scores)
    if columns is None:
        assert worths == []
    else:
        assert prod(scores[range(len(scores)), columns].tolist()) == pytest.approx(worths[0])


def test_there_is_no_mapping_of_more_predicates_than_tuples() -> None:
    assert best(np.ones((3, 2))) is None
    assert k_best(np.ones((3, 2)), 5) == []


def test_thousands_of_tuples_are_no_trouble() -> None:
    scores = np.random.default_rng(7).random((20, 10_000))
    found = k_best(scores, 10)
    worths = [worth for _, worth in found]
    assert len(found) == 10
    assert worths == sorted(worths, reverse=True)
