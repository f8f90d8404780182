"""`tidings history`: the lake of every change that was ever committed, on Spark, and the graph as it was."""

import signal
import threading
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from rich.console import Console

from tidings.cli.arguments import Parser, UsageError, count
from tidings.cli.writing import write
from tidings.gates.instants import read_instant, shown
from tidings.model.errors import TidingsError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidings.pipeline.lake import Lake
    from tidings.pipeline.manifest import Batch
    from tidings.pipeline.origin import Mark, Origin

DESCRIPTION = """\
Keep every change that was ever committed in a lake of Parquet files, and see the graph as it was at any time.

  ingest   take the commits of a log into the lake, each exactly once; go on where the last call left off
  as-of    print the graph after a commit or at an instant, as N-Quads, or make a data folder of it
  info     what the lake has

It runs on Spark: pip install 'tidings[spark]', and Java 17 or later."""
EXAMPLES = """\
examples:
  tidings history ingest --log tidings-data --lake lake
  tidings history ingest --log http://localhost:8000 --lake lake --follow
  tidings history as-of --lake lake --at 1000 --output then.nq
  tidings history as-of --lake lake --at 2026-11-15T09:00:00Z --data then && tidings serve --data then
  tidings history info --lake lake
"""
_PACE = 5.0
"""Seconds between two lines of progress, where nobody watches a terminal."""


def parser() -> Parser:
    result = Parser("tidings history", DESCRIPTION, EXAMPLES)
    result.add_argument("action", metavar="ACTION", choices=tuple(ACTIONS), help=f"one of {', '.join(ACTIONS)}")
    result.add_argument("--lake", metavar="DIR", type=Path, required=True, help="the lake; ingest makes it")
    result.add_argument("--log", metavar="DIR|URL", help="ingest: the data folder of a broker, or its address")
    result.add_argument("--follow", action="store_true", help="ingest: go on with what is to come, until Ctrl+C")
    result.add_argument("--batch", metavar="N", type=count, help="ingest: the most commits at a time (200000)")
    result.add_argument("--at", metavar="COMMIT|INSTANT", help="as-of: 1000, or 2026-11-15T09:00:00Z (the last commit)")
    result.add_argument("--output", "-o", metavar="FILE", help="as-of: where the N-Quads go (stdout)")
    result.add_argument("--data", "-d", metavar="DIR", type=Path, help="as-of: make a data folder for a broker instead")
    result.add_argument("--master", metavar="URL", help="where Spark runs: local[*], spark://HOST:PORT, yarn, k8s://…")
    result.add_argument("--quiet", "-q", action="store_true", help="say nothing of progress")
    return result


def run(arguments: Namespace) -> int:
    try:
        import pyarrow  # noqa: F401
        import pyspark  # noqa: F401
    except ImportError as error:
        from tidings.pipeline.errors import SparkMissing

        raise SparkMissing(error) from error
    ACTIONS[arguments.action](arguments)
    return 0


# -- ingest ----------------------------------------------------------------------------------------------------------


def _ingest(arguments: Namespace) -> None:
    if not arguments.log:
        raise UsageError("say which log to take in: --log DIR, or --log URL of a broker")
    from tidings.pipeline.errors import FeedFailed
    from tidings.pipeline.ingest import Ingest
    from tidings.pipeline.lake import Lake
    from tidings.pipeline.origin import origin_of
    from tidings.pipeline.source import COMMITS

    origin = origin_of(arguments.log)
    origin.end()  # what cannot be read is said before Spark is started
    lake = Lake.make(arguments.lake)
    stop = threading.Event()
    with _session(arguments) as spark, _stopping(stop):
        tell = _Progress(origin, quiet=arguments.quiet)
        while True:
            job = Ingest(spark, lake, arguments.log, commits=arguments.batch or COMMITS, told=tell)
            try:
                job.run(follow=arguments.follow, stop=stop)
                break
            except FeedFailed:
                # Who follows a broker outlasts its restarts.
                if not arguments.follow or stop.wait(_PACE):
                    raise
        tell.done(lake.end())


