"""Group commit: one fsync makes many entries durable, and only then are the values that wait for them settled.

    append an entry to the journal  ->  durable: settle its value, in order
                                    ->  the write failed: undo all values that wait, the last first

Everything that is appended while the disk is busy goes into the next batch. Answers that write nothing wait in the same
line, so that no client is shown a commit that a crash could still undo.

With a store of record, two kinds of values are special. A *promise* belongs to a commit that the store of record has,
with an intent for it in the log, so that a crash cannot undo it: it is settled at once if nothing waits before it, and
its entry is written with the next batch. An *intent*, which precedes the delivery to the store of record, waits for the
disk in a line of its own, so that promises need not wait behind it.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from time import monotonic
from typing import NamedTuple, Protocol, TypeAlias

from tidings.broker.latency import Latency
from tidings.broker.pending import Pending
from tidings.log.entry import Entry
from tidings.log.journal import Durability, Journal, WriteBatch
from tidings.model.errors import TidingsError

LAZY_SECONDS = 0.5
"""How long entries may stay in memory with the durability `none`."""
PROMISED_SECONDS = 0.05
"""How long the entry of a promise waits for other entries to be written with it."""


class Settlement(Protocol):
    """Knows what to do with a value that has waited."""

    def settle(self, pending: Pending) -> None:
        """The value is durable."""

    def undo(self, pending: Pending, error: TidingsError) -> None:
        """The value cannot be made durable."""


_Written: TypeAlias = Callable[[Exception | None], None]


class _Share(NamedTuple):
    """How many values of each kind one write makes durable."""

    waiting: int
    promised: int
    intents: int


class GroupCommit:
    """Writes the journal, and settles the values that wait for it. Without a journal, it settles each value at once."""

    def __init__(
        self,
        journal: Journal | None,
        durability: Durability,
        settlement: Settlement,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._durability = durability
        self._settlement = settlement
        self._line: deque[Pending] = deque()
        self._intents: deque[Pending] = deque()
        self._scheduled = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="group-commit")
        self._under_way: Future[None] | None = None
        """The write that the thread is working on."""
        self.promised: list[Entry] = []
        """Entries of promises that are settled, but not on disk yet. All other entries that are not on disk follow."""
        self._timer: asyncio.TimerHandle | None = None
        """Writes promises even if no other entry comes."""
        self._idle: list[asyncio.Future[None]] = []
        self.batches = 0
        self.failures = 0
        self.latency = Latency()
        """How long it took to write each batch, with the fsync if the durability asks for one."""

    def __len__(self) -> int:
        """How many values wait in line."""
        return len(self._line)

    def add(self, pending: Pending) -> None:
        """Settle a value once everything appended so far is durable; at once without a journal or durability."""
        if self._journal is None:
            self._settlement.settle(pending)
        elif self._durability == "none":
            self._schedule()
            self._settlement.settle(pending)
        else:
            self._line.append(pending)
            self._schedule()

    def promise(self, entry: Entry, pending: Pending) -> None:
        """Settle the value of an appended entry that a crash cannot undo."""
        if self._journal is None or self._durability == "none" or self._line:
            self.add(pending)
        else:
            self.promised.append(entry)
            self._wait(PROMISED_SECONDS)
            self._settlement.settle(pending)

    def add_intent(self, pending: Pending) -> None:
        """As `add`, but promises that are made meanwhile do not wait behind it."""
        if self._journal is None or self._durability == "none":
            self.add(pending)
        else:
            self._intents.append(pending)
            self._schedule()

    def _wait(self, seconds: float) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._waited)

    def _waited(self) -> None:
        self._timer = None
        if self.promised:
            self._schedule()

    def _schedule(self) -> None:
        if not self._scheduled and self._under_way is None:
            self._scheduled = True
            loop = asyncio.get_running_loop()
            if self._durability == "none":
                loop.call_later(LAZY_SECONDS, self._flush)
            else:
                loop.call_soon(self._flush)  # one batch for everything that came in this turn of the loop

    def _flush(self) -> None:
        self._scheduled = False
        if self._under_way is not None:
            return  # `_settle` schedules the next batch
        assert self._journal is not None
        share = _Share(len(self._line), len(self.promised), len(self._intents))
        begun = self._clock()
        try:
            batch = self._journal.take()
            if batch is not None and (self._durability == "fsync" or batch.later):
                self._write_aside(batch, share, begun)
                return
            if batch is not None:
                self._journal.write(batch)
                self._count(begun)
        except TidingsError as error:
            self._fail(error)
        else:
            self._settle(share)

    def _write_aside(self, batch: WriteBatch, share: _Share, begun: float) -> None:
        """Have the thread write a batch that needs an fsync, or that takes long to encode."""
        written = partial(self._written, share, begun)
        self._under_way = self._thread.submit(self._write, batch, asyncio.get_running_loop(), written)

    def _write(self, batch: WriteBatch, loop: asyncio.AbstractEventLoop, written: _Written) -> None:
        """Runs in the thread. It calls back into the loop itself, which saves a turn of the loop over a future."""
        assert self._journal is not None
        failure: Exception | None = None
        try:
            self._journal.write(batch)
        except Exception as error:
            failure = error
            raise
        finally:
            loop.call_soon_threadsafe(written, failure)

    def _count(self, begun: float) -> None:
        self.batches += 1
        self.latency.count(self._clock() - begun)

    def _written(self, share: _Share, begun: float, error: Exception | None) -> None:
        self._under_way = None
        if error is None:
            self._count(begun)
            self._settle(share)
        else:
            self._fail(error if isinstance(error, TidingsError) else TidingsError(f"the log failed: {error}"))

    def _settle(self, share: _Share) -> None:
        line, intents, settle = self._line, self._intents, self._settlement.settle
        del self.promised[: share.promised]
        for _ in range(share.intents):
            settle(intents.popleft())
        for _ in range(share.waiting):
            settle(line.popleft())
        if line or intents or (self._journal is not None and self._journal.has_more):
            self._schedule()
        elif self.promised:
            self._wait(PROMISED_SECONDS)
        self._tell_idle()

    def _fail(self, error: TidingsError) -> None:
        """Undo all values that are not durable, the last first."""
        assert self._journal is not None
        self.failures += 1
        self._journal.discard()
        if self._durability == "none":  # lost entries have been answered already: accept no more
            self._journal.broken = True
        self._append_promised()
        undone = [*self._intents, *self._line]
        self._line.clear()
        self._intents.clear()
        for pending in reversed(undone):
            self._settlement.undo(pending, error)
        if self._line or self._intents:
            self._schedule()
        self._tell_idle()

    def _append_promised(self) -> None:
        """Append promises again, before anything else: they are settled, and cannot be undone."""
        assert self._journal is not None
        if self._journal.broken:  # a restart recovers them from the store of record
            self.promised.clear()
        for entry in self.promised:
            self._journal.append(entry)
        if self.promised:
            self._wait(LAZY_SECONDS)

    def _tell_idle(self) -> None:
        if not (self._line or self._intents or self.promised) and self._under_way is None:
            for waiter in self._idle:
                if not waiter.done():
                    waiter.set_result(None)
            self._idle.clear()

    def waiting(self) -> Iterator[Pending]:
        """The values that are not settled yet, in order."""
        return iter(self._line)

    def write_out(self) -> None:
        """With the durability `none`, write now what is still in memory: a fork is about to read the log."""
        if self._durability != "none" or self._journal is None:
            return
        if self._under_way is not None and self._under_way.exception() is not None:  # this waits for it
            return  # the loop is about to call `_written` with the failure
        try:
            if (batch := self._journal.take()) is not None:
                self._journal.write(batch)
        except TidingsError as error:
            self._fail(error)

    async def idle(self) -> None:
        """Wait until nothing waits, and everything is written."""
        self._hurry()
        while self._line or self._intents or self.promised or self._under_way is not None or self._scheduled:
            waiter = asyncio.get_running_loop().create_future()
            self._idle.append(waiter)
            await waiter
            self._hurry()

    def _hurry(self) -> None:
        if self._scheduled and self._durability == "none":
            self._flush()
        elif self.promised:
            self._schedule()

    def close(self) -> None:
        """Write what is left, with any durability, and close the journal. Raises a TidingsError."""
        if self._timer is not None:
            self._timer.cancel()
        self._thread.shutdown()
        if self._journal is not None:
            if not self._journal.broken and (batch := self._journal.take()) is not None:
                self._journal.write(batch)
            self._journal.close()
