"""The analytics on the command line: figures in every format, charts, and what is wrong with a call."""

import csv
import json
from io import StringIO
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from spark.measured import MINUTE, STATE, VALUE, lake_of, sensor, sensors
from tidings.cli.commands.operation import history as command
from tidings.cli.history import analytics as history_analytics
from tidings.cli.history import tables as history_tables
from tidings.cli.history.analytics import graph, period, term
from tidings.cli.input.arguments import UsageError
from tidings.model.errors import TidingsError
from tidings.protocol.instants import shown

ENTRIES = sensors(3, 150)
Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(lake_of(tmp_path_factory.mktemp("history") / "lake", ENTRIES).path)


def run(*words: str) -> None:
    command.run(command.parser().parse_args(words))


@pytest.mark.spark
@pytest.mark.usefixtures("unhurried")
def test_figures_come_as_tables_and_files_with_charts(
    spark: SparkSession, lake: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_value = ("--lake", lake, "--predicate", VALUE)
    run("values", *of_value, "--subject", sensor(1), "--subject", sensor(2), "--chart", str(tmp_path / "values.svg"))
    rows = list(csv.DictReader(StringIO(capsys.readouterr().out)))
    assert {row["subject"] for row in rows} == {sensor(1), sensor(2)}
    assert all(row["time"].endswith("Z") for row in rows)
    run("windows", *of_value, "--every", "1h", "-o", str(tmp_path / "w.parquet"), "--chart", str(tmp_path / "w.png"))
    table = pq.read_table(tmp_path / "w.parquet")
    assert table.column_names[2:] == ["window", "count", "mean", "min", "max", "time_weighted_mean"]
    by_graph = ("rates", "--lake", lake, "--by", "graph", "--every", "2h")
    run(*by_graph, "--format", "json", "--chart", str(tmp_path / "r.svg"))
    assert {row["graph"] for row in json.loads(capsys.readouterr().out)} == {"", "<http://example.org/g>"}
    monkeypatch.setattr(history_analytics, "MOST_LINES", 3)
    monkeypatch.setattr(history_tables, "MOST_LINES", 3)
    run("churn", "--lake", lake, "--top", "5", "--format", "table", "--chart", str(tmp_path / "c.png"))
    told = capsys.readouterr()
    assert len(told.out.splitlines()) == 2 + 3
    assert "and 2 more; --output FILE.csv" in told.err
    run("gaps", *of_value, "--longer-than", "20m", "--format", "json", "--chart", str(tmp_path / "gaps.svg"))
    assert all(gap["seconds"] > 1200 for gap in json.loads(capsys.readouterr().out))
    drawn = {path.name: path.read_bytes()[:5] for path in tmp_path.iterdir() if path.suffix != ".parquet"}
    assert drawn == {name: b"<?xml" if "svg" in name else b"\x89PNG\r" for name in drawn}
    assert len(drawn) == 5


@pytest.mark.spark
@pytest.mark.usefixtures("unhurried")
def test_what_cannot_be_answered_is_explained(spark: SparkSession, lake: str, tmp_path: Path, capsys: Captured) -> None:
    with pytest.raises(TidingsError, match=f"commonest are {VALUE}, {STATE}") as raised:
        run("values", "--lake", lake, "--predicate", "http://example.org/valve")
    assert raised.value.code == "not_in_history"
    beyond = ("--between", "1", shown(ENTRIES[-1].time + 20_000 * 1440 * MINUTE))
    run("gaps", "--lake", lake, "--predicate", VALUE, "--longer-than", "10000d", "--format", "json", *beyond)
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["values"], "values needs --predicate"),
        (["windows", "--predicate", VALUE], "windows needs --every"),
        (["gaps", "--predicate", VALUE], "gaps needs --longer-than"),
        (["churn", "--every", "1h"], "--every does not go with churn"),
        (["values", "--predicate", VALUE, "--top", "3"], "--top does not go with values"),
        (["churn", "--chart", "churn.pdf"], "svg or .png, and not churn.pdf"),
        (["churn", "--format", "xml"], "table, csv, json, parquet, not as xml"),
        (["churn", "--output", "churn.xlsx"], "not as churn.xlsx"),
        (["churn", "--between", "2026-11-15T09:00:00Z", "2026-11-15T09:00:00Z"], "the earlier one first"),
        (["churn", "--between", "1999-11-15T09:00:00Z", "1999-11-16T09:00:00Z"], "nothing of this time"),
        (["churn", "--between", "yesterday", "2026-11-15T09:00:00Z"], "yesterday"),
        (["rates", "--every", "1ms"], "windows are too many"),
        (["rates", "--every", "soon"], "'soon' is no length of time"),
        (["rates", "--by", "moon"], "invalid choice: 'moon'"),
        (["values", "--predicate", "value"], "not an absolute IRI"),
        (["churn", "--top", "0"], "'0' is not a whole number, 1 or more"),
    ],
)
def test_a_call_that_makes_no_sense_is_told_before_spark_starts(lake: str, words: list[str], said: str) -> None:
    with pytest.raises(TidingsError, match=said):
        run(words[0], "--lake", lake, *words[1:])


def test_a_time_that_the_lake_does_not_reach_is_refused(lake: str) -> None:
    first, last = ENTRIES[0].time, ENTRIES[-1].time
    with pytest.raises(UsageError, match="nothing of this time"):
        run("churn", "--lake", lake, "--between", shown(last + 1), shown(last + MINUTE))
    with pytest.raises(UsageError, match="nothing of this time"):
        run("churn", "--lake", lake, "--between", shown(first - MINUTE), shown(first))


def test_lengths_of_time_are_written_in_units() -> None:
    lengths = {"15m": 15 * MINUTE, "1h30m": 90 * MINUTE, "500ms": 500_000, "0.5s": 500_000, "PT15M": 15 * MINUTE}
    assert {text: period(text) for text in lengths} == lengths
    assert period("90") == period("90s") == 90_000_000
    assert period("2w") == 14 * period("1d")
    for text in ("", "0s", "m", "-5m", "5 m", "15mm", "0.1ms", "99999999999d", "nan", "inf"):
        with pytest.raises(UsageError, match="no length of time"):
            period(text)


def test_names_may_have_angle_brackets() -> None:
    assert term("http://example.org/a") == term("<http://example.org/a>") == "<http://example.org/a>"
    assert term("_:b") == "_:b"
    assert graph("default") == ""
