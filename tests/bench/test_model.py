"""The model is the SPS paper's: it foretells what they foretold, and a constant broker exactly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.samples import a_run
from tidings.bench.results.measured import Measurement
from tidings.bench.results.performance_model import Model, Scale, cores_needed, fit, predict, predictions, scale_of

FIRST = Model(tu=7.302, tl=0.001, tb=1.789, te=0.155)
"""Table XVII: everyone updates one lamp, and subscribes to it."""
SECOND = Model(tu=252.573, tl=0.255, tb=127.243, te=10.321)
"""Table XVII: the same with 100 lamps."""

steps = st.floats(1e-3, 100)
counts = st.integers(1, 2000)


def measured(model: Model, scale: Scale, n: int) -> Measurement:
    timing = model.timing(scale)
    values = {
        "updates": scale.updates,
        "subscriptions": scale.subscriptions,
        "hits": scale.hits,
        "notifications": scale.hits,
        "T_UPDATE": timing.update,
        "T_LUTT": timing.lutt,
        "T_BOOSTER": timing.booster,
        "T_NOTIFY": timing.notify,
    }
    return Measurement(target="t", test="everyone", kind="lighting", n=n, values=values)


def test_sixteen_cores_notify_8k_subscribers_a_second() -> None:
    """Equation 12 and Fig. 12; Fig. 14 for the worst case."""
    assert FIRST.notifications_a_second(cores=16) == pytest.approx(8230, rel=0.001)
    assert SECOND.notifications_a_second(cores=16) == pytest.approx(116.3, rel=0.001)


def test_the_most_updates_a_second_fall_with_subscriptions() -> None:
    """Equation 11 and Figs. 13 and 15: without subscriptions, all that is left is the endpoint."""
    assert FIRST.updates_a_second(0) == pytest.approx(1000 / 7.302)
    assert FIRST.updates_a_second(1004) == pytest.approx(120.4, rel=0.001)
    assert SECOND.updates_a_second(0) == pytest.approx(3.96, rel=0.001)


def test_without_lutt_the_lamp_experiment_takes_nine_minutes() -> None:
    """Table IX: every BOOSTER is asked, every time."""
    everything = Scale(310, 1004, 1.0)
    model = Model(tu=FIRST.tu, tl=0.0, tb=FIRST.tb, te=0.0)
    timing = model.timing(everything)
    assert timing.booster / 60_000 == pytest.approx(9, abs=0.5)
    assert model.ups(everything) == pytest.approx(0.55, abs=0.01)
    assert (timing.total - timing.update) / timing.update == pytest.approx(245, rel=0.01)


def test_more_cores_bring_the_total_from_equation_7_to_equation_8() -> None:
    scale = Scale(10, 4, 1.0)
    sequential, parallel = SECOND.sequential(scale), SECOND.parallel(scale)
    assert cores_needed(scale) == 5
    assert SECOND.bounds(scale, 1) == (sequential, sequential)
    assert SECOND.bounds(scale, 3) == (parallel, sequential)
    assert SECOND.bounds(scale, 5) == (parallel, parallel)
    assert parallel < sequential


@given(steps, steps, steps, steps, counts, counts, counts, counts)
def test_a_broker_as_the_model_has_it_is_foretold_exactly(
    tu: float, tl: float, tb: float, te: float, n: int, m: int, more_n: int, more_m: int
) -> None:
    model = Model(tu, tl, tb, te)
    base, other = measured(model, Scale(n, m, 0.25), 1), measured(model, Scale(more_n, more_m, 0.75), 2)
    found = predict(base, other)
    assert len(found) == 6
    assert all(each.error == pytest.approx(0, abs=1e-6) for each in found)


def test_a_broker_that_looks_at_fewer_lutts_is_foretold_too_dark() -> None:
    base = measured(Model(1.0, 0.01, 0.1, 0.1), Scale(10, 100, 0.1), 1)
    other = measured(Model(1.0, 0.001, 0.1, 0.1), Scale(10, 1000, 0.1), 2)
    errors = {each.what: each.error for each in predict(base, other)}
    assert errors["T_LUTT, ms"] == pytest.approx(9)
    assert errors["T_UPDATE, ms"] == pytest.approx(0)
    assert errors["Ups, 1/s"] < 0


@pytest.mark.parametrize("missing", ["updates", "subscriptions", "hits", "T_UPDATE", "T_NOTIFY"])
def test_without_its_ingredients_there_is_no_model(missing: str) -> None:
    values = measured(FIRST, Scale(10, 10, 0.5), 1).values
    assert fit(values) is not None
    assert fit({name: value for name, value in values.items() if name != missing}) is None


def test_no_hits_are_a_scale_but_no_model() -> None:
    values = measured(FIRST, Scale(10, 10, 0.0), 1).values
    assert scale_of(values) == Scale(10, 10, 0.0)
    assert fit(values) is None


def test_hits_that_tell_nobody_cost_no_notification() -> None:
    scale = Scale(10, 100, 0.5, notified=0.1)
    values = measured(FIRST, scale, 1).values | {"received": scale.notifications, "notifications": 1.0}
    assert scale_of(values) == scale
    model = fit(values)
    assert model is not None
    assert model.te == pytest.approx(FIRST.te)


def test_a_run_foretells_its_points_from_the_first_with_such_updates() -> None:
    found = predictions(a_run())
    assert {each["target"] for each in found} == {"tidings"}
    assert {each["test"] for each in found} == {"everyone"}
    assert {each["based_on"] for each in found if each["n"] == 10} == {"lighting-LAMP, n = 310"}
    assert {each["based_on"] for each in found if each["n"] == 1000} == {"everyone, n = 10"}
