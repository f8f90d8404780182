"""Writes snapshots in the background: a fork writes the state after one commit, while the broker goes on."""

import logging
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.errors import ShuttingDown
from tidings.broker.forks import Forks
from tidings.broker.updates.queue import UpdateQueue
from tidings.engine.store.store import Store
from tidings.log.entry import Note, Position
from tidings.log.journal import Journal
from tidings.log.prune import prune
from tidings.log.snapshot import write_snapshot
from tidings.model.errors import TidingsError

log = logging.getLogger("tidings")


class Snapshots:
    """Writes a snapshot whenever the log has grown by `every` bytes; `behind` bytes were replayed at the start.

    `notes` returns the facts that a snapshot has beside the quads. `keep` bytes of older log are kept; 0 keeps all."""

    def __init__(
        self,
        folder: Path,
        journal: Journal,
        store: Store,
        notes: Callable[[], Iterable[Note]],
        commit_log: CommitLog,
        updates: UpdateQueue,
        forks: Forks,
        *,
        every: int,
        keep: int,
        behind: int,
    ) -> None:
        self._folder = folder
        self._journal = journal
        self._store = store
        self._notes = notes
        self._commit_log = commit_log
        self._updates = updates
        self._forks = forks
        self._every = every
        self._keep = keep
        self._last = self._covered = -behind
        self.running = False
        self.written = 0
        self.failed = 0
        self.commit = 0
        """The last commit in the newest snapshot."""

    @property
    def behind(self) -> int:
        """Bytes of log that no snapshot covers, and that a restart has to replay."""
        return self._journal.written - self._covered

    def is_due(self) -> bool:
        return not self.running and self._journal.written - self._last > self._every

    async def write(self) -> None:
        """Hold the queue until every commit is durable; make the fork that writes the snapshot; let the queue go on."""
        self.running = True
        self._updates.hold()
        held = True
        try:
            await self._commit_log.idle()
            place = self._journal.durable
            self._last = covers = self._journal.written
            fork = self._forks.launch(partial(self._write, place), bounded=False)
            self._updates.resume()
            held = False
            await self._forks.outcome(fork, seconds=None)
            self.written += 1
            self.commit, self._covered = place.commit, covers
        except ShuttingDown:
            log.info("a snapshot was left unfinished, as the broker is stopping: the log has everything")
        except TidingsError as error:
            self.failed += 1
            log.error("a snapshot could not be written: %s", error)  # noqa: TRY400 -- the error says what matters
        finally:
            self.running = False
            if held:
                self._updates.resume()

    def _write(self, place: Position) -> None:
        """Runs in the fork."""
        write_snapshot(self._folder, place, self._store, self._notes())
        if self._keep:
            prune(self._folder, self._keep, place.commit)
