"""THE STORY of a commit on its way to the store of record:

    engine -> line -> intent in the log, durable -> store of record -> settled, and the commit itself in the log
                                                \\-> it is away, or will not: that in the log, undone, the last first

Once the store has a commit, no crash can undo it: a restart finds the intent, and finishes it. So nobody waits for the
commit itself to be on the disk, where it goes together with the next intent.

Whatever comes while the store is busy goes with the next request: many commits are one delta. Everything that rests on
a commit in the line waits behind it, so nobody is shown what could still be undone.
"""

import asyncio
import logging
from collections import deque
from itertools import islice

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.pending import Pending, PendingBarrier, PendingSeed, PendingUpdate
from tidings.broker.record.intents import WITHDRAWING, Intents, intent
from tidings.broker.record.outage import Outage
from tidings.broker.record.seam import StoreOfRecord, after
from tidings.broker.spawn import Spawn
from tidings.log.entry import Entry, Note
from tidings.model.errors import EndpointAway, EndpointRefused, TidingsError
from tidings.model.terms import Quad
from tidings.model.zset import ZSet

MOST_QUADS = 20_000
"""Changes after which a request is full; one commit may have more."""
MOST_COMMITS = 1_000

log = logging.getLogger("tidings")


class Delivery:
    """The line to a store of record."""

    def __init__(
        self, record: StoreOfRecord, commit_log: CommitLog, intents: Intents, outage: Outage, spawn: Spawn
    ) -> None:
        self._record = record
        self._commit_log = commit_log
        self._intents = intents
        self.outage = outage
        self._spawn = spawn
        self._line: deque[tuple[Entry | None, Pending]] = deque()
        self._running = False
        self._one_by_one = 0
        """So many commits go alone, because one of them was refused."""
        self._idle: list[asyncio.Future[None]] = []
        self.requests = 0
        self.commits = 0

    def __len__(self) -> int:
        return len(self._line)

    def delays(self, pending: Pending) -> bool:
        return bool(self._line) or isinstance(pending, PendingUpdate | PendingSeed)

    def add(self, entry: Entry | None, pending: Pending) -> None:
        self._line.append((entry, pending))
        if not self._running:
            self._running = True
            self._spawn(self._run())

    def give_back(self, delta: ZSet[Quad]) -> None:
        self.outage.owe(delta)

    def on_its_way(self) -> list[Entry]:
        """Commits that the store may not have yet."""
        return [entry for entry, pending in self._line if entry is not None and _is_ours(pending)]

    async def idle(self) -> None:
        while self._running:
            waiter = asyncio.get_running_loop().create_future()
            self._idle.append(waiter)
            await waiter

    async def _run(self) -> None:
        try:
            while self._line:
                await self._deliver(self._full())
        finally:
            self._running = False
            for waiter in self._idle:
                if not waiter.done():
                    waiter.set_result(None)
            self._idle.clear()

    def _full(self) -> int:
        """How many of those that wait go together."""
        quads = commits = 0
        most = 1 if self._one_by_one else MOST_COMMITS
        for count, (entry, pending) in enumerate(self._line):
            if entry is not None and _is_ours(pending):
                if commits and (commits >= most or quads + len(entry.delta) > MOST_QUADS):
                    return count
                commits, quads = commits + 1, quads + len(entry.delta)
        return len(self._line)

    async def _deliver(self, count: int) -> None:
        first = [(entry, pending) for entry, pending in islice(self._line, count) if entry is not None]
        commits = [entry for entry, pending in first if _is_ours(pending)]
        # The intent is in the log before all of them: facts that are before the commits must not be older than it.
        time = first[0][0].time if first else 0
        try:
            if commits:
                await self._log(intent(commits), time)
                self.requests += 1
                await self._record.take(after(commits))
        except EndpointRefused as error:
            await self._withdraw(time)
            self._refuse(error, commits)
        except EndpointAway as error:
            await self._withdraw(time)
            self._undo(error)
        except TidingsError as error:  # the log cannot be written
            self._undo(error)
        else:
            self._taken(commits, count)

    async def _withdraw(self, time: int) -> None:
        """Whoever is told that something was not done must not find it done after a crash."""
        try:
            await self._log(WITHDRAWING, time)
        except TidingsError as error:
            log.warning("the log cannot say that commits are taken back: %s", error)

    async def _log(self, note: Note, time: int) -> None:
        """Until a note is durable that no commit of the line is before."""
        journal = self._commit_log.journal
        self._intents.restore(note)
        if journal is not None:
            barrier = PendingBarrier(asyncio.get_running_loop().create_future())
            self._commit_log.write(Entry(journal.last_commit, time, ZSet(), (note,)), barrier)
            await barrier.durable

    def _taken(self, commits: list[Entry], count: int) -> None:
        self.commits += len(commits)
        self._one_by_one = max(0, self._one_by_one - len(commits))
        for entry in commits:
            self._intents.agree(entry.delta)
        for _ in range(count):
            written, pending = self._line.popleft()
            if written is not None and _is_ours(pending):
                self._commit_log.promise(written, pending)
            else:
                self._commit_log.write(written, pending)

    def _refuse(self, error: EndpointRefused, commits: list[Entry]) -> None:
        """One of these is not to be had: they go one by one, and whoever finds out which is refused."""
        if len(commits) == 1:
            self._undo(EndpointAway(f"what was before it was refused: {error}"), commits[0], error)
        else:
            self._one_by_one = len(commits)
            self._undo(EndpointAway(str(error)), because=error)

    def _undo(self, error: TidingsError, refused: Entry | None = None, because: TidingsError | None = None) -> None:
        """Take back everything that waits, the last first, and go on when the store is as it was."""
        self.outage.begin(because or error)
        undone, self._line = self._line, deque()
        for entry, pending in reversed(undone):
            self._commit_log.undo(pending, because if because and entry is not None and entry is refused else error)


def _is_ours(pending: Pending) -> bool:
    """Whether the store of record does not have it yet."""
    return isinstance(pending, PendingUpdate | PendingSeed)
