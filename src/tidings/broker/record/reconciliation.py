"""Turns changes that others made in the store of record into one commit, so that subscribers are notified of them.

    found = quads of the store of record - quads in memory    compared while updates go on
          -> updates held -> the differences are checked again -> one commit, or reversed in the store of record

The first comparison also finds commits that are on their way to the store. The second check, with nothing on its way,
leaves these out.
"""

import asyncio
import logging

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.pending import PendingReconciled
from tidings.broker.record.seam import Comparison, Reconciled, Side, StoreOfRecord
from tidings.broker.subscriptions.notifier import Notifier
from tidings.broker.updates.queue import UpdateQueue
from tidings.engine.engine import Engine
from tidings.log.entry import Note
from tidings.model.terms import Quad
from tidings.model.zset import ZSet

log = logging.getLogger("tidings")


class Reconciliation:
    """Compares the store of record with memory, and makes both equal; one run at a time."""

    def __init__(
        self, record: StoreOfRecord, engine: Engine, commit_log: CommitLog, updates: UpdateQueue, notifier: Notifier
    ) -> None:
        self._record = record
        self._engine = engine
        self._commit_log = commit_log
        self._updates = updates
        self._notifier = notifier
        self._turn = asyncio.Lock()
        self.last: Reconciled | None = None
        self.last_at = 0
        """When the last run ended, in microseconds since 1970; 0 is never."""
        self.runs = 0

    async def run(self, right: Side = "endpoint", *, dry: bool = False) -> Reconciled:
        """Make both sides equal, or with `dry` only compare them. Raises EndpointAway, EndpointRefused."""
        async with self._turn:
            found = await self._record.compare(self._engine.store)
            self._updates.hold()
            try:
                await self._commit_log.idle()
                result = await self._settle(found, right, dry=dry)
            finally:
                self._updates.resume()
        self.runs += 1
        self.last, self.last_at = result, self._commit_log.clock()
        return result

    async def _settle(self, found: Comparison, right: Side, *, dry: bool) -> Reconciled:
        delta = await self._still(found.differences)
        added = sum(1 for _, weight in delta.items() if weight > 0)
        commit = None
        if delta and not dry:
            log.warning("the endpoint differs by %d quads added and %d removed", added, len(delta) - added)
            if right == "endpoint":
                commit = await self.commit(delta)
            else:
                await self._record.take({quad: weight < 0 for quad, weight in delta.items()})
        return Reconciled(added, len(delta) - added, found.rewritten, commit)

    async def _still(self, found: ZSet[Quad]) -> ZSet[Quad]:
        """The differences that remain when no commit is on its way."""
        store = self._engine.store
        lacking = set(await self._record.lacking({quad: weight > 0 for quad, weight in found.items()}))
        return ZSet.owning(
            {quad: weight for quad, weight in found.items() if quad not in lacking and (quad in store) == (weight < 0)}
        )

    async def commit(self, delta: ZSet[Quad], notes: tuple[Note, ...] = (), time: int | None = None) -> int:
        """Commit changes that the store of record has already, and wait until the commit is durable. Its time is
        `time`, or that of the last entry if it is later; by default, now."""
        commit_log = self._commit_log
        at = commit_log.time = commit_log.now() if time is None else max(time, commit_log.time)
        entry = commit_log.next_entry(delta, at, notes)
        commit = self._engine.absorb(delta, now=entry.time)
        self._notifier.end_failed(commit.failures)
        commit_log.commit(PendingReconciled(entry, commit))
        await commit_log.settled()
        return entry.commit
