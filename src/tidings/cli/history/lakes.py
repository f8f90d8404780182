"""What the actions of `tidings history` have in common: a session while it is needed, and how commits are named."""

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


@contextmanager
def session_for(
    arguments: Namespace, command: str = "history", *, partitions: int | None = None
) -> Iterator["SparkSession"]:
    """A session for an action; what goes wrong in it is told in errors of ours."""
    from tidings.spark.session import running, session, stop, translated

    ours = running() is None
    name = f"tidings {command} {arguments.action}"
    made = session(arguments.master, name=name, partitions=partitions, memory=arguments.memory, patience=arguments.wait)
    try:
        with translated():
            yield made
    finally:
        if ours:
            stop(made)


def graphs_of(arguments: Namespace, otherwise: Graphs = Graphs.ALL) -> Graphs:
    """The graphs that somebody wants. Raises BadRequest."""
    return otherwise if arguments.graphs is None else read_graphs(arguments.graphs)


def mark_of(lake: "Lake", at: str | None) -> "Mark":
    """The commit that somebody means."""
    from tidings.spark.lake.travel import commit_at, time_of

    if at is None:
        return lake.end()
    return time_of(lake, int(at)) if at.isdecimal() else commit_at(lake, read_instant(at))


def instant_of(lake: "Lake", at: str) -> int:
    """The instant that somebody means, in microseconds since 1970; for a commit, that at which it was made."""
    from tidings.spark.lake.travel import time_of

    return time_of(lake, int(at)).time if at.isdecimal() else read_instant(at)
