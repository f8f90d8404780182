"""`tidings history query`: what is refused before Spark starts, and answers in every format."""

from io import BytesIO, TextIOWrapper
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from spark.histories import log_with
from strategies.data import PREFIX, ex
from tidings.cli.commands.operation import history as command
from tidings.cli.input.arguments import UsageError
from tidings.log.entry import Entry
from tidings.model.errors import BadRequest, SparqlSyntaxError, TidingsError
from tidings.model.formats.results.documents import ResultFormat, read_results
from tidings.model.results import Boolean, Row, Solutions
from tidings.model.terms import XSD, Quad
from tidings.model.zset import ZSet
from tidings.protocol.instants import shown
from tidings.spark.errors import BeyondHistory, LakeUnusable
from tidings.spark.lake.lake import Lake
from tidings.spark.lake.writing import append
from tidings.spark.log_source.data_source import FORMAT, TidingsLog
from tidings.spark.sparql.errors import NotCompilable

ROWS = "SELECT ?v { ?s <http://example.org/status> ?v }"
SECOND = 1_000_000
START = 1_794_732_833_000_000


def status(lamp: str, value: str) -> Quad:
    return ex(lamp), ex("status"), f'"{value}"', ""


STORY = (
    ZSet.change(removed=[], added=[status("a", "on")]),
    ZSet.change(removed=[status("a", "on")], added=[status("a", "off")]),
    ZSet.change(removed=[], added=[status("b", "été\n")]),
)


def call(lake: Path, *words: object) -> None:
    arguments = ["query", *map(str, words), "--lake", str(lake)]
    assert command.run(command.parser().parse_intermixed_args(arguments)) == 0


# -- before Spark ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "kind", "told"),
    [
        ([], UsageError, "give one query"),
        ([ROWS, "--file", "x.rq"], UsageError, "give one query"),
        (["SELECT * {"], SparqlSyntaxError, "line 1"),
        (["SELECT * {\n ?s <p>* ?o }"], NotCompilable, "property path"),
        (["SELECT *\n{ BIND(RAND() AS ?x) }"], NotCompilable, r"RAND \(line 2\)"),
        (["SELECT * { FILTER EXISTS { SERVICE <x> { } } }"], NotCompilable, "SERVICE"),
        (["CONSTRUCT WHERE { ?s ?p ?o }"], NotCompilable, "CONSTRUCT"),
        ([ROWS, "--at", "1", "--between", "1", "2"], UsageError, "give one of them"),
        (["ASK { }", "--between", "1", "2"], UsageError, "ask it --at"),
        ([ROWS.replace("?v", "?to_seq"), "--between", "0", "2030-01-01T00:00:00Z"], NotCompilable, r"\?to_seq"),
        ([ROWS, "--between", "2030-01-01T00:00:00Z", "0"], UsageError, "earlier"),
        ([ROWS, "--between", "yesterday", "0"], BadRequest, "yesterday"),
        ([ROWS, "--at", "7"], BeyondHistory, "not to commit 7"),
        ([ROWS, "--format", "svg"], UsageError, "svg"),
        ([ROWS, "--output", "x.docx"], UsageError, "docx"),
        (["ASK { }", "--format", "parquet"], UsageError, "ASK"),
    ],
)
def test_what_makes_no_sense_is_refused_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], kind: type[TidingsError], told: str
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr("tidings.spark.session.session", never)
    Lake.make(tmp_path)
    with pytest.raises(kind, match=told):
        call(tmp_path, *words)


def test_other_actions_take_no_query(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="info takes no query"):
        command.run(command.parser().parse_intermixed_args(["info", "SELECT", "--lake", str(tmp_path)]))


def test_there_has_to_be_a_lake(tmp_path: Path) -> None:
    with pytest.raises(LakeUnusable, match="not a history lake"):
        call(tmp_path, ROWS)


# -- answers --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Commit n is made n seconds after the start."""
    folder = tmp_path_factory.mktemp("asked")
    entries = [Entry(seq, START + seq * SECOND, delta) for seq, delta in enumerate(STORY, 1)]
    made = Lake.make(folder / "lake")
    spark.dataSource.register(TidingsLog)
    append(made, spark.read.format(FORMAT).load(str(log_with(folder / "data", entries))))
    return made.path


def instant(seq: int) -> str:
    return f'"{shown(START + seq * SECOND)}"^^<{XSD}dateTime>'


def number(value: int) -> str:
    return f'"{value}"^^<{XSD}integer>'


HELD: set[Row] = {
    ('"on"', instant(1), instant(2), number(1), number(2)),
    ('"off"', instant(2), instant(3), number(2), None),
}


@pytest.mark.spark
@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize("name", ["json", "xml", "tsv"])
def test_intervals_are_variables_like_any_other(lake: Path, tmp_path: Path, name: str) -> None:
    call(lake, ROWS, "--between", 1, shown(START + 3 * SECOND), "--output", tmp_path / f"out.{name}")
    found = read_results((tmp_path / f"out.{name}").read_bytes(), ResultFormat[name.upper()])
    assert isinstance(found, Solutions)
    assert found.variables == ("v", "valid_from", "valid_to", "from_seq", "to_seq")
    assert {tuple(row) for row in found.rows} == HELD


@pytest.mark.spark
@pytest.mark.usefixtures("unhurried")
def test_intervals_are_instants_and_numbers_in_parquet(lake: Path, tmp_path: Path) -> None:
    call(lake, ROWS, "--between", 0, 3, "--output", tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.schema.types == [pa.string(), *[pa.timestamp("us", "UTC")] * 2, *[pa.int64()] * 2]
    rows = zip(*(table[name].to_pylist() for name in ("v", "from_seq", "to_seq")), strict=True)
    assert set(rows) == {('"on"', 1, 2), ('"off"', 2, None)}
    assert min(table["valid_from"].cast(pa.int64()).to_pylist()) == START + SECOND


@pytest.mark.spark
@pytest.mark.usefixtures("unhurried")
def test_an_answer_is_that_of_the_commit_or_the_instant(
    lake: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def printed(*words: object) -> bytes:
        call(lake, *words, "--quiet")
        return capsysbinary.readouterr().out

    assert printed(ROWS, "--at", 1) == b'?v\n"on"\n'
    assert printed(ROWS, "--at", shown(START + 2 * SECOND + 5), "--format", "csv") == b"v\r\noff\r\n"
    assert printed(f"{ROWS} ORDER BY DESC(?v)", "--format", "table").decode().split() == [
        "?v",
        "─────",
        "été\\n",
        "off",
    ]
    (tmp_path / "asked.rq").write_text(f"{PREFIX}ASK {{ :a :status 'on' }}")
    assert printed(f"@{tmp_path / 'asked.rq'}", "--at", 1, "--format", "table") == b"true\n"
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(b"ASK { ?s ?p 'on' }")))
    document = printed("-", "--format", "json")
    assert read_results(document, ResultFormat.JSON) == Boolean(False)
