"""`tidings history query`: SPARQL over the graph after an earlier commit, or over time, with the times of each row."""

import sys
import time
from argparse import Namespace
from typing import TYPE_CHECKING

from tidings.cli.commands.data.query import choose_format, deliver
from tidings.cli.history.lakes import graphs_of, instant_of, mark_of, session_for
from tidings.cli.input.arguments import Parser, UsageError, add_text, read_text
from tidings.cli.output.complaint import warn
from tidings.cli.output.writing import write
from tidings.model.access import Graphs
from tidings.model.formats.rdf import RdfFormat
from tidings.model.formats.results.documents import ResultFormat
from tidings.model.results import Boolean, Solutions
from tidings.sparql.algebra import Ask, Select

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tidings.spark.lake.lake import Lake

PARQUET = "parquet"


def arguments(parser: Parser) -> None:
    add_text(parser, "query")


def query(arguments: Namespace) -> None:
    from tidings.spark.lake.lake import Lake
    from tidings.spark.sparql.answers import parquet, terms

    text = read_text(arguments, "query")
    asked = _read(text, arguments)  # report invalid arguments before Spark starts
    warn(asked.warnings, quiet=arguments.quiet)
    chosen = _format(asked, arguments)
    readable = graphs_of(arguments)
    lake = Lake(arguments.lake)
    when = _when(lake, arguments)
    with session_for(arguments) as spark:
        start = time.monotonic()
        answer = _answer(spark, lake, when, text, readable, is_ask=isinstance(asked, Ask))
        if isinstance(answer, bool):
            deliver(Boolean(answer), chosen, text, arguments, start)
        elif chosen == PARQUET:
            write(parquet(answer), arguments.output)
        else:
            deliver(Solutions(tuple(answer.columns), terms(answer)), chosen, text, arguments, start)


def _read(text: str, arguments: Namespace) -> Select | Ask:
    from tidings.spark.sparql.compilable import read_lasting, read_query

    if not arguments.between:
        return read_query(text)
    if arguments.at is not None:
        raise UsageError("--at asks about one state, and --between about many: give one of them")
    if isinstance(read_query(text), Ask):
        raise UsageError("ASK has no rows that hold --between two instants: ask it --at one")
    return read_lasting(text)


def _format(asked: Select | Ask, arguments: Namespace) -> ResultFormat | RdfFormat | str:
    if not _is_parquet(arguments):
        return choose_format(asked, arguments)
    if isinstance(asked, Ask):
        raise UsageError("the answer of ASK is no table for Parquet: it can be written as json, xml, csv or tsv")
    if arguments.output is None and sys.stdout.isatty():
        raise UsageError("Parquet is not for a terminal: give --output FILE")
    return PARQUET


def _is_parquet(arguments: Namespace) -> bool:
    if arguments.format is None:
        return str(arguments.output).endswith(f".{PARQUET}")
    return bool(arguments.format == PARQUET)


def _when(lake: "Lake", arguments: Namespace) -> "int | tuple[int, int]":
    """The commit of the options, or the first and the last instant of the time span."""
    from tidings.spark.lake.travel import plan

    if not arguments.between:
        return plan(lake, mark_of(lake, arguments.at).commit).last
    t1, t2 = (instant_of(lake, each) for each in arguments.between)
    if t1 >= t2:
        raise UsageError("--between goes from an earlier instant to a later one")
    return t1, t2


def _answer(
    spark: "SparkSession", lake: "Lake", when: int | tuple[int, int], text: str, readable: Graphs, *, is_ask: bool
) -> "DataFrame | bool":
    from tidings.spark.lake.travel import changes, commit_at, quads
    from tidings.spark.sparql.query import ask, between, run

    if isinstance(when, tuple):
        history = changes(spark, lake, last=commit_at(lake, when[1]).commit)
        return between(history, text, *when, readable=readable)[1]
    state = quads(spark, lake, when)
    return ask(state, text, readable=readable) if is_ask else run(state, text, readable=readable)[1]