@contextmanager
def _stopping(stop: threading.Event) -> Iterator[None]:
    """Ctrl+C and SIGTERM end it between two batches."""

    def handle(_: int, __: FrameType | None) -> None:
        stop.set()

    former = {kind: signal.signal(kind, handle) for kind in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for kind, handler in former.items():
            signal.signal(kind, handler)


class _Progress:
    """What is told on stderr: in place on a terminal, a line now and then elsewhere."""

    def __init__(self, origin: "Origin", *, quiet: bool) -> None:
        self._origin = origin
        self._console = Console(stderr=True, quiet=quiet, highlight=False, soft_wrap=True)
        self._commits = self._rows = 0
        self._since = self._said = time.monotonic()

    def __call__(self, batch: "Batch") -> None:
        self._commits += batch.last - batch.first + 1
        self._rows += batch.rows
        now = time.monotonic()
        if self._console.is_terminal or now - self._said >= _PACE:
            self._say(f"{self._figures()}{self._lag(batch.last)}", end="\r" if self._console.is_terminal else "\n")
            self._said = now

    def _lag(self, last: int) -> str:
        try:
            return f", {self._origin.end().seq - last:,} commits behind"
        except TidingsError:
            return ""  # whoever reads the log will say what is wrong with it

    def done(self, end: "Mark") -> None:
        at = f", the last of {shown(end.time)}" if end.seq else ""
        self._say(f"{self._figures()}; the lake has {end.seq:,} commits{at}")

    def _figures(self) -> str:
        seconds = max(1e-9, time.monotonic() - self._since)
        return f"{self._commits:,} commits, {self._rows:,} changes, {self._rows / seconds:,.0f}/s"

    def _say(self, text: str, end: str = "\n") -> None:
        covered = text.ljust(100) if self._console.is_terminal else text  # over a longer line before it
        self._console.print(covered, end=end, markup=False)


# -- looking ---------------------------------------------------------------------------------------------------------


def _as_of(arguments: Namespace) -> None:
    from tidings.pipeline.lake import Lake
    from tidings.pipeline.travel import broker_folder, nquads, plan

    lake = Lake(arguments.lake)
    mark = _mark(lake, arguments.at)
    plan(lake, mark.seq)  # what is not there is said before Spark is started
    with _session(arguments) as spark:
        if arguments.data is not None:
            broker_folder(spark, lake, mark, arguments.data)
        else:
            write(nquads(spark, lake, mark.seq), arguments.output)
    if not arguments.quiet:
        when = f", of {shown(mark.time)}" if mark.time else ""
        Console(stderr=True, highlight=False).print(f"as of commit {mark.seq:,}{when}", markup=False)


def _mark(lake: "Lake", at: str | None) -> "Mark":
    """The commit that somebody means."""
    from tidings.pipeline.travel import commit_at, time_of

    if at is None:
        return lake.end()
    return time_of(lake, int(at)) if at.isdecimal() else commit_at(lake, read_instant(at))


def _info(arguments: Namespace) -> None:
    from tidings.pipeline.lake import Lake

    lake = Lake(arguments.lake)
    batches, snapshots = lake.batches(), lake.snapshots()
    files = lake.files()
    lake.paths(files)
    print(f"lake       {lake.about.id}")
    if batches:
        print(f"commits    1 to {batches[-1].last:,}")
        print(f"time       {shown(batches[0].since)} to {shown(batches[-1].until)}")
    print(f"changes    {sum(batch.rows for batch in batches):,} in {len(batches):,} batches")
    print(f"snapshots  {', '.join(f'{each.seq:,} ({each.quads:,} quads)' for each in snapshots) or 'none yet'}")
    print(f"files      {len(files):,}, {sum(file.bytes for file in files):,} bytes")


@contextmanager
def _session(arguments: Namespace) -> Iterator["SparkSession"]:
    from tidings.pipeline.session import running, session

    ours = running() is None
    made = session(arguments.master, name=f"tidings history {arguments.action}")
    try:
        yield made
    finally:
        if ours:
            made.stop()


ACTIONS: dict[str, Callable[[Namespace], None]] = {"ingest": _ingest, "as-of": _as_of, "info": _info}
