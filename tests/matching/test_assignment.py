"""The K best assignments are those that trying all of them finds."""

from itertools import islice, permutations
from math import exp, log, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.matching.matcher.assignment import best, k_best
from tidings.matching.matcher.exchanges import Matrix, cheapest
from tidings.matching.matcher.murty import ranked

SCORES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]) | st.floats(0.01, 1)


@st.composite
def matrices(draw: st.DrawFn) -> Matrix:
    rows, columns = draw(st.integers(0, 4)), draw(st.integers(0, 5))
    entries = draw(st.lists(SCORES, min_size=rows * columns, max_size=rows * columns))
    return np.array(entries, np.float64).reshape(rows, columns)


def brute_force(scores: Matrix) -> list[float]:
    """What every injective mapping without a score of 0 is worth, the best first."""
    rows, columns = scores.shape
    worth = (prod(scores[range(rows), picked].tolist()) for picked in permutations(range(columns), rows))
    return sorted((each for each in worth if each > 0), reverse=True)


@given(matrices(), st.integers(1, 130))
def test_the_k_best_are_those_of_brute_force(scores: Matrix, k: int) -> None:
    found = k_best(scores, k)
    assert [worth for _, worth in found] == pytest.approx(brute_force(scores)[:k])
    assert len({columns for columns, _ in found}) == len(found)
    for columns, worth in found:
        assert len(set(columns)) == len(scores)
        assert prod(scores[range(len(scores)), columns].tolist()) == pytest.approx(worth)


@given(matrices(), st.integers(2, 130))
def test_the_search_and_murty_find_the_same(scores: Matrix, k: int) -> None:
    first = best(scores)
    if first is None or not len(scores):
        return
    with np.errstate(divide="ignore"):
        costs = -np.log(scores)
    found = [cheapest(costs, first, k), list(islice(ranked(costs, first), k))]
    for each in found:
        assert each is not None
        assert len({columns for columns, _ in each}) == len(each)
        assert [exp(-cost) for _, cost in each] == pytest.approx(brute_force(scores)[:k])


@pytest.mark.parametrize("shape", [(40, 40), (40, 46)])
def test_a_search_that_takes_too_long_is_left_to_murty(shape: tuple[int, int]) -> None:
    costs = np.random.default_rng(3).random(shape)
    first = best(np.exp(-costs))
    assert first is not None
    assert cheapest(costs, first, 60, steps=1_000) is None
    murty = [cost for _, cost in islice(ranked(costs, first), 60)]
    assert [-log(worth) for _, worth in k_best(np.exp(-costs), 60)] == pytest.approx(murty)


@given(matrices())
def test_the_best_is_the_first_of_the_k_best(scores: Matrix) -> None:
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
