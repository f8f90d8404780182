"""Figures of the history: values over time, windows, rates, churn and gaps. Every function makes a DataFrame.

    changes   the rows of `travel.changes`: seq, time, op, s, p, o, g, and `by`, the publisher, if it is known
    Series    which of these changes: of a predicate, optionally of some subjects, or of a graph
    Span      [since, until), in microseconds since 1970

A value holds from the change that added it to the one that removed it. The values at the beginning of the span are
known, because changes before it are read as well. An update without effect is no change, and is not in the history.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from tidings.model.errors import BadRequest, TidingsError
from tidings.model.terms import Term
from tidings.spark.analytics.numbers import number
from tidings.spark.lake.lake import Lake

By: TypeAlias = Literal["predicate", "graph", "publisher"]

MOST_WINDOWS = 10_000
SUGGESTIONS = 10
SERIES = ("subject", "graph")
_COLUMNS: Mapping[By, str] = {"predicate": "p", "graph": "g", "publisher": "by"}


class NotInHistory(TidingsError):
    """The history has no change with this predicate, subject or graph."""

    status = 404
    code = "not_in_history"


class Span(NamedTuple):
    """The requested time."""

    since: int
    until: int


@dataclass(frozen=True, slots=True)
class Series:
    """The requested changes. Without subjects, a predicate or a graph, those of all subjects, predicates or graphs."""

    predicate: Term | None = None
    subjects: tuple[Term, ...] = ()
    graph: Term | None = None


def span_of(lake: Lake) -> Span:
    """The span from the first commit to just after the last. Raises NotInHistory."""
    batches = lake.batches()
    if not batches:
        raise NotInHistory(f"{lake.path} has no commits yet: tidings history ingest takes them in")
    return Span(batches[0].since, batches[-1].until + 1)


# -- values over time ------------------------------------------------------------------------------------------------


def values(changes: DataFrame, series: Series, span: Span) -> DataFrame:
    """The values that held in the span: subject, graph, seq, time, value, number, until.

    `seq` and `time` are those of the change that added the value, which may be before the span. `until` is when it was
    removed; null if it held to the end. `number` is null for a value that is not a number.
    """
    by_quad = Window.partitionBy(*"spog").orderBy("seq")
    known = _matching(changes, series).where(f.col("time") < _instant(span.until))
    ended = known.withColumn("until", f.lead("time").over(by_quad)).where(f.col("op") == "add")
    since = _instant(span.since)
    held = ended.where((f.col("time") >= since) | f.col("until").isNull() | (f.col("until") > since))
    return held.select(
        *_named(), "seq", "time", f.col("o").alias("value"), number(f.col("o")).alias("number"), "until"
    ).orderBy(*SERIES, "seq", "value")


# -- windows ---------------------------------------------------------------------------------------------------------


def windows(changes: DataFrame, series: Series, span: Span, every: int) -> DataFrame:
    """Windows of a fixed length: subject, graph, window, count, mean, min, max, time_weighted_mean.

    `count`, `mean`, `min` and `max` are of the numbers that were added within the window. The time-weighted mean
    weights each number by how long it held in the window, so a window without new numbers has one, too. Numbers that
    held at the same time have equal weights. Only finite numbers count. Raises BadRequest for too many windows.
    """
    check_windows(span, every)
    numbers = values(changes, series, span).where(finite()).select(*SERIES, "number", *_stretch(span))
    first, last = f.col("begin"), f.greatest("begin", f.col("end") - 1)
    pieces = numbers.withColumn("place", f.explode(f.sequence(_place(first, every), _place(last, every))))
    start = f.col("place") * every
    came = f.when(f.col("came") & (f.col("begin") >= start), f.col("number"))
    share = (f.least("end", start + every) - f.greatest("begin", start)) / every
    weighted = f.sum(f.col("number") * share) / f.nullif(f.sum(share), f.lit(0.0))
    return (
        pieces.groupBy(*SERIES, f.timestamp_micros(start).alias("window"))
        .agg(
            f.count(came).alias("count"),
            f.avg(came).alias("mean"),
            f.min(came).alias("min"),
            f.max(came).alias("max"),
            weighted.alias("time_weighted_mean"),
        )
        .orderBy(*SERIES, "window")
    )


def finite() -> Column:
    """Whether a number is finite. To Spark, NaN is the largest number, so this excludes it, too."""
    return f.abs("number") < float("inf")


def check_windows(span: Span, every: int) -> None:
    """Raises BadRequest if a span has too many windows of that length."""
    count = (span.until - 1) // every - span.since // every + 1
    if count > MOST_WINDOWS:
        raise BadRequest(
            f"{count:,} windows are too many, {MOST_WINDOWS:,} can be had: make them longer, or ask for less time"
        )


def _stretch(span: Span) -> list[Column]:
    """When a value held within the span, in microseconds, and whether it was added within the span."""
    time, until = f.unix_micros("time"), f.unix_micros("until")
    begin = f.greatest(time, f.lit(span.since))
    return [begin.alias("begin"), f.coalesce(until, f.lit(span.until)).alias("end"), (time == begin).alias("came")]


def _place(micros: Column, every: int) -> Column:
    """The number of the window of an instant, counted from 1970."""
    return f.call_function("div", micros, f.lit(every))


# -- rates and churn -------------------------------------------------------------------------------------------------


def rates(
    changes: DataFrame, series: Series, span: Span, by: By, every: int | None = None, top: int | None = None
) -> DataFrame:
    """Numbers of changes: [window,] predicate, graph or publisher, additions, removals, commits; the most first.

    Unknown publishers count as one, which is null. Raises BadRequest if there are too many windows.
    """
    if every is not None:
        check_windows(span, every)
    keyed = _within_span(changes, series, span).select(_key(changes, by).alias(by), "seq", "time", "op")
    if top is not None:
        keyed = busiest(keyed, (by,), top)
    if every is None:
        return keyed.groupBy(by).agg(*_counts()).orderBy(f.desc(_changes()), by)
    window = f.timestamp_micros(_place(f.unix_micros("time"), every) * every).alias("window")
    return keyed.groupBy(window, by).agg(*_counts()).orderBy("window", f.desc(_changes()), by)


def busiest(rows: DataFrame, keys: tuple[str, ...], top: int, weight: Column | None = None) -> DataFrame:
    """The rows of the `top` keys with the most rows, or with the greatest `weight`."""
    weighed = rows.groupBy(*keys).agg((f.count("*") if weight is None else weight).alias("weight"))
    most = weighed.orderBy(f.desc("weight"), *keys).limit(top)
    kept = most.select(*[f.col(key).alias(f"kept_{key}") for key in keys])
    same = [rows[key].eqNullSafe(kept[f"kept_{key}"]) for key in keys]
    return rows.join(f.broadcast(kept), same, "left_semi")


def churn(changes: DataFrame, series: Series, span: Span, top: int) -> DataFrame:
    """The subjects with the most changes: subject, additions, removals, commits."""
    found = _within_span(changes, series, span).groupBy(f.col("s").alias("subject")).agg(*_counts())
    return found.orderBy(f.desc(_changes()), "subject").limit(top)


def _key(changes: DataFrame, by: By) -> Column:
    name = _COLUMNS[by]
    return f.col(name) if name in changes.columns else f.lit(None).cast("string")


def _counts() -> list[Column]:
    return [
        f.count_if(f.col("op") == "add").alias("additions"),
        f.count_if(f.col("op") == "remove").alias("removals"),
        f.count_distinct("seq").alias("commits"),
    ]


def _changes() -> Column:
    return f.col("additions") + f.col("removals")


# -- gaps ------------------------------------------------------------------------------------------------------------


def gaps(changes: DataFrame, series: Series, span: Span, longer: int) -> DataFrame:
    """The times without changes that are longer than `longer`, in microseconds: subject, graph, since, until, seconds,
    usual; the longest first.

    `until` is null for a gap that lasts to the end of the span. `usual` is the median of the seconds between two
    changes of the subject, up to the end of the span.
    """
    known = _matching(changes, series).where(f.col("time") < _instant(span.until))
    times = known.select(*_named(), f.col("time").alias("since")).distinct()
    each = Window.partitionBy(*SERIES)
    intervals = times.withColumn("until", f.lead("since").over(each.orderBy("since")))
    end = f.coalesce(f.unix_micros("until"), f.lit(span.until))
    lasted = end - f.unix_micros("since")
    usual = f.median(f.when(f.col("until").isNotNull(), lasted)).over(each)
    measured = intervals.select(*SERIES, "since", "until", lasted.alias("lasted"), usual.alias("usual"))
    long = measured.where(
        (f.col("lasted") > longer) & (f.coalesce("until", _instant(span.until)) > _instant(span.since))
    )
    seconds = [
        f.round(f.col(name) / 1e6, 3).alias(shown) for name, shown in (("lasted", "seconds"), ("usual", "usual"))
    ]
    return long.select(*SERIES, "since", "until", *seconds).orderBy(f.desc("seconds"), *SERIES, "since")


# -- checks ----------------------------------------------------------------------------------------------------------


def check_known(changes: DataFrame, series: Series) -> None:
    """Raise NotInHistory, with what the history has instead, if it has no change of the series."""
    if not _matching(changes, series).isEmpty():
        return
    of_predicate = _matching(changes, Series(series.predicate))
    if series.predicate is not None and of_predicate.isEmpty():
        raise NotInHistory(
            f"no change has the predicate {series.predicate}; the commonest are {_commonest(changes, 'p')}"
        )
    if series.subjects and _matching(changes, Series(series.predicate, series.subjects)).isEmpty():
        names = ", ".join(series.subjects[:SUGGESTIONS])
        raise NotInHistory(f"no such change is of {names}; the commonest subjects are {_commonest(of_predicate, 's')}")
    raise NotInHistory(f"no such change is in the graph {series.graph}; there are {_commonest(of_predicate, 'g')}")


def _commonest(changes: DataFrame, column: str) -> str:
    found = changes.groupBy(column).count().orderBy(f.desc("count"), column).limit(SUGGESTIONS).collect()
    return ", ".join(row[0] or "the default graph" for row in found) or "none: the lake is empty"


def _matching(changes: DataFrame, series: Series) -> DataFrame:
    if series.predicate is not None:
        changes = changes.where(f.col("p") == series.predicate)
    if series.subjects:
        changes = changes.where(f.col("s").isin(*series.subjects))
    return changes if series.graph is None else changes.where(f.col("g") == series.graph)


def _within_span(changes: DataFrame, series: Series, span: Span) -> DataFrame:
    time = f.col("time")
    return _matching(changes, series).where((time >= _instant(span.since)) & (time < _instant(span.until)))


def _named() -> list[Column]:
    return [f.col("s").alias(SERIES[0]), f.col("g").alias(SERIES[1])]


def _instant(micros: int) -> Column:
    return f.timestamp_micros(f.lit(micros))
