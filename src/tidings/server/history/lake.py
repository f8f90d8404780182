"""Sets up the history lake of a broker by the settings. Another process reads the lake; this one imports no Spark.

The manifests of the lake, which are small, say how far it reaches. The lake has to come from this broker's log, so this
module compares its last commit with the same commit of the log, by number and time.
"""

import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from tidings.broker.broker import Broker
from tidings.broker.lake.lake import HistoryLake, LakeBounds, LakeStatus
from tidings.log.errors import HistoryGone
from tidings.log.reading import read
from tidings.model.errors import TidingsError
from tidings.server.config import BadSetting, Settings
from tidings.spark.errors import LogDiverged
from tidings.spark.lake.about import Reach, reach

_SETTLED = 2_000_000_000
"""Nanoseconds after its last change from which on the time stamp of a folder shows every further change."""


@asynccontextmanager
async def lake_behind(broker: Broker, settings: Settings, say: Callable[[str], None]) -> AsyncIterator[None]:
    """While the context lasts, the lake answers about commits that the log no longer has. Raises BadSetting."""
    if settings.lake is None or broker.disk is None:
        raise BadSetting("--lake is for a broker with a log: with --memory there is none that a lake could be of")
    folder = Path(settings.lake).absolute()
    bounds = LakeBounds(seconds=settings.timeout or None, rows=settings.max_rows or None)
    lake = HistoryLake(Look(folder, broker.disk.folder), command(folder, settings.lake_memory), bounds)
    if (error := (await lake.status()).error) is not None:
        say(f"the history lake cannot be used for now: {error}")
    broker.queries.lake = lake
    try:
        yield
    finally:
        broker.queries.lake = None
        await lake.close()


def command(folder: Path, memory: int) -> tuple[str, ...]:
    """The command of the process that reads a lake, with so many bytes of memory."""
    program = (sys.executable, "-P", "-m", "tidings", "history", "answer", "--quiet")
    return (*program, "--lake", str(folder), "--memory", f"{memory >> 10}k")


class Look:
    """Finds out how far a lake reaches, and reads only what has changed. `log` is the data folder of the broker."""

    def __init__(self, folder: Path, log: Path) -> None:
        self._folder = folder
        self._log = log
        self._known: tuple[int, LakeStatus] | None = None

    def __call__(self) -> LakeStatus:
        """How far the lake reaches. It reads files, so the caller runs it in a thread."""
        try:
            changed = (self._folder / "manifests").stat().st_mtime_ns
        except OSError:
            changed = 0  # reading the manifests raises the error
        if self._known is not None and self._known[0] == changed:
            return self._known[1]
        status = self._looked()
        settled = changed and time.time_ns() - changed > _SETTLED
        self._known = (changed, status) if settled and status.error is None else None
        return status

    def _looked(self) -> LakeStatus:
        try:
            found = reach(self._folder)
            self._compare(found)
        except TidingsError as error:
            return LakeStatus(str(self._folder), error=error)
        return LakeStatus(str(self._folder), found.first, found.last, found.graphs)

    def _compare(self, found: Reach) -> None:
        """Raises LogDiverged."""
        if not found.last:
            return
        try:
            commits = (entry for entry in read(self._log, found.last - 1) if entry.delta)
            last = next(commits, None)
        except HistoryGone:
            return  # the lake ends before the log begins: nothing can be compared
        if last is None or (last.commit, last.time) != (found.last, found.until):
            raise LogDiverged(
                f"the lake {self._folder} is not of the log of this broker: commit {found.last} is another"
            )
