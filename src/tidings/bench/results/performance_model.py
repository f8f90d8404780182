"""The performance model of the SPS paper (2016), which predicts the times of an experiment of another size.

    T_elapsed = T_overhead + T_update + T_lutt + T_booster + T_notify                          (6)
    T_total   = T_update + T_lutt + T_booster + T_notify      one core after the other         (7)
    T_total   = T_update + T_lutt                             a core for every SPU             (8)
    N_cores   = 1 + hits of an update                         what (8) needs                   (9)
    T_overhead = T_meas + T_prot                                                              (10)
    UPDATE_max = 1 / (tu + N_SPUs · tl)                                                       (11)
    THROUGHPUT_max = N_cores / (tb + te)                                                      (12)

tu is the time of an update, tl of one look-up in one LUTT, tb of a BOOSTER that was hit, te of one notification. The
model assumes that each is constant. If a broker does better (for example, with one index for all LUTTs), the prediction
is too high, and its error shows the gain.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from math import isclose
from typing import Any

from tidings.bench.results.kpis import HITS, NOTIFICATIONS, SUBSCRIPTIONS, TRIPLES, UPDATES, Timing, pooled, timing_of
from tidings.bench.results.measured import Measurement, Run

TOTALS = ("T_total, ms", "Ups, 1/s")
"""The totals of a prediction, besides its components."""
ALIKE = 0.1
"""Updates are of one kind if their numbers of triples differ by at most this share: tu grows with them (Fig. 8)."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The size of an experiment: n updates, m subscriptions, and the share of pairs that hit, from 0 to 1."""

    updates: float
    subscriptions: float
    hit_rate: float
    notified: float = 1.0
    """The share of hits that cause a notification: for some hits of a LUTT, its BOOSTER finds no change."""

    @property
    def hits(self) -> float:
        return self.updates * self.subscriptions * self.hit_rate

    @property
    def notifications(self) -> float:
        return self.hits * self.notified


@dataclass(frozen=True, slots=True)
class Model:
    """The time of each step, in ms."""

    tu: float
    tl: float
    tb: float
    te: float

    def timing(self, scale: Scale) -> Timing:
        """The components at another scale."""
        return Timing(
            update=self.tu * scale.updates,
            lutt=self.tl * scale.updates * scale.subscriptions,
            booster=self.tb * scale.hits,
            notify=self.te * scale.notifications,
        )

    def sequential(self, scale: Scale) -> float:
        """T_total in ms on one core (7)."""
        return self.timing(scale).total

    def parallel(self, scale: Scale) -> float:
        """T_total in ms with a core for every SPU that is hit (8)."""
        timing = self.timing(scale)
        return timing.update + timing.lutt

    def bounds(self, scale: Scale, cores: float) -> tuple[float, float]:
        """The least and the greatest possible T_total: with fewer cores than (9) requires, it is in between."""
        least = self.parallel(scale) if cores > 1 else self.sequential(scale)
        most = self.parallel(scale) if cores >= cores_needed(scale) else self.sequential(scale)
        return least, most

    def updates_a_second(self, subscriptions: float) -> float:
        """UPDATE_max (11)."""
        return 1000 / (self.tu + subscriptions * self.tl)

    def notifications_a_second(self, cores: float = 1) -> float:
        """THROUGHPUT_max (12)."""
        return 1000 * cores / (self.tb + self.te)

    def ups(self, scale: Scale) -> float:
        """Updates a second on one core, with their notifications (Table I with 7)."""
        return 1000 * scale.updates / self.sequential(scale)


def cores_needed(scale: Scale) -> float:
    """Equation 9, for an update with the average number of hits."""
    return 1 + scale.subscriptions * scale.hit_rate


def scale_of(values: Mapping[str, float]) -> Scale | None:
    n, m = values.get(UPDATES), values.get(SUBSCRIPTIONS)
    hits = values.get(HITS)
    if not n or not m or hits is None:
        return None
    told = values.get("received") or values.get(NOTIFICATIONS) or hits
    return Scale(n, m, hits / (n * m), told / hits if hits else 1.0)


def fit(values: Mapping[str, float]) -> Model | None:
    """The model of an experiment whose components were measured; None if figures are missing."""
    scale, timing = scale_of(values), timing_of(values)
    if scale is None or timing is None or not scale.hits:
        return None
    return Model(
        tu=timing.update / scale.updates,
        tl=timing.lutt / (scale.updates * scale.subscriptions),
        tb=timing.booster / scale.hits,
        te=timing.notify / scale.notifications,
    )


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the model predicts for one measurement from another one."""

    test: str
    target: str
    n: int | None
    what: str
    equation: str
    based_on: str
    predicted: float
    measured: float

    @property
    def error(self) -> float:
        """The relative error: 0.5 means that the prediction is 1.5 times the measured figure."""
        return self.predicted / self.measured - 1 if self.measured else 0.0

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"error": self.error}


def predict(base: Measurement, other: Measurement) -> list[Prediction]:
    """The predictions for every component of `other`, by the model of `base`."""
    known, wanted = pooled([base]), pooled([other])
    model, scale, timing = fit(known), scale_of(wanted), timing_of(wanted)
    if model is None or scale is None or timing is None:
        return []
    foretold = model.timing(scale)
    rows = (
        ("T_UPDATE, ms", "n · tu", foretold.update, timing.update),
        ("T_LUTT, ms", "n · m · tl", foretold.lutt, timing.lutt),
        ("T_BOOSTER, ms", "hits · tb", foretold.booster, timing.booster),
        ("T_NOTIFY, ms", "told · te", foretold.notify, timing.notify),
        (TOTALS[0], "(7)", foretold.total, timing.total),
        (TOTALS[1], "n / (7)", model.ups(scale), 1000 * scale.updates / timing.total if timing.total else 0.0),
    )
    named = f"{base.test}" if base.n is None else f"{base.test}, n = {base.n:,}"
    return [
        Prediction(other.test, other.target, other.n, what, equation, named, predicted, measured)
        for what, equation, predicted, measured in rows
        if measured > 0
    ]


def predictions(run: Run) -> list[dict[str, Any]]:
    """The predictions for `Run.predictions`: for the points of each target, from the first point of the same test, or
    from the first with updates of the same kind."""
    return [each.to_json() for points in _by_target(run) for each in _foretold(points)]


def _by_target(run: Run) -> Iterator[list[Measurement]]:
    sound = [each for each in run.measurements if not each.wrong]
    for target in dict.fromkeys(each.target for each in sound):
        yield [each for each in sound if each.target == target]


def _foretold(points: Iterable[Measurement]) -> Iterator[Prediction]:
    bases: list[tuple[float, Measurement]] = []
    for point in points:
        values = pooled([point])
        if fit(values) is None:
            continue
        replaced = values.get(TRIPLES, 0.0) / values[UPDATES]
        alike = [base for known, base in bases if isclose(known, replaced, rel_tol=ALIKE)]
        if alike:
            yield from predict(next((base for base in alike if base.test == point.test), alike[0]), point)
        if not any(base.test == point.test for base in alike):
            bases.append((replaced, point))
