"""Statistics of few samples: mean, extremes, variance, percentiles, and confidence intervals.

    variance = sum (v - mean)² / I

The variance is that of the population, divided by I and not by I - 1: only so, the rows of the PES paper (2016, section
V-A) are reproduced, as the tests show. Confidence intervals use the variance of the sample, as they must.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import atan, cos, fsum, isfinite, pi, sin, sqrt
from random import Random
from statistics import NormalDist

CONFIDENCE = 0.95
SEED = 2016
ROUNDS = 3000
"""Resamples of a bootstrap."""
PICKS = 600_000
"""The most values drawn in one bootstrap: large samples get fewer rounds, down to LEAST_ROUNDS."""
LEAST_ROUNDS = 1000


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval of a figure."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Summary:
    """The last columns of a row in the paper's CSV, and the number of samples."""

    count: int
    mean: float
    min: float
    max: float
    variance: float

    @property
    def deviation(self) -> float:
        return sqrt(self.variance)

    @property
    def variation(self) -> float:
        """The coefficient of variation of the sample: its standard deviation as a share of the mean."""
        if self.count < 2 or not self.mean:
            return 0.0
        return sqrt(self.variance * self.count / (self.count - 1)) / abs(self.mean)


def summarise(samples: Sequence[float]) -> Summary:
    """Raises ValueError if there are no samples, or one is not a number."""
    _check(samples)
    middle = mean(samples)
    least, most = min(samples), max(samples)
    spread = fsum((value - middle) ** 2 for value in samples) / len(samples)
    return Summary(len(samples), middle, least, most, spread)


def mean(samples: Sequence[float]) -> float:
    """The mean, which is between the extremes in spite of rounding."""
    return min(max(fsum(samples) / len(samples), min(samples)), max(samples))


def median(samples: Sequence[float]) -> float:
    ordered = sorted(samples)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def percentile(samples: Sequence[float], per_cent: float) -> float:
    """A percentile, with linear interpolation between the two nearest samples, as numpy does by default."""
    _check(samples)
    return _of_sorted(sorted(samples), per_cent)


def percentiles(samples: Sequence[float], wanted: Sequence[float] = (50, 90, 95, 99)) -> dict[float, float]:
    _check(samples)
    ordered = sorted(samples)
    return {per_cent: _of_sorted(ordered, per_cent) for per_cent in wanted}


def _of_sorted(ordered: Sequence[float], per_cent: float) -> float:
    if not 0 <= per_cent <= 100:
        raise ValueError(f"a percentile is between 0 and 100, not {per_cent:g}")
    place = per_cent / 100 * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    low, high = ordered[below], ordered[above]
    return min(low + (high - low) * (place - below), high)


def _check(samples: Sequence[float]) -> None:
    if not samples:
        raise ValueError("there are no samples")
    if not all(map(isfinite, samples)):
        raise ValueError("a sample is not a finite number")


def mean_interval(samples: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Student's interval for the mean; the one to use for few samples. Needs two."""
    if len(samples) < 2:
        raise ValueError("an interval needs at least 2 samples")
    summary = summarise(samples)
    count = summary.count
    half = t_quantile((1 + confidence) / 2, count - 1) * sqrt(summary.variance / (count - 1))
    return Interval(summary.mean - half, summary.mean + half)


def bootstrap(
    samples: Sequence[float],
    figure: Callable[[Sequence[float]], float] = mean,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
) -> Interval:
    """A confidence interval: percentiles of the figure over resamples, expanded for few samples."""
    drawn = resampled(samples, figure, seed)
    return central(sorted(drawn), confidence, len(samples))


def resampled(samples: Sequence[float], figure: Callable[[Sequence[float]], float], seed: int) -> tuple[float, ...]:
    """The figure over resamples with replacement; the same seed draws the same resamples."""
    _check(samples)
    return _drawn(tuple(samples), figure, seed)


@lru_cache(maxsize=1024)
def _drawn(samples: tuple[float, ...], figure: Callable[[Sequence[float]], float], seed: int) -> tuple[float, ...]:
    """The same, cached: a report shows the same samples in several places, and drawing takes most of its time."""
    rng = Random(seed)
    size = len(samples)
    rounds = max(LEAST_ROUNDS, min(ROUNDS, PICKS // size))
    return tuple(figure(rng.choices(samples, k=size)) for _ in range(rounds))


def central(ordered: Sequence[float], confidence: float, size: int) -> Interval:
    """The central interval of a bootstrap's outcomes. Percentiles of few samples are too narrow, so the tails are such
    that it is as wide as Student's interval (Hesterberg 2014, expanded percentile interval)."""
    if size < 2:
        raise ValueError("an interval needs at least 2 samples")
    wide = t_quantile((1 + confidence) / 2, size - 1) * sqrt(size / (size - 1))
    tail = 100 * NormalDist().cdf(-wide)
    return Interval(_of_sorted(ordered, tail), _of_sorted(ordered, 100 - tail))


@lru_cache(maxsize=256)
def t_quantile(probability: float, freedom: int) -> float:
    """The quantile of Student's t, above the median, by halving; the normal one beyond 300 degrees of freedom."""
    if not 0.5 <= probability < 1 or freedom < 1:
        raise ValueError("a quantile of t is asked for with 0.5 <= probability < 1 and at least 1 degree of freedom")
    if freedom > 300:
        z = NormalDist().inv_cdf(probability)
        return z + (z**3 + z) / (4 * freedom)  # first term of Cornish-Fisher: right to 5 digits here
    low, high = 0.0, 1.0
    while t_cdf(high, freedom) < probability:
        low, high = high, 2 * high
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if t_cdf(middle, freedom) < probability else (low, middle)
    return high


def t_cdf(t: float, freedom: int) -> float:
    """P(T <= t) for t >= 0: the finite sums for whole degrees of freedom (Abramowitz and Stegun 26.7.3, 26.7.4)."""
    angle = atan(t / sqrt(freedom))
    odd = freedom % 2
    square = cos(angle) ** 2
    term = cos(angle) if odd else 1.0
    terms = [term] if freedom > 1 else []
    for step in range(3 if odd else 2, freedom - 1, 2):
        term *= square * (step - 1) / step
        terms.append(term)
    both = 2 / pi * (angle + sin(angle) * fsum(terms)) if odd else sin(angle) * fsum(terms)
    return (1 + both) / 2
