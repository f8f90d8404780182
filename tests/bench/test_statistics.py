"""Statistics agree with numpy, with the tables of Student's t, and with the rows that the PES paper prints."""

from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.bench.results.statistics import (
    Interval,
    bootstrap,
    mean,
    mean_interval,
    median,
    percentile,
    percentiles,
    summarise,
    t_quantile,
)

times = st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=60)


@given(times)
def test_a_summary_is_what_numpy_says(samples: list[float]) -> None:
    summary = summarise(samples)
    assert summary.count == len(samples)
    assert summary.mean == pytest.approx(np.mean(samples))
    assert (summary.min, summary.max) == (np.min(samples), np.max(samples))
    assert summary.variance == pytest.approx(np.var(samples), rel=1e-6, abs=1e-9)
    assert summary.min <= summary.mean <= summary.max


@given(times, st.floats(0, 100))
def test_a_percentile_is_what_numpy_says(samples: list[float], per_cent: float) -> None:
    assert percentile(samples, per_cent) == pytest.approx(np.percentile(samples, per_cent))


def test_percentiles_are_given_together() -> None:
    samples = [float(value) for value in range(101)]
    assert percentiles(samples) == {50: 50, 90: 90, 95: 95, 99: 99}
    assert median(samples) == 50


PAPER = [  # v1, mean, min, max, variance of I = 3 iterations (PES paper, section V-A)
    (28.14, 28.38, 28.14, 28.82, 0.09),
    (66.93, 65.77, 62.72, 67.67, 4.74),
    (78.53, 77.30, 76.37, 78.53, 0.82),
    (88.98, 87.56, 85.95, 88.98, 1.55),
]
ROUNDING = (-0.005, 0.0, 0.005)


@pytest.mark.parametrize(("first", "middle", "least", "most", "variance"), PAPER)
def test_the_papers_variance_is_that_of_the_population(
    first: float, middle: float, least: float, most: float, variance: float
) -> None:
    """Of three values, two are the extremes; the third follows from the mean. What is printed was rounded."""

    def variances(ddof: int) -> list[float]:
        return [
            float(np.var([least + a, most + b, 3 * (middle + c) - least - a - most - b], ddof=ddof))
            for a, b, c in product(ROUNDING, repeat=3)
        ]

    population, sample = variances(0), variances(1)
    assert min(population) - 0.005 <= variance <= max(population) + 0.005
    assert variance < min(sample) - 0.005


def test_the_papers_second_row_contradicts_itself() -> None:
    """Its least value is more than its first, so nothing can be learnt from it."""
    first, least = 53.28, 56.10
    assert first < least


@pytest.mark.parametrize(
    ("probability", "freedom", "expected"),
    [
        (0.975, 1, 12.7062),
        (0.975, 2, 4.30265),
        (0.975, 3, 3.18245),
        (0.975, 9, 2.26216),
        (0.995, 4, 4.60409),
        (0.975, 30, 2.04227),
        (0.995, 100, 2.62589),
        (0.975, 1000, 1.96234),
        (0.5, 5, 0.0),
    ],
)
def test_quantiles_of_t_are_those_of_the_tables(probability: float, freedom: int, expected: float) -> None:
    assert t_quantile(probability, freedom) == pytest.approx(expected, abs=2e-5)


def test_the_interval_of_a_mean_is_students() -> None:
    interval = mean_interval([1.0, 2.0, 3.0])
    assert interval.low == pytest.approx(2 - 4.30265 / np.sqrt(3), abs=1e-4)
    assert interval.high == pytest.approx(2 + 4.30265 / np.sqrt(3), abs=1e-4)


def test_a_bootstrap_is_the_same_each_time_and_another_with_another_seed() -> None:
    samples = [Random(1).gauss(10, 1) + n / 10 for n in range(20)]
    assert bootstrap(samples) == bootstrap(samples)
    assert bootstrap(samples) != bootstrap(samples, seed=7)


def test_a_bootstrap_of_many_samples_agrees_with_student() -> None:
    rng = Random(2)
    samples = [rng.gauss(100, 10) for _ in range(400)]
    drawn, exact = bootstrap(samples), mean_interval(samples)
    assert drawn.low == pytest.approx(exact.low, rel=0.003)
    assert drawn.high == pytest.approx(exact.high, rel=0.003)


def test_intervals_of_few_samples_hold_the_truth_as_often_as_they_say() -> None:
    rng = Random(3)
    drawn = [[rng.gauss(50, 5) for _ in range(6)] for _ in range(200)]
    assert sum(50 in mean_interval(samples) for samples in drawn) >= 180
    assert sum(50 in bootstrap(samples, mean) for samples in drawn) >= 176


@pytest.mark.parametrize("samples", [[], [1.0, float("nan")], [float("inf")]])
def test_what_cannot_be_summarised_is_an_error(samples: list[float]) -> None:
    with pytest.raises(ValueError, match="sample"):
        summarise(samples)


def test_one_sample_has_no_interval_and_no_noise() -> None:
    assert summarise([3.0]).variation == 0
    with pytest.raises(ValueError, match="at least 2"):
        mean_interval([3.0])
    with pytest.raises(ValueError, match="at least 2"):
        bootstrap([3.0])


def test_an_interval_holds_its_ends() -> None:
    assert 1 in Interval(1, 2)
    assert 2 in Interval(1, 2)
    assert 2.1 not in Interval(1, 2)
