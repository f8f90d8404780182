"""Nothing is answered before it is durable: values wait in a line, in order, until the log has what they rest on.

    append to the log, now  ->  durable: settle, in order
                            ->  cannot be made durable: undo, the last first

Many share one fsync: whatever is appended while the disk is busy goes with the next batch. Answers that write nothing
wait in the same line, so that nobody is shown what a crash could still undo.

A *promise* is an entry that a crash cannot undo even if the log lacks it, because a store of record has it and the log
says what it was to have. It is settled at once if nothing waits before it, and goes to the disk with whatever is next.
Who *looks on* waits for the disk as well, and nobody behind it has to: the intents of what is not done yet.
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
from tidings.log.journal import Batch, Durability, Journal
from tidings.model.errors import TidingsError

LAZY_SECONDS = 0.5
"""How long changes may stay in memory where no durability is asked for."""
PROMISED_SECONDS = 0.05
"""How long a promise waits for something that goes to the disk with it."""


class Settlement(Protocol):
    """Whoever knows what is to be done with a value that waited."""

    def settle(self, pending: Pending) -> None:
        """It is durable."""

    def undo(self, pending: Pending, error: TidingsError) -> None:
        """It cannot be made durable."""


_Written: TypeAlias = Callable[[Exception | None], None]


class _Share(NamedTuple):
    """How many of each kind rest on one write."""

    waiting: int
    promised: int
    looking_on: int


class GroupCommit:
    """Writes the journal, and settles what rests on it. Without a journal, everything is settled at once."""

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
        self._lookers_on: deque[Pending] = deque()
        self._scheduled = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="group-commit")
        self._under_way: Future[None] | None = None
        """The write that the thread is at."""
        self.promised: list[Entry] = []
        """What was settled before the disk has it, in order; everything else that it lacks is behind that."""
        self._timer: asyncio.TimerHandle | None = None
        """For promises that nothing else takes along."""
        self._idle: list[asyncio.Future[None]] = []
        self.batches = 0
        self.failures = 0
        self.latency = Latency()
        """Of batches that were written: from handing one over until it is as durable as it has to be."""

    def __len__(self) -> int:
        """How many wait."""
        return len(self._line)

    def add(self, pending: Pending) -> None:
        """Settle it when everything appended so far is durable: at once if it is."""
        if self._journal is None:
            self._settlement.settle(pending)
        elif self._durability == "none":
            self._schedule()
            self._settlement.settle(pending)
        else:
            self._line.append(pending)
            self._schedule()

    def promise(self, entry: Entry, pending: Pending) -> None:
        """Settle what rests on an entry that was appended, and that a crash cannot undo."""
        if self._journal is None or self._durability == "none" or self._line:
            self.add(pending)
        else:
            self.promised.append(entry)
            self._wait(PROMISED_SECONDS)
            self._settlement.settle(pending)

    def look_on(self, pending: Pending) -> None:
        """As `add`, for what keeps no promise waiting that is made before it is durable."""
        if self._journal is None or self._durability == "none":
            self.add(pending)
        else:
            self._lookers_on.append(pending)
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
                loop.call_soon(self._flush)  # once a turn of the loop: all that came in it goes together

    def _flush(self) -> None:
        self._scheduled = False
        if self._under_way is not None:
            return  # what was appended meanwhile follows it
        assert self._journal is not None
        share = _Share(len(self._line), len(self.promised), len(self._lookers_on))
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

    def _write_aside(self, batch: Batch, share: _Share, begun: float) -> None:
        """In the thread: what waits for the disk, or takes long to encode."""
        written = partial(self._written, share, begun)
        self._under_way = self._thread.submit(self._write, batch, asyncio.get_running_loop(), written)

    def _write(self, batch: Batch, loop: asyncio.AbstractEventLoop, written: _Written) -> None:
        """In the thread. The loop is told at once: by way of a future of its own it would have a turn more to go."""
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
        line, lookers_on, settle = self._line, self._lookers_on, self._settlement.settle
        del self.promised[: share.promised]
        for _ in range(share.looking_on):
            settle(lookers_on.popleft())
        for _ in range(share.waiting):
            settle(line.popleft())
        if line or lookers_on or (self._journal is not None and self._journal.has_more):
            self._schedule()
        elif self.promised:
            self._wait(PROMISED_SECONDS)
        self._tell_idle()

    def _fail(self, error: TidingsError) -> None:
        """Undo everything that is not durable, the last first."""
        assert self._journal is not None
        self.failures += 1
        self._journal.discard()
        if self._durability == "none":  # what is lost has been answered already: nothing more may be promised
            self._journal.broken = True
        self._append_promised()
        undone = [*self._lookers_on, *self._line]
        self._line.clear()
        self._lookers_on.clear()
        for pending in reversed(undone):
            self._settlement.undo(pending, error)
        if self._line or self._lookers_on:
            self._schedule()
        self._tell_idle()

    def _append_promised(self) -> None:
        """What nobody can take back goes first when the disk can be written again."""
        assert self._journal is not None
        if self._journal.broken:  # a restart finds them at the store of record
            self.promised.clear()
        for entry in self.promised:
            self._journal.append(entry)
        if self.promised:
            self._wait(LAZY_SECONDS)

    def _tell_idle(self) -> None:
        if not (self._line or self._lookers_on or self.promised) and self._under_way is None:
            for waiter in self._idle:
                if not waiter.done():
                    waiter.set_result(None)
            self._idle.clear()

    def waiting(self) -> Iterator[Pending]:
        """What is not settled yet, in order."""
        return iter(self._line)

    def write_out(self) -> None:
        """Where nothing waits for the disk: write what is still in memory, before anything else happens."""
        if self._durability != "none" or self._journal is None:
            return
        if self._under_way is not None and self._under_way.exception() is not None:  # this waits for it
            return  # `_written` is about to hear of it
        try:
            if (batch := self._journal.take()) is not None:
                self._journal.write(batch)
        except TidingsError as error:
            self._fail(error)

    async def idle(self) -> None:
        """Until nothing waits, and everything is written."""
        self._hurry()
        while self._line or self._lookers_on or self.promised or self._under_way is not None or self._scheduled:
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
        """Write what is left, whatever the durability. Raises a TidingsError."""
        if self._timer is not None:
            self._timer.cancel()
        self._thread.shutdown()
        if self._journal is not None:
            if not self._journal.broken and (batch := self._journal.take()) is not None:
                self._journal.write(batch)
            self._journal.close()
