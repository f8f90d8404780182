"""The indicators are those of Table I, and come out as the SPS paper prints them (Tables VIII and XVI)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.samples import a_run
from tidings.bench.results.histogram import Histogram
from tidings.bench.results.kpis import COMPONENTS, NAMES, Timing, indicators, kpis, timing_of
from tidings.bench.results.measured import Measurement
from tidings.bench.results.published import LAMP, ROAD, experiment_of


def lighting(**values: float) -> Measurement:
    return Measurement(target="t", test="LAMP", kind="lighting", n=310, values=values)


def paper(total: float, shares: tuple[float, ...], triples: float, hits: float, told: float) -> Measurement:
    components = dict(zip(COMPONENTS, (total * share for share in shares), strict=True))
    return lighting(subscriptions=1004, triples=triples, hits=hits, notifications=told, **components)


def test_the_lamp_experiment_gives_the_papers_indicators() -> None:
    found = indicators([paper(4560, (0.49, 0.07, 0.44, 0.0), 310, 1259, 23)])
    assert found["Ups"] == pytest.approx(LAMP.kpis["Ups"], rel=0.01)
    assert found["Sps"] == pytest.approx(LAMP.kpis["Sps"], rel=0.01)
    assert found["Tps"] == pytest.approx(LAMP.kpis["Tps"], rel=0.01)
    assert found["E2E"] == pytest.approx(LAMP.kpis["E2E"], abs=0.05)
    assert found["LHR"] == pytest.approx(LAMP.kpis["LHR"], abs=0.005)
    assert found["Nu_avg"] == LAMP.kpis["Nu_avg"]


def test_the_road_experiment_gives_the_papers_indicators() -> None:
    found = indicators([paper(81_300, (0.35, 0.03, 0.62, 0.0), 9500, 2239, 1004)])
    assert found["Ups"] == pytest.approx(ROAD.kpis["Ups"], abs=0.05)
    assert found["Sps"] == pytest.approx(ROAD.kpis["Sps"], rel=0.01)
    assert found["Tps"] == pytest.approx(ROAD.kpis["Tps"], rel=0.01)
    assert found["E2E"] == pytest.approx(ROAD.kpis["E2E"], abs=0.06)
    assert found["LHR"] == pytest.approx(ROAD.kpis["LHR"], abs=0.005)
    assert found["Nu_avg"] == pytest.approx(ROAD.kpis["Nu_avg"], abs=0.5)


parts = st.floats(0.01, 1e6)


@given(parts, parts, parts, parts, parts)
def test_the_components_add_up(update: float, lutt: float, booster: float, notify: float, overhead: float) -> None:
    timing = Timing(update, lutt, booster, notify, overhead)
    assert timing.elapsed - timing.total == pytest.approx(overhead, rel=1e-6, abs=1e-4)
    assert sum(timing.shares().values()) == pytest.approx(1)


@given(st.integers(1, 9), parts)
def test_points_of_one_test_are_one_long_experiment(times: int, part: float) -> None:
    point = paper(part, (0.4, 0.1, 0.3, 0.2), 620, 40, 7)
    once, often = indicators([point]), indicators([point] * times)
    for name in ("Ups", "Sps", "Tps", "E2E", "LHR", "Nu_avg"):
        assert often[name] == pytest.approx(once[name])
    assert often["notifications"] == times * once["notifications"]


def test_what_was_not_measured_is_left_out() -> None:
    assert indicators([lighting()]) == {}
    assert indicators([lighting(T_ELAPSED=100.0, T_OVERHEAD=38.0)]) == pytest.approx({"Ups": 5000, "Ups_client": 3100})
    assert timing_of({"T_UPDATE": 1.0}) is None
    assert "E2E" not in indicators([paper(100, (0, 0.5, 0.5, 0), 310, 1, 1)])


def test_wrong_answers_have_no_indicators() -> None:
    point = Measurement(target="t", test="x", kind="subscription", samples=(1.0,), wrong=("not so",))
    assert indicators([point]) == {}


def test_latencies_come_from_the_test_or_its_histogram_or_its_samples() -> None:
    told = lighting(NL_min=2.0, NL_max=9.0)
    drawn = Measurement(target="t", test="x", kind="mixed", histogram=Histogram.of([3.0, 1.5]).to_json())
    timed = Measurement(target="t", test="x", kind="subscription", samples=(4.0, 12.0))
    assert indicators([told])["NL_max"] == 9
    assert indicators([drawn]) == {"NL_min": 1.5, "NL_max": 3.0}
    assert indicators([told, drawn, timed])["NL_min"] == 1.5
    assert indicators([told, drawn, timed])["NL_max"] == 12


def test_losses_are_counted_over_all_points() -> None:
    def point(lost: float) -> Measurement:
        values: dict[str, float] = {"expected": 10, "received": 10 - lost, "lost": lost, "duplicates": 2}
        return Measurement(target="t", test="x", kind="subscription", n=1, values=values)

    found = indicators([point(0), point(1)])
    assert found["loss_ratio"] == 0.05
    assert found["duplicates"] == 4
    assert found["notifications"] == 19


def test_a_run_has_its_indicators_by_test_and_target() -> None:
    found = kpis(a_run())
    assert set(found["notify"]) == {"tidings", "blazegraph", "naive"}
    assert found["notify"]["naive"]["loss_ratio"] == pytest.approx(3 / 120)
    assert "query" not in found
    assert all(name in NAMES for test in found.values() for target in test.values() for name in target)


def test_an_experiment_is_known_by_its_name_or_by_its_updates() -> None:
    assert experiment_of("lighting-road", {}) is ROAD
    assert experiment_of("lighting", {"Nu_avg": 1.0}) is LAMP
    assert experiment_of("lighting", {"Nu_avg": 30.6}) is ROAD
    assert experiment_of("lighting", {}) is None
