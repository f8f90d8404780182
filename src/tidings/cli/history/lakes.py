"""What the actions of `tidings history` have in common: a Spark session, messages about progress, and how arguments
name graphs, commits and instants."""

import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tidings.model.access import Graphs
from tidings.model.graph_patterns import read_graphs
from tidings.protocol.instants import read_instant

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidings.spark.lake.lake import Lake
    from tidings.spark.log_source.origin import Mark


_DOING = {
    "ingest": "taking in commits",
    "as-of": "reading the graph as it was",
    "query": "evaluating the query",
    "answer": "answering",
    "subscriptions": "taking up the subscriptions",
    "replay": "going through the commits",
    "rescale": "dividing the state anew",
}


def say(arguments: Namespace, text: str) -> None:
    """Print a message about progress on stderr, unless --quiet is given."""
    if not arguments.quiet:
        print(f"tidings: {text}", file=sys.stderr, flush=True)


@contextmanager
def session_for(
    arguments: Namespace, command: str = "history", *, partitions: int | None = None
) -> Iterator["SparkSession"]:
    """A Spark session for an action. Errors of Spark become errors of Tidings."""
    from tidings.spark.session import LOCAL, running, session, stop, translated

    ours, begun = running() is None, time.monotonic()
    name = f"tidings {command} {arguments.action}"
    if ours:
        say(arguments, f"starting Spark with the master {arguments.master or LOCAL}")
    made = session(arguments.master, name=name, partitions=partitions, memory=arguments.memory, patience=arguments.wait)
    if ours:
        doing = _DOING.get(arguments.action, "computing the figures")
        say(arguments, f"Spark runs after {time.monotonic() - begun:.0f} s; {doing}")
    try:
        with translated():
            yield made
    finally:
        if ours:
            stop(made)


def graphs_of(arguments: Namespace, otherwise: Graphs = Graphs.ALL) -> Graphs:
    """The graphs of the options. Raises BadRequest."""
    return otherwise if arguments.graphs is None else read_graphs(arguments.graphs)


def mark_of(lake: "Lake", at: str | None) -> "Mark":
    """The commit that an option names."""
    from tidings.spark.lake.travel import commit_at, time_of

    if at is None:
        return lake.end()
    return time_of(lake, int(at)) if at.isdecimal() else commit_at(lake, read_instant(at))


def instant_of(lake: "Lake", at: str) -> int:
    """The instant that an option names, in microseconds since 1970; for a commit, its time."""
    from tidings.spark.lake.travel import time_of

    return time_of(lake, int(at)).time if at.isdecimal() else read_instant(at)
