"""What the actions of `tidings history` have in common: a session while it is needed, and how commits are named."""

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tidings.gates.instants import read_instant

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidings.pipeline.lake import Lake
    from tidings.pipeline.origin import Mark


@contextmanager
def session_for(arguments: Namespace) -> Iterator["SparkSession"]:
    from tidings.pipeline.session import running, session

    ours = running() is None
    made = session(arguments.master, name=f"tidings history {arguments.action}")
    try:
        yield made
    finally:
        if ours:
            made.stop()


def mark_of(lake: "Lake", at: str | None) -> "Mark":
    """The commit that somebody means."""
    from tidings.pipeline.travel import commit_at, time_of

    if at is None:
        return lake.end()
    return time_of(lake, int(at)) if at.isdecimal() else commit_at(lake, read_instant(at))
