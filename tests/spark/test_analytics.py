"""Every figure is that of a computation in plain Python, for random histories of sensors."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from spark.measured import (
    GRAPH,
    MINUTE,
    START,
    STATE,
    VALUE,
    changes_of,
    counted,
    held,
    lake_of,
    number_of,
    sensor,
    sensors,
    silences,
    windowed,
)
from tidings.log.entry import Entry
from tidings.model.errors import BadRequest
from tidings.model.terms import XSD, Quad
from tidings.spark.analytics import figures as analytics
from tidings.spark.analytics import plots
from tidings.spark.analytics.figures import NotInHistory, Series, Span
from tidings.spark.analytics.numbers import number
from tidings.spark.lake import travel
from tidings.spark.lake.lake import Lake
from tidings.sparql.values.numerics import INTEGER_BOUNDS

ENTRIES = sensors(11)
WHOLE = Span(ENTRIES[0].time, ENTRIES[-1].time + 1)
MIDDLE = Span(ENTRIES[40].time + 7, ENTRIES[90].time)
"""Begins between two commits, and ends at one."""


def spark_test(test: Callable[..., None]) -> Callable[..., None]:
    marked: Callable[..., None] = pytest.mark.spark(pytest.mark.usefixtures("unhurried")(test))
    return marked


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    return lake_of(tmp_path_factory.mktemp("analytics") / "lake", ENTRIES)


@pytest.fixture(scope="module")
def changes(spark: SparkSession, lake: Lake) -> DataFrame:
    return travel.changes(spark, lake)


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    """Instants in microseconds, whatever the time zone here."""
    columns = [f.unix_micros(name).alias(name) if kind == "timestamp" else f.col(name) for name, kind in frame.dtypes]
    return [tuple(row) for row in frame.select(*columns).collect()]


def close(figures: Sequence[Any]) -> list[Any]:
    return [
        pytest.approx(each, rel=1e-9, abs=1e-9, nan_ok=True) if isinstance(each, float) else each for each in figures
    ]


@spark_test
@pytest.mark.parametrize("span", [WHOLE, MIDDLE])
def test_values_are_known_from_before_the_span_and_end_where_they_were_replaced(changes: DataFrame, span: Span) -> None:
    found = rows(analytics.values(changes, Series(VALUE), span))
    expected = sorted(held(ENTRIES, VALUE, span), key=lambda each: (each.subject, each.graph, each.seq, each.value))
    assert [close(each) for each in expected] == [list(row) for row in found]
    assert span is WHOLE or any(row[3] < span.since for row in found)
    assert any(row[6] is None for row in found)


@spark_test
@pytest.mark.parametrize(("span", "every"), [(WHOLE, 60 * MINUTE), (MIDDLE, 15 * MINUTE)])
def test_windows_weigh_values_by_how_long_they_held(changes: DataFrame, span: Span, every: int) -> None:
    found = rows(analytics.windows(changes, Series(VALUE), span, every))
    expected = windowed(held(ENTRIES, VALUE, span), span, every)
    assert len(expected) > 30
    assert [close(each) for each in expected] == [list(row) for row in found]
    assert any(count == 0 and mean is not None for *_, count, _, _, _, mean in found)


@spark_test
def test_rates_and_churn_count_changes_and_commits(changes: DataFrame) -> None:
    known = changes.withColumn("by", f.when(f.col("seq") % 3 > 0, f.concat(f.lit("agent"), f.col("seq") % 3)))
    of_agent = {entry.commit: f"agent{entry.commit % 3}" if entry.commit % 3 else None for entry in ENTRIES}
    keys: dict[analytics.By, Callable[[Entry, Quad], str | None]] = {
        "predicate": lambda entry, quad: quad[1],
        "graph": lambda entry, quad: quad[3],
        "publisher": lambda entry, quad: of_agent[entry.commit],
    }
    seen = list(changes_of(ENTRIES, MIDDLE))
    for by, key in keys.items():
        found = rows(analytics.rates(known, Series(), MIDDLE, by))
        groups = {key(entry, quad) for entry, quad, _ in seen}
        assert {row[0]: row[1:] for row in found} == {
            group: counted(each for each in seen if key(each[0], each[1]) == group) for group in groups
        }
        assert [-row[1] - row[2] for row in found] == sorted(-row[1] - row[2] for row in found)
    every = 30 * MINUTE
    found = rows(analytics.rates(known, Series(), MIDDLE, "predicate", every, top=1))
    values = [each for each in seen if each[1][1] == VALUE]
    assert {row[:2]: row[2:] for row in found} == {
        (start, VALUE): counted(each for each in values if each[0].time // every * every == start)
        for start in {each[0].time // every * every for each in values}
    }
    (whole,) = rows(analytics.rates(changes, Series(), WHOLE, "publisher"))  # who published is not known
    assert whole == (None, *counted(changes_of(ENTRIES, WHOLE)))
    churned = rows(analytics.churn(changes, Series(STATE, graph=GRAPH), MIDDLE, 3))
    states = [each for each in seen if (each[1][1], each[1][3]) == (STATE, GRAPH)]
    by_subject = {s: counted(each for each in states if each[1][0] == s) for s in {each[1][0] for each in states}}
    busiest = sorted(by_subject, key=lambda s: (-by_subject[s][0] - by_subject[s][1], s))[:3]
    assert churned == [(s, *by_subject[s]) for s in busiest]


@spark_test
@pytest.mark.usefixtures("compiled")
def test_gaps_are_those_between_changes_and_the_one_that_is_still_open(changes: DataFrame) -> None:
    for span, longer in ((WHOLE, 90 * MINUTE), (MIDDLE, 30 * MINUTE)):
        found = rows(analytics.gaps(changes, Series(VALUE), span, longer))
        expected = silences(ENTRIES, VALUE, span, longer)
        assert [close(each) for each in expected] == [list(row) for row in found]
        assert any(row[3] is None for row in found)
        assert any(row[3] is not None for row in found)


@spark_test
def test_charts_have_few_lines_and_few_points(changes: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    series = {(each.subject, each.graph) for each in held(ENTRIES, VALUE, WHOLE) if each.number is not None}
    monkeypatch.setattr(plots, "MOST_LINES", 2)
    whole = plots.values(changes, Series(VALUE), WHOLE)
    assert f"2 of {len(series)} series: those with the most values" in whole.axes.get_xlabel()
    assert len(whole.axes.lines) == 2
    monkeypatch.setattr(plots, "MOST_POINTS", 8)
    thinned = plots.values(changes, Series(VALUE), WHOLE)
    assert "time-weighted mean (line)" in thinned.axes.get_xlabel()
    dots = [line for line in thinned.axes.lines if line.get_marker() == "."]
    assert len(dots) == 2
    assert all(3 <= len(np.asarray(line.get_xdata())) <= 8 for line in dots)
    with pytest.raises(BadRequest, match="no value in this time is a number"):
        plots.values(changes.where(f.col("o").startswith("<")), Series(VALUE), WHOLE)


def test_windows_of_a_chart_have_lengths_that_people_reckon_in() -> None:
    day = 24 * 60 * MINUTE
    for length in (1, 1_000_000, day, 7 * day, 1_000 * day, 100_000 * day):
        every = plots._window_for(Span(START, START + length))
        assert every % 1_000_000 == 0
        assert plots._coarser(Span(START, START + length), every) == every
    assert plots._window_for(Span(START, START + day)) == 5 * MINUTE


@spark_test
def test_numbers_are_those_that_the_engine_reads(spark: SparkSession) -> None:
    texts = ["0", "-0", "+7", "-1", "1", "127", "128", "-129", "65536", "4294967295", "16777217", "0.1", "1.5", ".5"]
    texts += ["5.", "-.5e3", "1E400", "-1E400", "INF", "-INF", "+INF", "NaN", "nan", "1d", "0x1", "1e", " 1", ""]
    texts += ["1" * 60, "-" + "1" * 60]
    texts += [str(bound + step) for bound in (2**63, -(2**63), 2**64) for step in (-1, 0, 1)]
    texts += ["0" * 50 + "5", "9" * 4_000, "9" * 4_001, "0." + "3" * 3_998, "3" * 4_001 + ".1", "1\\n", "٣"]
    kinds = [*INTEGER_BOUNDS, "decimal", "double", "float", "string", "boolean", "date"]
    terms = [f'"{text}"^^<{XSD}{kind}>' for text in texts for kind in kinds]
    terms += ["<http://example.org/1>", "_:b1", '"1"', '"1"@en', '"1"^^<http://example.org/integer>']
    frame = spark.createDataFrame([(term,) for term in terms], "term string")
    found = {row[0]: row[1] for row in frame.select("term", number(f.col("term"))).collect()}
    expected = {term: _engine(term) for term in terms}
    assert {term: repr(found[term] + 0.0) if found[term] is not None else None for term in terms} == expected
    assert sum(each is not None for each in expected.values()) > 150


def _engine(term: str) -> str | None:
    try:
        value = number_of(term)
    except OverflowError:  # an integer beyond all doubles, of either sign
        return "-inf" if term.startswith('"-') else "inf"
    return None if value is None else repr(value + 0.0)


@spark_test
def test_what_is_not_in_the_history_is_said_with_what_is(changes: DataFrame) -> None:
    analytics.check_known(changes, Series(VALUE, (sensor(1),), GRAPH))
    for series, said in (
        (Series("<http://example.org/temperature>"), rf"no change has the predicate .*commonest are {VALUE}, {STATE}"),
        (Series(VALUE, ("<http://example.org/sensor9>",)), rf"no such change is of .*sensor9>; .*{sensor(1)}"),
        (Series(VALUE, (sensor(1),), "<http://example.org/h>"), r"graph <http://example.org/h>; there are .*default"),
    ):
        with pytest.raises(NotInHistory, match=said):
            analytics.check_known(changes, series)


def test_a_span_is_that_of_the_lake(lake: Lake, tmp_path: Path) -> None:
    assert analytics.span_of(lake) == WHOLE
    with pytest.raises(NotInHistory, match="no commits yet"):
        analytics.span_of(Lake.make(tmp_path / "empty"))


def test_too_many_windows_are_refused() -> None:
    most = analytics.MOST_WINDOWS
    analytics.check_windows(Span(START, START + (most - 1) * MINUTE), MINUTE)
    analytics.check_windows(Span(0, most * MINUTE), MINUTE)
    with pytest.raises(BadRequest, match=r"10,001 windows are too many"):
        analytics.check_windows(Span(0, most * MINUTE + 1), MINUTE)
