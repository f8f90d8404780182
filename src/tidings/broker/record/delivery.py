"""THE STORY of a commit on its way to the store of record:

    engine -> line -> intent in the log, durable -> store of record -> settled, and the commit itself in the log
                                                \\-> it is away, or will not: that in the log, undone, the last first

Once the store has a commit, no crash can undo it: a restart finds the intent, and finishes it. So nobody waits for the
commit itself to be on the disk, where it goes together with the next intent.

Whatever comes while the store is busy goes with the next request: many commits are one delta. The intent of that is
written while the store is busy, once half as many wait as are at the store: smaller requests cost more than is gained.
Everything that rests on a commit in the line waits behind it, so nobody is shown what could still be undone.
"""

import asyncio
import logging
from collections import deque
from itertools import islice

from msgspec import Struct

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
_OURS = (PendingUpdate, PendingSeed)
"""What the store of record does not have yet."""

log = logging.getLogger("tidings")


class _Share(Struct, eq=False):
    """What goes with one request: so many of the line, and the commits among these."""

    count: int
    commits: list[Entry]
    written: "asyncio.Future[None] | None" = None
    """Once its intent is durable; None without commits, and where there is no log."""


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
        self._at_store: _Share | None = None
        """What the store is asked for."""
        self._ahead: _Share | None = None
        """What is next, if its intent is written or being written."""
        self._looks = False
        """Whether it is about to be looked who goes next."""
        self._one_by_one = 0
        """So many commits go alone, because one of them was refused."""
        self._idle: list[asyncio.Future[None]] = []
        self.requests = 0
        self.commits = 0

    def __len__(self) -> int:
        return len(self._line)

    def delays(self, pending: Pending) -> bool:
        return bool(self._line) or isinstance(pending, _OURS)

    def add(self, entry: Entry | None, pending: Pending) -> None:
        self._line.append((entry, pending))
        if not self._running:
            self._running = True
            self._spawn(self._run())
        elif self._at_store is not None and self._ahead is None and not self._looks:
            self._looks = True
            asyncio.get_running_loop().call_soon(self._look_ahead)  # all that come in this turn go together

    def give_back(self, delta: ZSet[Quad]) -> None:
        self.outage.owe(delta)

    def on_its_way(self) -> list[Entry]:
        """Commits that the store may not have yet."""
        return [entry for entry, pending in self._line if entry is not None and isinstance(pending, _OURS)]

    async def idle(self) -> None:
        while self._running:
            waiter = asyncio.get_running_loop().create_future()
            self._idle.append(waiter)
            await waiter

    async def _run(self) -> None:
        try:
            while self._line:
                share, self._ahead = self._ahead or self._begun(0), None
                await self._deliver(share)
        finally:
            self._running = False
            for waiter in self._idle:
                if not waiter.done():
                    waiter.set_result(None)
            self._idle.clear()

    def _begun(self, start: int) -> _Share:
        """Those that go together of all behind the first of the line, their intent on its way to the disk."""
        share = self._together(start)
        if share.commits and self._commit_log.journal is not None:
            self._intents.begin(share.commits)
            share.written = self._log(intent(share.commits))
        return share

    def _together(self, start: int) -> _Share:
        quads = count = 0
        commits: list[Entry] = []
        most = 1 if self._one_by_one else MOST_COMMITS
        for entry, pending in islice(self._line, start, None):
            if entry is not None and isinstance(pending, _OURS):
                quads += len(entry.delta)
                if commits and (len(commits) >= most or quads > MOST_QUADS):
                    break
                commits.append(entry)
            count += 1
        return _Share(count, commits)

    def _look_ahead(self) -> None:
        """Begin what is next, if that is half as much as the store is asked for, or more."""
        self._looks = False
        share = self._at_store
        if share is not None and self._ahead is None and 2 * len(self._line) >= 3 * share.count:
            self._ahead = self._begun(share.count)

    async def _deliver(self, share: _Share) -> None:
        try:
            if share.written is not None:
                await share.written
            if share.commits:
                await self._ask(share)
        except EndpointRefused as error:
            await self._withdraw()
            self._refuse(error, share.commits)
        except EndpointAway as error:
            await self._withdraw()
            self._undo(error)
        except TidingsError as error:  # the log cannot be written
            self._intents.forget(share.commits)
            self._undo(error)
        else:
            self._taken(share)

    async def _ask(self, share: _Share) -> None:
        self.requests += 1
        self._at_store = share
        self._look_ahead()
        try:
            await self._record.take(after(share.commits))
        finally:
            self._at_store = None

    async def _withdraw(self) -> None:
        """Whoever is told that something was not done must not find it done after a crash."""
        if self._commit_log.journal is None:
            return
        try:
            self._intents.restore(WITHDRAWING)
            await self._log(WITHDRAWING)
        except TidingsError as error:
            log.warning("the log cannot note that commits are being undone at the endpoint: %s", error)

    def _log(self, note: Note) -> "asyncio.Future[None]":
        """Have a note written down; done once it is durable. It is in the log before all of the line: facts that are
        before the commits must not be older than it."""
        durable: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        time = next((entry.time for entry, _ in self._line if entry is not None), 0)
        self._commit_log.intend(note, time, PendingBarrier(durable))
        return durable

    def _taken(self, share: _Share) -> None:
        commits = share.commits
        self.commits += len(commits)
        self._one_by_one = max(0, self._one_by_one - len(commits))
        self._intents.taken(commits)
        for _ in range(share.count):
            written, pending = self._line.popleft()
            if written is not None and isinstance(pending, _OURS):
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
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead.written is not None and not ahead.written.cancel():
            ahead.written.exception()  # whatever became of it, it is taken back
        undone, self._line = self._line, deque()
        for entry, pending in reversed(undone):
            self._commit_log.undo(pending, because if because and entry is not None and entry is refused else error)
