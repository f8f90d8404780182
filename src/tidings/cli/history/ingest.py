"""`tidings history ingest`: copies the commits of a log into the lake, each exactly once."""

import threading
import time
from argparse import Namespace
from typing import TYPE_CHECKING

from rich.console import Console

from tidings.cli.history.lakes import graphs_of, say, session_for
from tidings.cli.input.arguments import Parser, UsageError, count
from tidings.cli.input.identity import lend
from tidings.cli.input.stopping import stopping
from tidings.model.errors import TidingsError
from tidings.protocol.instants import shown

if TYPE_CHECKING:
    from tidings.spark.lake.manifest import IngestedBatch
    from tidings.spark.log_source.origin import Mark, Origin

_PACE = 5.0
"""Seconds between two lines of progress, if stderr is not a terminal."""


def arguments(parser: Parser) -> None:
    parser.add_argument("--log", metavar="DIR|URL", help="ingest: the data folder of a broker, or its address")
    parser.add_argument("--follow", action="store_true", help="ingest: go on with what is to come, until Ctrl+C")
    parser.add_argument("--batch", metavar="N", type=count, help="ingest: the most commits at a time (200000)")


def ingest(arguments: Namespace) -> None:
    if not arguments.log:
        raise UsageError("say which log to take in: --log DIR, or --log URL of a broker")
    from tidings.spark.errors import FeedFailed
    from tidings.spark.lake.ingest import Ingest
    from tidings.spark.lake.lake import Lake
    from tidings.spark.log_source.data_source import COMMITS
    from tidings.spark.log_source.origin import graphs_at, origin_of

    lend(arguments, arguments.log)
    wanted = graphs_of(arguments, graphs_at(arguments.log))
    origin = origin_of(arguments.log, wanted)
    origin.end()  # report an unreadable log before Spark starts
    lake = Lake.make(arguments.lake, wanted)
    stop = threading.Event()
    with session_for(arguments) as spark, stopping(stop):
        tell = _Progress(origin, quiet=arguments.quiet)
        say(arguments, beginning(lake.end().commit, origin.end().commit, follow=arguments.follow))
        while True:
            job = Ingest(spark, lake, arguments.log, commits=arguments.batch or COMMITS, told=tell)
            try:
                job.run(follow=arguments.follow, stop=stop)
                break
            except FeedFailed as error:
                # With --follow, the command waits while the broker restarts.
                if arguments.follow:
                    say(arguments, f"{error}; waiting for it to be there again")
                if not arguments.follow or stop.wait(_PACE):
                    raise
        tell.done(lake.end())


def beginning(has: int, end: int, *, follow: bool) -> str:
    """The first message: what there is to do, and to wait for."""
    behind = f"the lake has {has:,} commits, and the log {end:,}"
    return f"{behind}; waiting for more, until Ctrl+C" if follow else behind


class _Progress:
    """Shows progress on stderr: in place on a terminal, otherwise a line now and then."""

    def __init__(self, origin: "Origin", *, quiet: bool) -> None:
        self._origin = origin
        self._console = Console(stderr=True, quiet=quiet, highlight=False, soft_wrap=True)
        self._commits = self._rows = 0
        self._since = self._said = time.monotonic()

    def __call__(self, batch: "IngestedBatch") -> None:
        self._commits += batch.last - batch.first + 1
        self._rows += batch.rows
        now = time.monotonic()
        if self._console.is_terminal or now - self._said >= _PACE:
            self._say(f"{self._figures()}{self._lag(batch.last)}", end="\r" if self._console.is_terminal else "\n")
            self._said = now

    def _lag(self, last: int) -> str:
        try:
            return f", {self._origin.end().commit - last:,} commits behind"
        except TidingsError:
            return ""  # reading the log raises the error

    def done(self, end: "Mark") -> None:
        at = f", the last of {shown(end.time)}" if end.commit else ""
        self._say(f"{self._figures()}; the lake has {end.commit:,} commits{at}")

    def _figures(self) -> str:
        seconds = max(1e-9, time.monotonic() - self._since)
        return f"{self._commits:,} commits, {self._rows:,} changes, {self._rows / seconds:,.0f}/s"

    def _say(self, text: str, end: str = "\n") -> None:
        covered = text.ljust(100) if self._console.is_terminal else text  # to overwrite a longer line
        self._console.print(covered, end=end, markup=False)
