"""THE STORY of a commit on its way to the store of record:

    engine -> line -> intent in the log, durable -> store of record -> settled, and the commit itself in the log
                                                \\-> away, or refused: noted in the log, and undone, the last first

Once the store has a commit, no crash can undo it: after a restart, the broker finds the intent, and finishes it. So
the broker does not wait until the commit itself is on disk; it is written together with the next intent.

Commits that arrive while the store is busy go with the next request, as one delta. The broker writes their intent
meanwhile, once at least half as many values wait as are at the store; smaller requests cost more than they gain.
Everything that depends on a commit in the line waits behind it, so no client sees a change that may still be undone.
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
"""The most changed quads in a request of several commits; a single commit may have more."""
MOST_COMMITS = 1_000
_OURS = (PendingUpdate, PendingSeed)
"""The kinds of values whose commits have to go to the store of record."""

log = logging.getLogger("tidings")


class _Share(Struct, eq=False):
    """The part of the line that goes with one request: the first `count` values, and the commits among them."""

    count: int
    commits: list[Entry]
    written: "asyncio.Future[None] | None" = None
    """Done once the intent is durable; None without commits, and without a log."""


class Delivery:
    """The line of values that wait for the store of record, and the task that delivers them."""

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
        """The share of the present request."""
        self._ahead: _Share | None = None
        """The share of the next request, if its intent is written or being written."""
        self._looks = False
        """Whether a call of `_look_ahead` is scheduled."""
        self._one_by_one = 0
        """How many of the next commits go in requests of their own, because one of them was refused."""
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
            asyncio.get_running_loop().call_soon(self._look_ahead)  # values that arrive in this turn go together

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
        """The share that begins at a place of the line; its intent is being written."""
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
        """Write the intent of the next share, if that is at least half as long as the present one."""
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
        """Note in the log that the open intents are undone: a restart must not finish commits that were reported as
        failed."""
        if self._commit_log.journal is None:
            return
        try:
            self._intents.restore(WITHDRAWING)
            await self._log(WITHDRAWING)
        except TidingsError as error:
            log.warning("the log cannot note that commits are being undone at the endpoint: %s", error)

    def _log(self, note: Note) -> "asyncio.Future[None]":
        """Write a note to the log; the future is done once it is durable. The note precedes the whole line in the log,
        so its time must not be later than those of the facts before the commits."""
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
        """The store refused some commits. If there is only one, its publisher gets the error; otherwise each goes in a
        request of its own, to find out which one is refused."""
        if len(commits) == 1:
            self._undo(EndpointAway(f"what was before it was refused: {error}"), commits[0], error)
        else:
            self._one_by_one = len(commits)
            self._undo(EndpointAway(str(error)), because=error)

    def _undo(self, error: TidingsError, refused: Entry | None = None, because: TidingsError | None = None) -> None:
        """Undo everything that waits, the last first. Delivery goes on once the store is usable again."""
        self.outage.begin(because or error)
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead.written is not None and not ahead.written.cancel():
            ahead.written.exception()  # marks an error as retrieved: the commits are undone in any case
        undone, self._line = self._line, deque()
        for entry, pending in reversed(undone):
            self._commit_log.undo(pending, because if because and entry is not None and entry is refused else error)
