"""The measurements of a benchmark: samples, counts, and their circumstances. All times are in milliseconds."""

from collections.abc import Iterator
from typing import Any

import msgspec


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """One point of one test on one target."""

    target: str
    test: str
    """The name of the test in the configuration: `update`, `chat`, …"""
    kind: str
    """What sort of test it is: update, query, subscription, mixed, chat, lighting, soak."""
    n: int | None = None
    """The size of the point, if the test has sizes: triples, subscribers, updates a second."""
    samples: tuple[float, ...] = ()
    """One value for each iteration, or for each operation, in ms."""
    values: dict[str, float] = {}
    """Counts and figures besides the samples: sent, received, lost, duplicates, disordered, rate, …"""
    timeline: tuple[tuple[float, float], ...] = ()
    """Seconds since the test began, with a figure at that time: a rate, or megabytes."""
    histogram: dict[str, Any] | None = None
    """A mergeable histogram of latencies, as `Histogram.to_json` writes it."""
    wrong: tuple[str, ...] = ()
    """Descriptions of wrong answers. With any of them, the times of a measurement are meaningless."""


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """The reason why a test or a target could not be measured."""

    target: str
    test: str
    what: str


class Run(msgspec.Struct, kw_only=True):
    """All results of one call of the suite. It can be saved at any moment, complete or not."""

    name: str
    started: str
    """ISO 8601, UTC."""
    seconds: float = 0.0
    complete: bool = False
    seed: int
    machine: dict[str, Any]
    versions: dict[str, str]
    git: dict[str, Any]
    configuration: dict[str, Any]
    targets: dict[str, dict[str, Any]]
    """Facts about each target: its kind, its address, its version, how it was started."""
    measurements: list[Measurement] = []
    kpis: dict[str, dict[str, dict[str, float]]] = {}
    """By test, then target: Ups, Sps, Tps, NL_min, NL_max, E2E, LHR, loss ratio, …"""
    predictions: list[dict[str, Any]] = []
    """The predictions of the performance model, with the measured figures."""
    troubles: list[Trouble] = []

    def of(self, test: str, target: str | None = None) -> Iterator[Measurement]:
        return (each for each in self.measurements if each.test == test and (target is None or each.target == target))
