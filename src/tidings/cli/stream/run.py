"""`tidings stream subscriptions`: runs the job, and shows its progress."""

import threading
import time
from argparse import Namespace
from contextlib import nullcontext
from typing import TYPE_CHECKING

from rich.console import Console

from tidings.cli.history.lakes import say, session_for
from tidings.cli.input.arguments import UsageError
from tidings.cli.input.identity import lend
from tidings.cli.input.stopping import stopping
from tidings.cli.output.paint import harmless
from tidings.model.errors import TidingsError

if TYPE_CHECKING:
    from pathlib import Path

    from tidings.spark.streaming.job import Settings
    from tidings.spark.streaming.monitoring.figures import Figures, Watch

_PACE = 5.0
"""Seconds between two lines of progress, if stderr is not a terminal; and before the job calls a broker again."""
_KEPT = 60.0
"""Seconds between two writes of the tally."""


def subscriptions(arguments: Namespace) -> None:
    from tidings.spark.errors import FeedFailed
    from tidings.spark.lake.lake import Lake
    from tidings.spark.log_source.origin import origin_of
    from tidings.spark.streaming.job import StreamJob
    from tidings.spark.streaming.monitoring.figures import Watch
    from tidings.spark.streaming.monitoring.metrics import serving
    from tidings.spark.streaming.subscriptions.requests import request_source

    # Report unreadable files before Spark starts.
    lend(arguments, arguments.log, arguments.subscriptions)
    origin = origin_of(arguments.log)
    origin.end()
    wanted = request_source(arguments.subscriptions).read() or {}
    lake = Lake(arguments.lake) if arguments.lake else None
    _check_partitions(arguments.checkpoint, arguments.partitions)
    progress = Progress(Watch(arguments.checkpoint, arguments.out, origin), quiet=arguments.quiet)
    metrics = nullcontext() if arguments.metrics is None else serving(arguments.metrics, lambda: progress.figures)
    stop = threading.Event()
    with metrics, session_for(arguments, "stream", partitions=arguments.partitions) as spark, stopping(stop):
        say(arguments, beginning(len(wanted), origin.end().commit, follow=arguments.follow))
        while True:
            job = StreamJob(
                *(spark, arguments.log, arguments.checkpoint, arguments.out),
                lake=lake, settings=settings_of(arguments), refused=progress.refused, seen=progress.look,
            )  # fmt: skip
            try:
                job.run(request_source(arguments.subscriptions), follow=arguments.follow, stop=stop)
                break
            except FeedFailed as error:
                # With --follow, the job waits while the broker restarts.
                if arguments.follow:
                    say(arguments, f"{error}; waiting for it to be there again")
                if not arguments.follow or stop.wait(_PACE):
                    raise
        progress.done()


def beginning(wanted: int, end: int, *, follow: bool) -> str:
    """The first message: what there is to do, and to wait for."""
    has = f"{wanted:,} {'subscription' if wanted == 1 else 'subscriptions'}, and a log of {end:,} commits"
    return f"{has}; first answers come first, then every commit, until Ctrl+C" if follow else has


def settings_of(arguments: Namespace) -> "Settings":
    from tidings.spark.streaming.job import Settings

    given = {
        "commits": arguments.batch,
        "together": arguments.together,
        "largest": arguments.context,
        "begins": arguments.begins,
    }
    return Settings(**{name: value for name, value in given.items() if value is not None})


def _check_partitions(checkpoint: "Path", partitions: int | None) -> None:
    """Raise an error if the number of partitions has changed: Spark would silently use that of the checkpoint."""
    from tidings.spark.streaming.monitoring.checkpoint import finished, place

    there = place(checkpoint, finished(checkpoint))
    if partitions and there is not None and there.partitions != partitions:
        raise UsageError(
            f"{checkpoint} has {there.partitions} partitions: `tidings stream rescale` makes {partitions} of them"
        )


class Progress:
    """Shows progress on stderr: in place on a terminal, otherwise a line now and then."""

    def __init__(self, watch: "Watch", *, quiet: bool) -> None:
        self._watch = watch
        self._console = Console(stderr=True, quiet=quiet, highlight=False, soft_wrap=True)
        self._aloud = Console(stderr=True, highlight=False, soft_wrap=True)
        self._refused: set[str] = set()
        self._said = self._kept = time.monotonic()
        self._last = ""
        self.figures: Figures | None = None

    def refused(self, spuid: str, error: TidingsError) -> None:
        """Report a refused subscription once, even with --quiet."""
        said = refusal(spuid, error)
        if said not in self._refused:
            self._refused.add(said)
            self._aloud.print(said, markup=False)

    def look(self) -> None:
        """Show progress; called every second."""
        new, now = self._watch.look(), time.monotonic()
        if now - self._kept >= _KEPT:
            self._watch.keep()
            self._kept = now
        pace = 0.0 if self._console.is_terminal and new else _PACE
        if now - self._said >= pace:
            self.figures = self._watch.figures()
            self._say(line(self.figures), end="\r" if self._console.is_terminal else "\n")
            self._said = now

    def done(self) -> None:
        self._watch.look()
        self._watch.keep()
        self.figures = self._watch.figures()
        self._say(line(self.figures))
        for spuid, reason in self.figures.failed.items():
            self._aloud.print(f"tidings: {harmless(spuid)} has ended: {harmless(reason)}", markup=False)

    def _say(self, text: str, end: str = "\n") -> None:
        if text != self._last:
            covered = text.ljust(120) if self._console.is_terminal else text  # to overwrite a longer line
            self._console.print(covered, end=end, markup=False)
        self._last = text


def refusal(spuid: str, error: TidingsError) -> str:
    return f"tidings: {harmless(spuid)} is refused: {harmless('; '.join(str(error).splitlines()))}"


def line(figures: "Figures") -> str:
    lag = f" ({behind(figures)} behind)" if figures.lag_commits is not None else ""
    return (
        f"batch {figures.batch:,}, commit {figures.commit:,}{lag}; {figures.told:,} told, "
        f"{figures.told_per_second:,.0f}/s; {figures.rows:,} rows, {figures.rows_per_second:,.0f}/s; "
        f"{figures.members:,} subscriptions in {figures.units:,} units"
    )


def behind(figures: "Figures") -> str:
    seconds = "" if figures.lag_seconds is None else f", {figures.lag_seconds:,.1f} s"
    return f"{figures.lag_commits:,} commits{seconds}"
