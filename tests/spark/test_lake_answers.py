"""What a broker asks of its lake: answers as they were, and commits, as far as they may be read."""

from io import BytesIO
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from spark.histories import history, log_with, replayed
from spark.measured import lake_of
from tidings.cli.commands.operation import history as command
from tidings.cli.history.answer import converse
from tidings.log.entry import Entry
from tidings.model.graph_patterns import read_graphs
from tidings.model.zset import ZSet
from tidings.protocol.lake_lines import (
    AskCommits,
    AskThen,
    Columns,
    Done,
    Question,
    Ready,
    Refused,
    Rows,
    Said,
    Truth,
    entries_of,
    read_said,
    written,
)
from tidings.server.history.lake import Look
from tidings.spark.errors import LakeUnusable, LogDiverged

COMMITS = 30
G = "http://example.org/g"
EVERYTHING = "SELECT * { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return [entry for entry in history(7, COMMITS) if entry.delta]


@pytest.fixture(scope="module")
def folder(entries: list[Entry], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lake_of(tmp_path_factory.mktemp("lake") / "lake", entries).path


def asked(folder: Path, *questions: Question) -> list[Said]:
    """The whole conversation."""
    arguments = command.parser().parse_intermixed_args(["answer", "--quiet", "--lake", str(folder)])
    answers = BytesIO()
    converse(arguments, map(written, questions), answers)
    return [read_said(line) for line in answers.getvalue().splitlines()]


def rows_of(said: list[Said]) -> list[tuple[object, ...]]:
    assert isinstance(said[0], Ready)
    assert isinstance(said[-1], Done)
    return [row for each in said if isinstance(each, Rows) for row in each.rows]


def seen(entry: Entry, patterns: tuple[str, ...]) -> tuple[int, int, ZSet[tuple[str, str, str, str]], str | None]:
    visible = entry.seen_by(read_graphs(patterns))
    return visible.commit, visible.time, visible.delta, visible.publisher


@pytest.mark.spark
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("graphs", [("*",), (G,), ()])
def test_an_answer_and_commits_are_those_that_may_be_seen(
    spark: SparkSession, folder: Path, entries: list[Entry], graphs: tuple[str, ...]
) -> None:
    readable = read_graphs(graphs)
    then = rows_of(asked(folder, AskThen(EVERYTHING, 20, graphs)))
    quads = {(s, p, o, g) for s, p, o, g in replayed(entries, 20) if readable.has(g)}
    assert sorted(then, key=repr) == sorted(((s, p, o, g or None) for s, p, o, g in quads), key=repr)
    found = entries_of(rows_of(asked(folder, AskCommits(10, 20, graphs, every=True))))
    assert [seen(each, ("*",)) for each in found] == [seen(each, graphs) for each in entries[10:20]]


@pytest.mark.spark
@pytest.mark.usefixtures("compiled")
def test_one_session_answers_one_question_after_the_other(spark: SparkSession, folder: Path) -> None:
    said = asked(
        folder,
        AskThen("SELECT * { ?s <p>+ ?o }", 5, ("*",), "http://e/"),
        AskThen("ASK { ?s ?p ?o }", COMMITS + 1, ("*",)),
        AskThen("ASK { ?s ?p ?o }", 5, ("*",)),
        AskThen("SELECT * { ?s ?p ?o }", 20, ("*",), rows=1),
        AskThen("SELECT ?s { ?s ?p ?o } LIMIT 1", 20, ("*",), default=(f"<{G}>",), has_dataset=True),
    )
    codes = [each.error["error"] for each in said if isinstance(each, Refused)]
    assert codes == ["not_compilable", "beyond_history", "row_limit_exceeded"]
    assert [each for each in said if isinstance(each, Truth)] == [Truth(True)]
    assert [each for each in said if isinstance(each, Columns)][-1] == Columns(("s",))
    assert isinstance(said[-1], Done)
    assert [each.error["error"] for each in asked(folder / "none", AskCommits(0, 1, ())) if isinstance(each, Refused)]


def test_a_broker_sees_how_far_its_lake_reaches_and_whose_it_is(
    folder: Path, entries: list[Entry], tmp_path: Path
) -> None:
    others = [entry for entry in history(8, COMMITS) if entry.delta]
    own, other = log_with(tmp_path / "own", entries), log_with(tmp_path / "other", others)
    status = Look(folder, own)()
    assert (status.first, status.last, status.error) == (1, COMMITS, None)
    assert isinstance(Look(folder, other)().error, LogDiverged)
    assert isinstance(Look(tmp_path / "nowhere", own)().error, LakeUnusable)
