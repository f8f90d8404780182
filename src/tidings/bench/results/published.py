"""Published figures, as landmarks. They are from other machines and other years, so they are not comparable as such."""

from collections.abc import Mapping
from dataclasses import dataclass

from tidings.bench.results.measured import Measurement

SPS_PAPER = (
    "L. Roffia et al., A Semantic Publish-Subscribe Architecture for the Internet of Things, 2016, Tables VIII, IX"
)
SPS_MACHINE = "Intel Core i7-2630QM, 2 GHz, 8 GB; Virtuoso as endpoint; one core for all SPUs"


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment of the SPS paper: its sizes, and the published figures."""

    name: str
    updates: int
    subscriptions: int
    notifications: int
    kpis: Mapping[str, float]
    without_lutt: Mapping[str, float]
    """The paper's estimate of the figures without LUTT."""


LAMP = Experiment(
    "LAMP",
    updates=310,
    subscriptions=1004,
    notifications=23,
    kpis={
        "Ups": 68,
        "Sps": 68_000,
        "Tps": 68_000,
        "NL_min": 1.7,
        "NL_max": 9.3,
        "E2E": 1.0,
        "LHR": 0.40,
        "Nu_avg": 1,
        "notifications": 23,
    },
    without_lutt={"Ups": 0.55, "E2E": 245},
)
ROAD = Experiment(
    "ROAD",
    updates=310,
    subscriptions=1004,
    notifications=1004,
    kpis={
        "Ups": 3.8,
        "Sps": 3_800,
        "Tps": 117_000,
        "NL_max": 541,
        "E2E": 1.8,
        "LHR": 0.72,
        "Nu_avg": 31,
        "notifications": 1004,
    },
    without_lutt={"Ups": 0.03, "E2E": 367},
)
EXPERIMENTS = (LAMP, ROAD)


def experiment_of(test: str, kpis: Mapping[str, float]) -> Experiment | None:
    """The experiment of a lighting test: by its name, or else by the number of triples that its updates replace."""
    for experiment in EXPERIMENTS:
        if experiment.name in test.upper():
            return experiment
    replaced = kpis.get("Nu_avg")
    if replaced is None:
        return None
    return LAMP if replaced < 1.5 else ROAD


def as_published(measurement: Measurement, experiment: Experiment) -> bool:
    """Whether a measurement has the size of the paper's, so that the figures are comparable."""
    held = measurement.values.get("subscriptions", experiment.subscriptions)
    return measurement.n == experiment.updates and held == experiment.subscriptions
