"""A run as a real one could have been, with three targets and something of everything. The same each time."""

from math import exp, sin
from random import Random
from typing import Any

from tidings.bench.results.histogram import Histogram
from tidings.bench.results.kpis import kpis
from tidings.bench.results.measured import Measurement, Run, Trouble
from tidings.bench.results.performance_model import predictions

TARGETS = {"tidings": 1.0, "blazegraph": 3.6, "naive": 6.1}
HOSTILE = '<script>alert("x")</script> & co'


def a_run(seed: int = 7, *, slower: float = 1.0, iterations: int = 12, troubled: bool = True) -> Run:
    rng = Random(seed)
    run = Run(
        name="reference",
        started="2026-11-14T09:30:12Z",
        seconds=412.7,
        complete=not troubled,
        seed=2016,
        machine={
            "cpu": "AMD EPYC 7763 64-Core Processor",
            "cores": 8,
            "usable_cores": 8,
            "memory_bytes": 33_554_432_000,
            "os": "Linux 6.8.0",
            "architecture": "x86_64",
            "python": "CPython 3.11.9",
        },
        versions={"tidings": "0.9.0", "msgspec": "0.22.0", "pyoxigraph": "0.5.13", "uvloop": "0.23.0"},
        git={"commit": "104f625c0ffee104f625c0ffee104f625c0ffee0", "branch": "main", "changed_files": 2},
        configuration={
            "iterations": iterations,
            "warmup": 1,
            "tests": {"update": {"n_min": 250, "n_max": 2500, "step": 250, "formalism": "sparql"}},
        },
        targets={
            "tidings": {"kind": "tidings", "address": "http://127.0.0.1:8000", "version": "0.9.0"},
            "blazegraph": {"kind": "sparql", "address": "http://127.0.0.1:9999/sparql", "version": "2.1.6"},
            "naive": {"kind": "naive", "address": "in process", "version": "pyoxigraph 0.5.13"},
        },
    )
    run.measurements = [
        *(_update(rng, name, pace * slower, n, iterations) for name, pace in TARGETS.items() for n in SIZES),
        *(_subscription(rng, name, pace * slower, 10 * iterations) for name, pace in TARGETS.items()),
        *(_lighting(rng, experiment, slower) for experiment in ("LAMP", "ROAD")),
        *(_scaled(rng, m, slower) for m in (10, 100, 1000)),
        _mixed(rng, "tidings", 480),
        _mixed(rng, "naive", 130),
        *(_stress(rng, rate) for rate in (1000, 1500, 2250, 3375)),
    ]
    if troubled:
        run.measurements.append(_wrong())
        run.troubles = [Trouble(target="blazegraph", test="lighting-LAMP", what=f"connection refused {HOSTILE}")]
    run.kpis = kpis(run)
    run.predictions = predictions(run)
    return run


SIZES = range(250, 2501, 250)


def _update(rng: Random, target: str, pace: float, n: int, iterations: int) -> Measurement:
    middle = pace * (1.5 + n * 0.011)
    return Measurement(target=target, test="update", kind="update", n=n, samples=_skewed(rng, middle, iterations, 0.06))


def _subscription(rng: Random, target: str, pace: float, count: int) -> Measurement:
    samples = _skewed(rng, 0.9 * pace, count, 0.2)
    lost = 3 if target == "naive" else 0
    values: dict[str, float] = {"expected": count, "received": count - lost, "lost": lost, "duplicates": 0}
    return Measurement(
        target=target,
        test="notify",
        kind="subscription",
        n=1,
        samples=samples,
        values=values | {"disordered": 0, "loss_ratio": lost / count},
        histogram=Histogram.of(samples).to_json(),
    )


def _lighting(rng: Random, experiment: str, slower: float) -> Measurement:
    road = experiment == "ROAD"
    samples = _skewed(rng, (1.9 if road else 0.16) * slower, 310, 0.25)
    total = sum(samples)
    latencies = _skewed(rng, (0.7 if road else 0.09) * slower, 1004 if road else 23, 0.4)
    values: dict[str, Any] = {
        "updates": 310,
        "subscriptions": 1004,
        "triples": 9500 if road else 310,
        "hits": 2239 if road else 1259,
        "notifications": 1004 if road else 23,
        "expected": 1004 if road else 23,
        "received": 1004 if road else 23,
        "lost": 0,
        "duplicates": 0,
        "disordered": 0,
        "T_UPDATE": total * 0.70,
        "T_LUTT": total * 0.03,
        "T_BOOSTER": total * 0.15,
        "T_NOTIFY": total * 0.004,
        "T_OVERHEAD": total * 0.116,
        "T_ELAPSED": total,
    }
    return Measurement(
        target="tidings",
        test=f"lighting-{experiment}",
        kind="lighting",
        n=310,
        samples=samples,
        values=values,
        histogram=Histogram.of(latencies).to_json(),
    )


def _scaled(rng: Random, m: int, slower: float) -> Measurement:
    """Everyone subscribes to what everyone updates."""
    n = 50
    noise = 1 + rng.random() * 0.1
    parts = {"T_UPDATE": 6.0, "T_LUTT": 0.05 + 0.001 * m, "T_BOOSTER": 0.31 * m, "T_NOTIFY": 0.42 * m}
    timings = {name: value * noise * slower for name, value in parts.items()}
    return Measurement(
        target="tidings",
        test="everyone",
        kind="lighting",
        n=m,
        samples=_skewed(rng, sum(timings.values()) / n, n, 0.1),
        values={"updates": n, "subscriptions": m, "triples": n, "hits": n * m, "notifications": n * m} | timings,
    )


def _mixed(rng: Random, target: str, rate: float) -> Measurement:
    latencies = Histogram.of(_skewed(rng, 900 / rate, 4000, 0.5))
    timeline = tuple((t / 4, rate * (1 + 0.08 * sin(t / 3) + rng.gauss(0, 0.03))) for t in range(80))
    return Measurement(
        target=target,
        test="mixed",
        kind="mixed",
        n=500,
        samples=(latencies.percentile(50), latencies.percentile(99)),
        values={"rate": rate, "expected": 4000, "received": 4000, "lost": 0, "duplicates": 0, "disordered": 0},
        timeline=timeline,
        histogram=latencies.to_json(),
    )


def _stress(rng: Random, rate: int) -> Measurement:
    latencies = Histogram.of(_skewed(rng, 0.6 + (rate / 2600) ** 6, 2000, 0.35))
    p99 = latencies.percentile(99)
    return Measurement(
        target="tidings",
        test="stress",
        kind="stress",
        n=rate,
        samples=(p99,),
        values={"rate": rate * 0.998, "p99_ms": p99, "missed": 0, "failed": 0},
        histogram=latencies.to_json(),
    )


def _wrong() -> Measurement:
    return Measurement(
        target="naive",
        test="query",
        kind="query",
        n=1000,
        samples=(1.0, 1.1, 0.9),
        wrong=("1,000 rows were expected, 998 came", "a row has the value of the iteration before"),
    )


def _skewed(rng: Random, middle: float, count: int, spread: float) -> tuple[float, ...]:
    return tuple(middle * exp(rng.gauss(0, spread)) for _ in range(count))
