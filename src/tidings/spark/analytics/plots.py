"""Draws charts of the history. Spark selects and reduces the rows, so that this process gets only a few.

A chart has at most `MOST_LINES` lines, of `MOST_POINTS` points each. Longer lines are drawn by windows, and windows are
lengthened if there are too many.
"""

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from tidings.drawing import OKABE_ITO, Chart
from tidings.model.errors import BadRequest
from tidings.spark.analytics import charts
from tidings.spark.analytics import figures as analytics
from tidings.spark.analytics.charts import Changes, Figures, Gap, Reading, in_order, period, short_names
from tidings.spark.analytics.figures import SERIES, By, Series, Span

MOST_LINES = len(OKABE_ITO) - 1
MOST_POINTS = 1_000
MOST_BARS = 40
_SECOND = 1_000_000
_LENGTHS = [_SECOND * each for each in (1, 5, 15, 60, 300, 900, 3_600, 10_800, 21_600, 43_200, 86_400, 604_800)]
_UNKNOWN: dict[By, str] = {"predicate": "?", "graph": "default graph", "publisher": "not known"}


def values(changes: DataFrame, series: Series, span: Span) -> Chart:
    """A chart of numbers over time; by windows if there are many. Raises BadRequest if there are none."""
    numbers = analytics.values(changes, series, span).where(analytics.finite())
    often = _found(numbers.groupBy(*SERIES).count().agg(f.count("*"), f.max("count")))[0]
    if not often[0]:
        raise BadRequest("there is nothing to draw: no value in this time is a number")
    if often[1] > MOST_POINTS:
        return windows(changes, series, span, _window_for(span))
    kept = analytics.busiest(numbers, SERIES, MOST_LINES)
    rows = _found(kept.select(*SERIES, _micros("time"), "number", _micros("until")))
    lines = {name: [Reading(*row[2:]) for row in own] for name, own in _by_series(rows).items()}
    return charts.values_chart(_title(series), lines, span, _of(len(lines), often[0], "those with the most values"))


def windows(changes: DataFrame, series: Series, span: Span, every: int) -> Chart:
    """A chart of windows, which are longer than `every` if there are too many. Raises BadRequest without numbers."""
    every = _coarser(span, every)
    figures = analytics.windows(changes, series, span, every)
    count = figures.select(*SERIES).distinct().count()
    if not count:
        raise BadRequest("there is nothing to draw: no value in this time is a number")
    kept = analytics.busiest(figures, SERIES, MOST_LINES, f.sum("count"))
    rows = _found(kept.select(*SERIES, _micros("window"), "mean", "min", "max", "time_weighted_mean"))
    lines = {name: [Figures(*row[2:]) for row in own] for name, own in _by_series(rows).items()}
    note = _of(len(lines), count, "those with the most values")
    return charts.windows_chart(_title(series), lines, every, span, note)


def rates(changes: DataFrame, series: Series, span: Span, by: By, every: int | None, top: int | None) -> Chart:
    """A chart of numbers of changes by predicate, graph or publisher; over time if `every` is given."""
    most = MOST_BARS if every is None else MOST_LINES
    every = every and _coarser(span, every)
    rows = _found(analytics.rates(changes, series, span, by, every, min(top or most, most)).drop("commits"))
    names = short_names(dict.fromkeys(row[by] or _UNKNOWN[by] for row in rows))
    if every is None:
        bars = [Changes(names[row[by] or _UNKNOWN[by]], row["additions"], row["removals"]) for row in rows]
        return charts.changes_chart(f"changes by {by}", bars)
    counts: dict[str, dict[int, int]] = {name: {} for name in names.values()}
    for row in rows:
        counts[names[row[by] or _UNKNOWN[by]]][row["window"]] = row["additions"] + row["removals"]
    return charts.rates_chart(by, counts, every, span)


def churn(changes: DataFrame, series: Series, span: Span, top: int) -> Chart:
    """A chart of the subjects with the most changes."""
    rows = _found(analytics.churn(changes, series, span, min(top, MOST_BARS)))
    names = short_names(row["subject"] for row in rows)
    bars = [Changes(names[row["subject"]], row["additions"], row["removals"]) for row in rows]
    return charts.changes_chart("changes by subject", bars)


def gaps(changes: DataFrame, series: Series, span: Span, longer: int) -> Chart:
    """A chart of the subjects with the most gaps."""
    found = analytics.gaps(changes, series, span, longer)
    count = found.select(*SERIES).distinct().count()
    kept = analytics.busiest(found, SERIES, MOST_BARS).orderBy(f.desc("seconds")).limit(MOST_BARS * MOST_POINTS)
    rows = _found(kept.select(*SERIES, _micros("since"), _micros("until")).orderBy(*SERIES))
    bars = {name: [Gap(*row[2:]) for row in own] for name, own in _by_series(rows).items()}
    title = f"{_title(series)}, no change for longer than {period(longer)}"
    return charts.gaps_chart(title, bars, span, _of(len(bars), count, "those with the most gaps"))


def _window_for(span: Span) -> int:
    """The shortest usual length of windows that gives few enough of them."""
    least = (span.until - span.since) // (MOST_POINTS - 2) + 1
    return next((length for length in _LENGTHS if length >= least), _LENGTHS[-1] * -(-least // _LENGTHS[-1]))


def _coarser(span: Span, every: int) -> int:
    """The shortest multiple of a length of windows that gives few enough of them."""
    analytics.check_windows(span, every)
    return every * -(-((span.until - span.since) // every + 2) // MOST_POINTS)


def _by_series(rows: Sequence[Any]) -> dict[str, list[Any]]:
    """The rows of each subject and graph, by a unique name."""
    found: dict[tuple[str, str], list[Any]] = {}
    for row in rows:
        found.setdefault((row[0], row[1]), []).append(row)
    subjects = short_names(dict.fromkeys(subject for subject, _ in found))
    graphs = short_names(dict.fromkeys(graph for _, graph in found if graph))
    several = len({graph for _, graph in found}) > 1
    named = {
        key: f"{subjects[key[0]]} in {graphs[key[1]]}" if several and key[1] else subjects[key[0]] for key in found
    }
    return {named[key]: found[key] for key in sorted(found, key=lambda key: [in_order(term) for term in key])}


def _title(series: Series) -> str:
    return "all predicates" if series.predicate is None else short_names([series.predicate])[series.predicate]


def _of(shown: int, count: int, which: str) -> str:
    return f"{shown} of {count:,} series: {which}" if shown < count else ""


def _micros(name: str) -> Column:
    return f.unix_micros(name).alias(name)


def _found(frame: DataFrame) -> list[Any]:
    """The collected rows, with instants in microseconds."""
    columns = [_micros(name) if kind == "timestamp" else f.col(f"`{name}`") for name, kind in frame.dtypes]
    return frame.select(*columns).collect()
