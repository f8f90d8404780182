"""The tables of a report: the targets of a test side by side, indicators beside published ones, predictions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidings.bench.report.words import ACROSS, LOADS, digits, duration, indicator
from tidings.bench.results.histogram import Histogram
from tidings.bench.results.kpis import COMPONENTS, NAMES, pooled, timing_of
from tidings.bench.results.measured import Measurement, Run
from tidings.bench.results.published import Experiment
from tidings.bench.results.statistics import mean_interval, percentile, summarise


@dataclass(frozen=True, slots=True)
class Cell:
    """The text of a cell, a smaller text below it, and whether it is the best of its row."""

    text: str
    small: str = ""
    best: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """The first column names the row."""

    caption: str
    head: tuple[str, ...]
    rows: list[tuple[Cell, list[Cell]]] = field(default_factory=list)


def summary_table(points: Sequence[Measurement]) -> Table | None:
    """The summary of a test; None if it has no times."""
    if not points:
        return None
    if points[0].kind in LOADS:
        return _of_load(points)
    if len({each.n for each in points}) > 1:
        return _over_sizes(points)
    return _of_point(points)


def _targets(points: Sequence[Measurement]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.target for each in points))


def _over_sizes(points: Sequence[Measurement]) -> Table:
    targets = _targets(points)
    across = ACROSS.get(points[0].kind, "n")
    table = Table("Mean, and least to most, in ms", (across, *targets))
    for n in sorted({each.n for each in points if each.n is not None}):
        found = {each.target: summarise(each.samples) for each in points if each.n == n and each.samples}
        best = min((summary.mean for summary in found.values()), default=0.0)
        cells = [
            Cell(
                digits(found[target].mean),
                f"{digits(found[target].min)} – {digits(found[target].max)}",
                best=len(found) > 1 and found[target].mean == best,
            )
            if target in found
            else Cell("–")
            for target in targets
        ]
        table.rows.append((Cell(f"{n:,}"), cells))
    return table


def _interval(samples: Sequence[float]) -> str:
    if len(samples) < 2:
        return ""
    interval = mean_interval(samples)
    return f"{digits(interval.low)} – {digits(interval.high)}"


_FIGURES: dict[str, tuple[Callable[[Sequence[float]], float], Callable[[float], str]]] = {
    "mean": (lambda samples: summarise(samples).mean, duration),
    "median": (lambda samples: percentile(samples, 50), duration),
    "least": (min, duration),
    "95th percentile": (lambda samples: percentile(samples, 95), duration),
    "most": (max, duration),
    "variance, ms²": (lambda samples: summarise(samples).variance, digits),
    "samples": (len, "{:,}".format),
}
_BEST = ("mean", "median", "least", "95th percentile", "most")
"""The rows in which the least figure is the best."""


def _nothing(_: Sequence[float]) -> str:
    return ""


def _of_point(points: Sequence[Measurement]) -> Table | None:
    timed = {each.target: each.samples for each in points if each.samples}
    if not timed:
        return None
    table = Table("", ("", *timed))
    for name, (figure, spelt) in _FIGURES.items():
        figures = [figure(samples) for samples in timed.values()]
        best = min(figures) if name in _BEST and len(timed) > 1 else None
        below = _interval if name == "mean" else _nothing
        cells = [
            Cell(spelt(value), below(samples), best=value == best)
            for value, samples in zip(figures, timed.values(), strict=True)
        ]
        table.rows.append((Cell(name, "95 % interval" if name == "mean" else ""), cells))
    return table


def _of_load(points: Sequence[Measurement]) -> Table:
    table = Table(
        "Latency from when an update was due to its notification, ms",
        ("", "offered/s", "done/s", "median", "99 %", "most", "lost"),
    )
    for each in points:
        histogram = Histogram.from_json(each.histogram) if each.histogram and each.histogram.get("count") else None
        latencies = [histogram.percentile(p) for p in (50, 99, 100)] if histogram else []
        cells = [Cell("–" if each.n is None else f"{each.n:,}"), Cell(digits(each.values.get("rate", 0.0)))]
        cells += [Cell(digits(latency)) for latency in latencies] or [Cell("–")] * 3
        cells.append(Cell(f"{each.values['lost']:,.0f}" if "lost" in each.values else "–"))
        table.rows.append((Cell(each.target, "bound missed" if each.values.get("missed") else ""), cells))
    return table


def kpi_table(by_target: Mapping[str, Mapping[str, float]], experiment: Experiment | None) -> Table:
    """Indicators of the targets, beside the published ones if it is an experiment of the paper."""
    head = ("", *by_target, *(("published 2016",) if experiment else ()))
    table = Table("Indicators of the SPS paper", head)
    for name, meaning in NAMES.items():
        if not any(name in known for known in by_target.values()):
            continue
        cells = [Cell(indicator(name, known[name]) if name in known else "–") for known in by_target.values()]
        if experiment:
            cells.append(Cell(_as_published(name, experiment.kpis[name]) if name in experiment.kpis else "–"))
        table.rows.append((Cell(name, meaning if meaning != name else ""), cells))
    return table


def _as_published(name: str, value: float) -> str:
    """An indicator with as many digits as in the paper."""
    if name in {"NL_min", "NL_max"}:
        return f"{value:g} ms"
    return indicator(name, value) if value >= 9_995 or name == "LHR" else f"{value:,g}"


def component_table(points: Sequence[Measurement]) -> Table | None:
    """The components of the time of an update, for the targets that report them (the lower part of Table VIII)."""
    told: dict[str, Mapping[str, float]] = {}
    for target in _targets(points):
        timing = timing_of(pooled([each for each in points if each.target == target]))
        if timing and timing.total:
            told[target] = timing.shares()
    if not told:
        return None
    table = Table("Where the time goes, % of T_total", ("", *told))
    for name in COMPONENTS:
        table.rows.append((Cell(name), [Cell(f"{100 * shares[name]:.1f}") for shares in told.values()]))
    return table


def prediction_table(predictions: Sequence[Mapping[str, Any]]) -> Table:
    table = Table("", ("", "predicted", "measured", "error", "by"))
    for each in predictions:
        size = "" if each.get("n") is None else f", n = {each['n']:,}"
        where = f"{each.get('target', '')}, {each.get('test', '')}{size}, from {each.get('based_on', '')}"
        name = Cell(str(each.get("what", "")), where)
        predicted, measured = float(each.get("predicted", 0.0)), float(each.get("measured", 0.0))
        error = _error(predicted, measured)
        cells = [Cell(digits(predicted)), Cell(digits(measured)), Cell(error), Cell(str(each.get("equation", "")))]
        table.rows.append((name, cells))
    return table


def _error(predicted: float, measured: float) -> str:
    """`−30 %`, `+4 %`, and for more than twice as much `× 14`."""
    if not measured:
        return "–"
    ratio = predicted / measured
    return f"× {digits(ratio)}" if ratio > 2 else f"{100 * (ratio - 1):+.0f} %".replace("-", "−")


def facts_table(run: Run) -> Table:
    """The machine, the targets and the versions of a run."""
    memory = float(run.machine.get("memory_bytes", 0))
    facts = {key: str(value) for key, value in run.machine.items() if key != "memory_bytes"}
    if memory:
        facts["memory"] = f"{memory / 2**30:.1f} GiB"
    facts |= {f"git {key.replace('_', ' ')}": str(value) for key, value in run.git.items()}
    facts |= run.versions
    facts["seed"] = str(run.seed)
    return Table("", (), [(Cell(key.replace("_", " ")), [Cell(value)]) for key, value in facts.items()])
