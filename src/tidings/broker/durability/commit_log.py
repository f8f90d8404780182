"""Commit numbers, commit times, and the log that they are written to.

Times never go backwards, even if the clock does: a commit is never dated before the one it follows.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import TypeAlias

from tidings.broker.durability.group_commit import Release, Scribe, Undo
from tidings.log.entry import Entry, Note
from tidings.log.errors import LogBroken
from tidings.log.journal import Journal
from tidings.model.errors import TidingsError
from tidings.model.terms import Quad
from tidings.model.zset import ZSet

Follower: TypeAlias = Callable[[Entry], None]
"""Takes a commit; it must not take long, and not raise."""

log = logging.getLogger("tidings")

_NOTHING: ZSet[Quad] = ZSet()


class Chronicle:
    """What happened, in order. Without a journal it happens all the same, and is forgotten with the process."""

    __slots__ = ("clock", "followers", "journal", "scribe", "seq", "time")

    def __init__(self, clock: Callable[[], int]) -> None:
        self.clock = clock
        self.scribe = Scribe(None, "none")
        self.journal: Journal | None = None
        self.followers: set[Follower] = set()
        """Who is told of every commit once it is durable."""
        self.seq = 0
        """The last commit."""
        self.time = 0

    def attach(self, journal: Journal, scribe: Scribe) -> None:
        """From here on, write to a journal."""
        self.journal = journal
        self.scribe = scribe

    def now(self) -> int:
        """The time of what happens now, in microseconds since 1970."""
        self.time = max(self.time, self.clock())
        return self.time

    def check(self) -> None:
        """Raises LogBroken: what is on disk is uncertain, and nothing may be promised any more."""
        if self.journal is not None and self.journal.broken:
            raise LogBroken

    def commit(self, delta: ZSet[Quad], time: int, notes: tuple[Note, ...], release: Release, undo: Undo) -> None:
        """Write a commit, with the next number. Never raises: what cannot be written is undone."""
        entry = Entry(self.seq + 1, time, delta, notes)
        if not self._written(entry, undo):
            return
        self.seq += 1

        def undo_all(error: TidingsError) -> None:
            self.seq -= 1
            undo(error)

        def release_and_tell() -> None:
            release()
            for follower in self.followers:
                follower(entry)

        self.scribe.step(release_and_tell if self.followers else release, undo_all)

    def note(self, note: Note, release: Release, undo: Undo) -> None:
        """Write down a fact that is no commit. Never raises: what cannot be written is undone."""
        if self._written(Entry(self.seq, self.now(), _NOTHING, (note,)), undo):
            self.scribe.step(release, undo)

    def _written(self, entry: Entry, undo: Undo) -> bool:
        """Append an entry, or undo what it is about; whether it is in the journal."""
        if self.journal is None:
            return True
        try:
            self.journal.append(entry)
        except LogBroken as error:
            undo(error)
        except (TypeError, ValueError) as error:  # it should not have come this far
            log.exception("an entry could not be written down: %r", entry)
            undo(TidingsError(f"this cannot be written down: {error}"))
        else:
            return True
        return False

    async def settled(self) -> None:
        """Until everything that can be seen by now is durable. Raises what kept it from being so."""
        if not len(self.scribe):
            return
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def release() -> None:
            if not done.done():
                done.set_result(None)

        def undo(error: TidingsError) -> None:
            if not done.done():
                done.set_exception(error)

        self.scribe.step(release, undo)
        await done
