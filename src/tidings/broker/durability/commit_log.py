"""The commit log gives each commit its number and its time, and appends it to the journal.

Commit times never go backwards, even if the clock does.
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
"""Called with each durable commit. It must be quick, and must not raise."""


class Delivery(Protocol):
    """Delivers commits to a store of record, which must have a commit before the log does."""

    def __len__(self) -> int:
        """How many values wait."""

    def delays(self, pending: Pending) -> bool:
        """Whether this value has to wait for the store of record, or behind another value that does."""

    def add(self, entry: Entry | None, pending: Pending) -> None:
        """Deliver the entry in its turn, and then pass it on to the commit log."""

    def give_back(self, delta: ZSet[Quad]) -> None:
        """The broker has reversed a commit that the store of record may have: reverse it there, too."""

    async def idle(self) -> None:
        """Wait until nothing waits."""


log = logging.getLogger("tidings")

_NOTHING: ZSet[Quad] = ZSet()


class CommitLog:
    """All commits and facts in order. Without a journal, they are kept in memory only."""

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
        """Delivers commits to the store of record, if there is one."""
        self.followers: dict[Follower, Graphs] = {}
        """Called with each commit once it is durable, restricted to the graphs that each may read."""
        self.last_commit = 0
        self.time = 0
        """The time of the last commit or note, or of the last call of `now`."""

    def begin(self, settlement: Settlement) -> None:
        """From here on, hand each value to the settlement once it is durable, or cannot be."""
        self._settlement = settlement
        self.group_commit = GroupCommit(None, "none", settlement)

    def attach(self, journal: Journal, durability: Durability) -> None:
        """From here on, write to a journal."""
        self.journal = journal
        self.group_commit = GroupCommit(journal, durability, self._settlement, self._monotonic)

    def now(self) -> int:
        """The time for a commit or a note at this moment, in microseconds since 1970."""
        self.time = max(self.time, self.clock())
        return self.time

    def check(self) -> None:
        """Raises LogBroken if a failed write left the content of the log uncertain."""
        if self.journal is not None and self.journal.broken:
            raise LogBroken

    # -- writing ------------------------------------------------------------------------------------------------

    def next_entry(self, delta: ZSet[Quad], time: int, notes: tuple[Note, ...] = ()) -> Entry:
        """The entry of a commit, with the next number."""
        return Entry(self.last_commit + 1, time, delta, notes)

    def commit(self, pending: PendingCommit) -> None:
        """Write a commit. Never raises: if it cannot be written, the settlement undoes it."""
        self.last_commit = pending.entry.commit
        self._append(pending.entry, pending)

    def note(self, note: Note, pending: Pending) -> None:
        """Write a fact that is no commit. Never raises: if it cannot be written, the settlement undoes it."""
        self.notes((note,), pending)

    def notes(self, notes: tuple[Note, ...], pending: Pending) -> None:
        """Write several facts as one entry, so that either all of them are durable or none."""
        self._append(Entry(self.last_commit, self.now(), _NOTHING, notes), pending)

    def wait(self, pending: Pending) -> None:
        """Write nothing, and settle the value when everything before it is durable."""
        self._append(None, pending)

    def _append(self, entry: Entry | None, pending: Pending) -> None:
        if self.delivery is not None and self.delivery.delays(pending):
            self.delivery.add(entry, pending)
        else:
            self.write(entry, pending)

    def write(self, entry: Entry | None, pending: Pending) -> None:
        """Append an entry to the journal: the store of record, if there is one, has it."""
        if entry is None or self._is_appended(entry, pending):
            self.group_commit.add(pending)

    def promise(self, entry: Entry, pending: Pending) -> None:
        """As `write`, for a commit that the store of record has, with an intent for it in the log: no crash can undo
        it."""
        if self._is_appended(entry, pending):
            self.group_commit.promise(entry, pending)

    def intend(self, note: Note, time: int, pending: Pending) -> None:
        """Write an intent: which commits the broker is about to deliver to the store of record. They are at `time` or
        later, and not in the journal yet."""
        journal = self.journal
        if journal is None or self._is_appended(Entry(journal.last_commit, time, _NOTHING, (note,)), pending):
            self.group_commit.add_intent(pending)

    def _is_appended(self, entry: Entry, pending: Pending) -> bool:
        """Append an entry to the journal. If that fails, undo the value that waits for it, and return False."""
        if self.journal is not None:
            try:
                self.journal.append(entry)
            except LogBroken as error:
                self._settlement.undo(pending, error)
                return False
            except (TypeError, ValueError) as error:  # a defect: what is committed can be encoded
                log.exception("internal error: an entry cannot be written to the log: %r", entry)
                self._settlement.undo(pending, TidingsError(f"this cannot be written down: {error}"))
                return False
        return True

    @property
    def is_busy(self) -> bool:
        """Whether the store has commits that are not settled yet."""
        return bool(len(self.group_commit) or (self.delivery is not None and len(self.delivery)))

    async def idle(self) -> None:
        """Wait until nothing waits, and everything is written."""
        if self.delivery is not None:
            await self.delivery.idle()
        await self.group_commit.idle()

    async def settled(self) -> None:
        """Wait until no crash can undo what the store has now. Raises the error if that fails."""
        if self.is_busy:
            await self._barrier()

    async def written(self) -> None:
        """Wait until the log has everything that is settled now. Raises the error if that fails."""
        if self.group_commit.promised:
            await self._barrier()

    async def _barrier(self) -> None:
        barrier = PendingBarrier(asyncio.get_running_loop().create_future())
        self.wait(barrier)
        await barrier.durable

    # -- for the settlement -------------------------------------------------------------------------------------

    def publish(self, entry: Entry) -> None:
        """Pass a durable commit to the followers."""
        for follower, readable in self.followers.items():
            follower(entry.seen_by(readable))

    def undo(self, pending: Pending, error: TidingsError) -> None:
        """Undo a value that cannot be made durable. Callers undo the last value first."""
        self._settlement.undo(pending, error)

    def take_back(self, entry: Entry, *, ours: bool = True) -> None:
        """Free the number of a commit that cannot be made durable. Callers begin with the last commit. If the commit is
        `ours`, and does not come from the store of record, it is reversed there as well."""
        self.last_commit = entry.commit - 1
        if ours and self.delivery is not None:
            self.delivery.give_back(entry.delta)
