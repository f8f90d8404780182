"""Answers the questions of a broker about commits that its log no longer has.

A broker keeps one process with a Spark session, because starting Spark takes longer than most answers. The process
reads only the lake, and only the graphs that the client may read.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, assert_never

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tidings.model.access import Graphs
from tidings.model.errors import RowLimitExceeded, TidingsError
from tidings.model.graph_patterns import read_graphs
from tidings.protocol.entry_lines import NONE
from tidings.protocol.lake_lines import (
    COMMITS,
    AskCommits,
    AskThen,
    Columns,
    Done,
    Question,
    Refused,
    Rows,
    Said,
    Truth,
)
from tidings.spark.lake.lake import Lake
from tidings.spark.lake.travel import plan, quads, read
from tidings.spark.lake.visible import visible
from tidings.spark.session import translated
from tidings.spark.sparql.answers import each_row, terms
from tidings.spark.sparql.compilable import read_query
from tidings.spark.sparql.query import ask, run
from tidings.sparql.algebra import Ask, Dataset

PORTION = 200
"""The most rows of a line."""


def check(folder: Path, question: Question) -> None:
    """Raise the errors that can be found without Spark: a text that cannot be compiled, or missing commits."""
    lake = Lake(folder)
    match question:
        case AskThen():
            read_query(question.text, question.base, _dataset(question))
            plan(lake, question.at)
        case AskCommits():
            plan(lake, question.last)
        case _:
            assert_never(question)


def _dataset(question: AskThen) -> Dataset | None:
    return Dataset(question.default, question.named) if question.has_dataset else None


def answered(spark: SparkSession, folder: Path, question: Question) -> Iterator[Said]:
    """The lines of the answer to a question. The last one is always Done, or Refused with the error."""
    try:
        with translated():
            lake = Lake(folder)
            match question:
                case AskThen():
                    yield from _then(spark, lake, question)
                case AskCommits():
                    yield from _commits(spark, lake, question)
                case _:
                    assert_never(question)
    except TidingsError as error:
        yield Refused(error.to_json())
    else:
        yield Done()


def _then(spark: SparkSession, lake: Lake, question: AskThen) -> Iterator[Said]:
    text, base, readable = question.text, question.base, read_graphs(question.graphs)
    dataset = _dataset(question)
    asked = read_query(text, base, dataset)
    state = quads(spark, lake, question.at, readable)
    if isinstance(asked, Ask):
        yield Truth(ask(state, text, base, readable=readable, dataset=dataset))
        return
    variables, frame = run(state, text, base, readable=readable, dataset=dataset)
    yield Columns(variables)
    yield from _portions(terms(frame), question.rows)


def _commits(spark: SparkSession, lake: Lake, question: AskCommits) -> Iterator[Said]:
    frame = _changes(spark, lake, question, read_graphs(question.graphs))
    yield Columns(COMMITS)
    yield from _portions(each_row(frame.select(*COMMITS).orderBy("seq")), question.rows)


def _changes(spark: SparkSession, lake: Lake, question: AskCommits, readable: Graphs) -> DataFrame:
    """The readable changes. If the question wants every commit, also a row without a change for each commit."""
    after, last = question.after, question.last
    batches = [each for each in lake.batches() if each.last > after and each.first <= last]
    found = read(spark, lake, tuple(file for each in batches for file in each.files))
    found = found.where((f.col("seq") > after) & (f.col("seq") <= last))
    seen = visible(found.where(f.col("op") != NONE), readable)
    if not question.every:
        return seen
    bare = found.select("seq", "time").distinct()
    empty = [f.lit(NONE if name == "op" else None).cast("string").alias(name) for name in COMMITS[2:]]
    return seen.select(*COMMITS).union(bare.select("seq", "time", *empty))


def _portions(rows: Iterable[tuple[Any, ...]], most: int | None) -> Iterator[Said]:
    found, count = iter(rows), 0
    while some := list(islice(found, PORTION)):
        count += len(some)
        if most is not None and count > most:
            raise RowLimitExceeded(most)
        yield Rows(some)
