"""Commit numbers, commit times, and the log that they are written to.

Times never go backwards, even if the clock does: a commit is never dated before the one it follows.
"""

import asyncio
import logging
from collections.abc import Callable
from time import monotonic as steady_clock
from typing import Protocol, TypeAlias

from tidings.broker.durability.group_commit import GroupCommit, Settlement
from tidings.broker.pending import Pending, PendingBarrier, PendingCommit
from tidings.log.entry import Entry, Note
from tidings.log.errors import LogBroken
from tidings.log.journal import Durability, Journal
from tidings.model.access import Graphs
from tidings.model.errors import TidingsError
from tidings.model.terms import Quad
from tidings.model.zset import ZSet

Follower: TypeAlias = Callable[[Entry], None]
"""Takes a commit; it must not take long, and not raise."""


class Delivery(Protocol):
    """The way to a store of record, which has to have a commit before the log does."""

    def __len__(self) -> int:
        """How many wait."""

    def delays(self, pending: Pending) -> bool:
        """Whether this has to wait, for itself or behind others."""

    def add(self, entry: Entry | None, pending: Pending) -> None:
        """Pass it on to `CommitLog.write` in its turn."""

    def give_back(self, delta: ZSet[Quad]) -> None:
        """A commit was taken back that the store of record may have."""

    async def idle(self) -> None:
        """Until nothing waits."""


log = logging.getLogger("tidings")

_NOTHING: ZSet[Quad] = ZSet()


class CommitLog:
    """What happened, in order. Without a journal it happens all the same, and is forgotten with the process."""

    __slots__ = (
        "_monotonic", "_settlement", "clock", "delivery", "followers", "group_commit", "journal", "last_commit", "time"
    )  # fmt: skip

    def __init__(self, clock: Callable[[], int], monotonic: Callable[[], float] = steady_clock) -> None:
        self.clock = clock
        self._monotonic = monotonic
        self._settlement: Settlement
        self.group_commit: GroupCommit
        self.journal: Journal | None = None
        self.delivery: Delivery | None = None
        """If there is a store of record behind the broker."""
        self.followers: dict[Follower, Graphs] = {}
        """Who is told of every commit once it is durable, and which graphs they may read."""
        self.last_commit = 0
        self.time = 0
        """When the last commit was, or what else was written down."""

    def begin(self, settlement: Settlement) -> None:
        """Everything that is durable, or cannot be, is handed to a settlement."""
        self._settlement = settlement
        self.group_commit = GroupCommit(None, "none", settlement)

    def attach(self, journal: Journal, durability: Durability) -> None:
        """From here on, write to a journal."""
        self.journal = journal
        self.group_commit = GroupCommit(journal, durability, self._settlement, self._monotonic)

    def now(self) -> int:
        """The time of what happens now, in microseconds since 1970."""
        self.time = max(self.time, self.clock())
        return self.time

    def check(self) -> None:
        """Raises LogBroken: what is on disk is uncertain, and nothing may be promised any more."""
        if self.journal is not None and self.journal.broken:
            raise LogBroken

    # -- writing ------------------------------------------------------------------------------------------------

    def next_entry(self, delta: ZSet[Quad], time: int, notes: tuple[Note, ...] = ()) -> Entry:
        """The entry of a commit, with the next number."""
        return Entry(self.last_commit + 1, time, delta, notes)

    def commit(self, pending: PendingCommit) -> None:
        """Write a commit. Never raises: what cannot be written is undone."""
        self.last_commit = pending.entry.commit
        self._append(pending.entry, pending)

    def note(self, note: Note, pending: Pending) -> None:
        """Write down a fact that is no commit. Never raises: what cannot be written is undone."""
        self.notes((note,), pending)

    def notes(self, notes: tuple[Note, ...], pending: Pending) -> None:
        """The same for facts that are durable together."""
        self._append(Entry(self.last_commit, self.now(), _NOTHING, notes), pending)

    def wait(self, pending: Pending) -> None:
        """Write nothing, and settle when everything before is durable."""
        self._append(None, pending)

    def _append(self, entry: Entry | None, pending: Pending) -> None:
        if self.delivery is not None and self.delivery.delays(pending):
            self.delivery.add(entry, pending)
        else:
            self.write(entry, pending)

    def write(self, entry: Entry | None, pending: Pending) -> None:
        """Hand over to the journal what nothing keeps from it any more."""
        if entry is None or self._is_appended(entry, pending):
            self.group_commit.add(pending)

    def promise(self, entry: Entry, pending: Pending) -> None:
        """The same for a commit that the store of record has, and an intent of the log: no crash can undo it."""
        if self._is_appended(entry, pending):
            self.group_commit.promise(entry, pending)

    def intend(self, note: Note, time: int, pending: Pending) -> None:
        """Write down what is about to be done with commits that are not handed over yet, none of them before `time`."""
        journal = self.journal
        if journal is None or self._is_appended(Entry(journal.last_commit, time, _NOTHING, (note,)), pending):
            self.group_commit.look_on(pending)

    def _is_appended(self, entry: Entry, pending: Pending) -> bool:
        """Whether an entry is on its way to the disk; what rests on it is undone if it cannot be."""
        if self.journal is not None:
            try:
                self.journal.append(entry)
            except LogBroken as error:
                self._settlement.undo(pending, error)
                return False
            except (TypeError, ValueError) as error:  # it should not have come this far
                log.exception("internal error: an entry cannot be written to the log: %r", entry)
                self._settlement.undo(pending, TidingsError(f"this cannot be written down: {error}"))
                return False
        return True

    @property
    def is_busy(self) -> bool:
        """Whether anything can be seen that is not settled yet."""
        return bool(len(self.group_commit) or (self.delivery is not None and len(self.delivery)))

    async def idle(self) -> None:
        """Until nothing waits, and everything is written."""
        if self.delivery is not None:
            await self.delivery.idle()
        await self.group_commit.idle()

    async def settled(self) -> None:
        """Until no crash can undo what can be seen by now. Raises what kept it from being so."""
        if self.is_busy:
            await self._barrier()

    async def written(self) -> None:
        """Until the log has everything that was settled by now. Raises what kept it from having it."""
        if self.group_commit.promised:
            await self._barrier()

    async def _barrier(self) -> None:
        barrier = PendingBarrier(asyncio.get_running_loop().create_future())
        self.wait(barrier)
        await barrier.durable

    # -- for the settlement -------------------------------------------------------------------------------------

    def publish(self, entry: Entry) -> None:
        """Tell those who follow the log of a commit that is durable."""
        for follower, readable in self.followers.items():
            follower(entry.seen_by(readable))

    def undo(self, pending: Pending, error: TidingsError) -> None:
        """Something cannot be made durable. The last is undone first."""
        self._settlement.undo(pending, error)

    def take_back(self, entry: Entry, *, ours: bool = True) -> None:
        """A commit that cannot be made durable has no number. The last is taken back first. If it is `ours`, and not of
        the store of record, that may have to give it back."""
        self.last_commit = entry.commit - 1
        if ours and self.delivery is not None:
            self.delivery.give_back(entry.delta)
