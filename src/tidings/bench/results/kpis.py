"""The key performance indicators of the SPS paper (2016, Table I), from what was measured.

    Nu_avg = triples / n  (4)      LHR = 100 · hits / (m · n)  (5)      T_total = T_elapsed - T_overhead  (6)
    Ups = n / T_total      Sps = m · Ups      Tps = Nu_avg · Sps      E2E = (T_total - T_update) / T_update

An indicator whose ingredients were not measured is left out. For a target that reports no components, T_total is what
the client measures, so only Ups_client = n / T_elapsed is comparable between targets. Times are in ms, rates in 1/s.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tidings.bench.results.histogram import Histogram
from tidings.bench.results.measured import Measurement, Run

UPDATES = "updates"
"""n: update requests."""
SUBSCRIPTIONS = "subscriptions"
"""m: subscriptions during the test."""
TRIPLES = "triples"
"""The sum of Nu_i: triples that were replaced."""
HITS = "hits"
"""The sum of h_ij: pairs of an update and a subscription that it might concern."""
NOTIFICATIONS = "notifications"
COMPONENTS = ("T_UPDATE", "T_LUTT", "T_BOOSTER", "T_NOTIFY")
T_OVERHEAD = "T_OVERHEAD"
T_ELAPSED = "T_ELAPSED"
ADDED = (UPDATES, SUBSCRIPTIONS, TRIPLES, HITS, NOTIFICATIONS, *COMPONENTS, T_OVERHEAD, T_ELAPSED)

NAMES = {
    "Ups": "updates a second",
    "Ups_client": "updates a second, seen by the client",
    "Sps": "subscriptions checked a second",
    "Tps": "triples checked a second",
    "NL_min": "shortest notification latency",
    "NL_max": "longest notification latency",
    "E2E": "what subscriptions add to an update",
    "LHR": "LUTT hit rate",
    "Nu_avg": "triples an update",
    "notifications": "notifications",
    "loss_ratio": "notifications lost",
    "duplicates": "notifications that came twice",
    "disordered": "notifications out of order",
}
"""What each indicator means, in the order of a table."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The components of the time of an experiment, in ms (equation 6)."""

    update: float
    lutt: float
    booster: float
    notify: float
    overhead: float = 0.0

    @property
    def total(self) -> float:
        """Equation 7."""
        return self.update + self.lutt + self.booster + self.notify

    @property
    def elapsed(self) -> float:
        """Equation 6."""
        return self.total + self.overhead

    def shares(self) -> dict[str, float]:
        """The shares of T_total, as in the lower part of Table VIII."""
        parts = (self.update, self.lutt, self.booster, self.notify)
        return {name: part / self.total if self.total else 0.0 for name, part in zip(COMPONENTS, parts, strict=True)}


def timing_of(values: Mapping[str, float]) -> Timing | None:
    """The components of a measurement; None if the target reports none."""
    if any(name not in values for name in COMPONENTS):
        return None
    update, lutt, booster, notify = (values[name] for name in COMPONENTS)
    return Timing(update, lutt, booster, notify, values.get(T_OVERHEAD, 0.0))


def indicators(measurements: Iterable[Measurement]) -> dict[str, float]:
    """The indicators of one test on one target. Several points are one long experiment."""
    points = [each for each in measurements if not each.wrong]
    if not points:
        return {}
    values = pooled(points)
    result = _rates(values) | _latencies(points) | _deliveries(values)
    return {name: result[name] for name in NAMES if name in result}


def pooled(points: Iterable[Measurement]) -> dict[str, float]:
    """Counts and times of all points, added up; subscriptions are those of the average update."""
    parts = [_values(point) for point in points]
    shared = set.intersection(*(set(part) for part in parts))
    whole = {name: sum(part[name] for part in parts) for name in shared}
    if whole.get(UPDATES) and SUBSCRIPTIONS in shared:
        whole[SUBSCRIPTIONS] = sum(part[UPDATES] * part[SUBSCRIPTIONS] for part in parts) / whole[UPDATES]
    return whole


def _values(point: Measurement) -> dict[str, float]:
    values = dict(point.values)
    if point.kind == "lighting" and point.n is not None:
        values.setdefault(UPDATES, point.n)
    if UPDATES not in values and "requests" in values:
        values[UPDATES] = values["requests"]
    if TRIPLES not in values and "quads" in values:
        values[TRIPLES] = values["quads"] / 2  # an update that replaces removes one and adds one
    if point.samples:
        values.setdefault(T_ELAPSED, sum(point.samples))
    return values


def _rates(values: Mapping[str, float]) -> dict[str, float]:
    result: dict[str, float] = {}
    n, m = values.get(UPDATES, 0.0), values.get(SUBSCRIPTIONS, 0.0)
    timing = timing_of(values)
    total = timing.total if timing else values.get(T_ELAPSED, 0.0) - values.get(T_OVERHEAD, 0.0)
    if n and TRIPLES in values:
        result["Nu_avg"] = values[TRIPLES] / n
    if n and m and HITS in values:
        result["LHR"] = 100 * values[HITS] / (m * n)
    if n and total > 0:
        result["Ups"] = n / total * 1000
        if m:
            result["Sps"] = m * result["Ups"]
        if m and "Nu_avg" in result:
            result["Tps"] = result["Nu_avg"] * result["Sps"]
    if n and values.get(T_ELAPSED, 0.0) > 0:
        result["Ups_client"] = n / values[T_ELAPSED] * 1000
    if timing and timing.update > 0:
        result["E2E"] = (timing.total - timing.update) / timing.update
    return result


def _latencies(points: Iterable[Measurement]) -> dict[str, float]:
    """The notification latencies NL that a test reports, or else the extremes of its samples."""
    ranges: list[tuple[float, float]] = []
    for point in points:
        if "NL_min" in point.values and "NL_max" in point.values:
            ranges.append((point.values["NL_min"], point.values["NL_max"]))
        elif point.histogram and point.histogram.get("count"):
            histogram = Histogram.from_json(point.histogram)
            ranges.append((histogram.min, histogram.max))
        elif point.kind == "subscription" and point.samples:
            ranges.append((min(point.samples), max(point.samples)))
    if not ranges:
        return {}
    return {"NL_min": min(low for low, _ in ranges), "NL_max": max(high for _, high in ranges)}


def _deliveries(values: Mapping[str, float]) -> dict[str, float]:
    result = {name: values[name] for name in ("duplicates", "disordered") if name in values}
    told = values.get(NOTIFICATIONS, values.get("received"))
    if told is not None:
        result["notifications"] = told
    if values.get("expected") and "lost" in values:
        result["loss_ratio"] = values["lost"] / values["expected"]
    return result


def kpis(run: Run) -> dict[str, dict[str, dict[str, float]]]:
    """By test, then target, as `Run.kpis` keeps them."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for test, target in dict.fromkeys((each.test, each.target) for each in run.measurements):
        known = indicators(run.of(test, target))
        if known:
            found.setdefault(test, {})[target] = known
    return found
