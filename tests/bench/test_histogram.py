"""Histograms can be split and merged at will, and their percentiles are within the error that they promise."""

from itertools import pairwise
from math import ceil
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.bench.results.histogram import ERROR, Histogram

latencies = st.lists(st.floats(1e-4, 1e7), min_size=1, max_size=80)


def as_merged(histogram: Histogram) -> dict[str, Any]:
    """All but the sum, in which the order of additions shows."""
    return {key: value for key, value in histogram.to_json().items() if key != "sum"}


@given(st.lists(latencies, min_size=1, max_size=5))
def test_the_parts_merged_are_the_whole(parts: list[list[float]]) -> None:
    whole = Histogram.of([sample for part in parts for sample in part])
    merged = Histogram.merged(map(Histogram.of, parts))
    assert as_merged(merged) == as_merged(whole)
    assert merged.sum == pytest.approx(whole.sum)


@given(latencies, latencies)
def test_merging_does_not_care_who_merges_whom(left: list[float], right: list[float]) -> None:
    one, other = Histogram.of(left), Histogram.of(right)
    one.merge(Histogram.of(right))
    other.merge(Histogram.of(left))
    assert as_merged(one) == as_merged(other)


@given(latencies)
def test_nothing_is_the_neutral_part(samples: list[float]) -> None:
    histogram = Histogram.of(samples)
    histogram.merge(Histogram())
    assert histogram.to_json() == Histogram.of(samples).to_json()


@given(latencies, st.floats(0, 100))
def test_a_percentile_is_within_the_promised_error(samples: list[float], per_cent: float) -> None:
    rank = max(1, ceil(per_cent / 100 * len(samples)))
    truth = sorted(samples)[rank - 1]
    assert Histogram.of(samples).percentile(per_cent) == pytest.approx(truth, rel=ERROR * (1 + 1e-6))


@given(latencies)
def test_the_extremes_and_the_mean_are_exact(samples: list[float]) -> None:
    histogram = Histogram.of(samples)
    assert (histogram.min, histogram.percentile(100)) == (min(samples), max(samples))
    assert histogram.mean == pytest.approx(sum(samples) / len(samples))


@given(latencies)
def test_a_histogram_survives_json(samples: list[float]) -> None:
    histogram = Histogram.of(samples)
    document = msgspec.json.decode(msgspec.json.encode(histogram.to_json()))
    assert Histogram.from_json(document).to_json() == histogram.to_json()


@given(latencies)
def test_bars_count_everything_and_do_not_overlap(samples: list[float]) -> None:
    bars = Histogram.of(samples).bars()
    assert sum(count for _, _, count in bars) == len(samples)
    assert all(low < high for low, high, _ in bars)
    assert all(before[1] <= after[0] * (1 + 1e-9) for before, after in pairwise(bars))


def test_zero_is_a_latency() -> None:
    histogram = Histogram.of([0.0, 0.0, 5.0])
    assert histogram.percentile(50) == pytest.approx(0, abs=1e-5)
    assert histogram.min == 0


@pytest.mark.parametrize("ms", [-1.0, float("nan"), float("inf")])
def test_what_is_no_latency_is_not_recorded(ms: float) -> None:
    histogram = Histogram()
    with pytest.raises(ValueError, match="latency"):
        histogram.record(ms)
    assert histogram.count == 0


def test_an_empty_histogram_has_no_percentiles_but_a_form_in_json() -> None:
    with pytest.raises(ValueError, match="nothing"):
        Histogram().percentile(50)
    with pytest.raises(ValueError, match="nothing"):
        _ = Histogram().mean
    with pytest.raises(ValueError, match="between"):
        Histogram.of([1.0]).percentile(101)
    assert Histogram.from_json(Histogram().to_json()).count == 0


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"error": 0.5, "count": 0, "sum": 0, "buckets": {}},
        {"error": ERROR, "count": 2, "sum": 1.0, "min": 1, "max": 1, "buckets": {"0": 1}},
        {"error": ERROR, "count": 1, "sum": 1.0, "buckets": [1]},
    ],
)
def test_what_is_no_histogram_is_not_read_as_one(document: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"histogram|error"):
        Histogram.from_json(document)
