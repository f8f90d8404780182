"""Nothing is answered before it is durable: steps wait, in order, until the log has what they rest on.

    step = append to the log, now        release = tell those concerned, when it is durable
                                         undo    = if it cannot be made durable, as if it had never been

Many steps share one fsync: whatever is appended while the disk is busy goes with the next batch. Answers that write
nothing wait in the same line, so that nobody is shown what a crash could still undo.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import TypeAlias

from tidings.broker.latency import Latency
from tidings.log.journal import Durability, Journal
from tidings.model.errors import TidingsError

Release: TypeAlias = Callable[[], None]
Undo: TypeAlias = Callable[[TidingsError], None]
LAZY_SECONDS = 0.5
"""How long changes may stay in memory where no durability is asked for."""


class Scribe:
    """Writes the journal, and releases the steps that rest on it. Without a journal, everything is released at once."""

    def __init__(self, journal: Journal | None, durability: Durability, clock: Callable[[], float] = monotonic) -> None:
        self._journal = journal
        self._clock = clock
        self._durability = durability
        self._steps: deque[tuple[Release, Undo]] = deque()
        self._writing = False
        self._scheduled = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="scribe") if durability == "fsync" and journal else None
        self._idle: list[asyncio.Future[None]] = []
        self.batches = 0
        self.failures = 0
        self.latency = Latency()
        """Of batches that were written: from handing one over until it is as durable as it has to be."""

    def __len__(self) -> int:
        """Steps that wait."""
        return len(self._steps)

    def step(self, release: Release, undo: Undo) -> None:
        """Release when everything appended so far is durable: at once if it is."""
        if self._journal is None:
            release()
        elif self._durability == "none":
            self._schedule()
            release()
        else:
            self._steps.append((release, undo))
            self._schedule()

    def _schedule(self) -> None:
        if not self._scheduled and not self._writing:
            self._scheduled = True
            loop = asyncio.get_running_loop()
            if self._durability == "none":
                loop.call_later(LAZY_SECONDS, self._flush)
            else:
                loop.call_soon(self._flush)  # once a turn of the loop: all that came in it goes together

    def _flush(self) -> None:
        self._scheduled = False
        assert self._journal is not None
        count = len(self._steps)
        batch = self._journal.take()
        if batch is None:
            self._release(count)
        elif self._thread is None:
            begun = self._clock()
            try:
                self._journal.write(batch)
            except TidingsError as error:
                self._fail(error)
            else:
                self._wrote(begun)
                self._release(count)
        else:
            self._writing = True
            begun = self._clock()
            loop = asyncio.get_running_loop()
            writing = loop.run_in_executor(self._thread, self._journal.write, batch)
            writing.add_done_callback(lambda done: self._written(done, count, begun))

    def _wrote(self, begun: float) -> None:
        self.batches += 1
        self.latency.count(self._clock() - begun)

    def _written(self, done: "asyncio.Future[None]", count: int, begun: float) -> None:
        self._writing = False
        error = done.exception()
        if error is None:
            self._wrote(begun)
            self._release(count)
        else:
            self._fail(error if isinstance(error, TidingsError) else TidingsError(f"the log failed: {error}"))

    def _release(self, count: int) -> None:
        steps = self._steps
        for _ in range(count):
            steps.popleft()[0]()
        if steps:
            self._schedule()
        self._tell_idle()

    def _fail(self, error: TidingsError) -> None:
        """Undo everything that is not durable, the last first."""
        assert self._journal is not None
        self.failures += 1
        self._journal.discard()
        if self._durability == "none":  # what is lost has been answered already: nothing more may be promised
            self._journal.broken = True
        steps = list(self._steps)
        self._steps.clear()
        for _, undo in reversed(steps):
            undo(error)
        if self._steps:
            self._schedule()
        self._tell_idle()

    def _tell_idle(self) -> None:
        if not self._steps and not self._writing:
            for waiter in self._idle:
                if not waiter.done():
                    waiter.set_result(None)
            self._idle.clear()

    async def idle(self) -> None:
        """Until nothing waits, and everything is written."""
        if self._scheduled and self._durability == "none":
            self._flush()
        while self._steps or self._writing or (self._scheduled and self._durability != "none"):
            waiter = asyncio.get_running_loop().create_future()
            self._idle.append(waiter)
            await waiter

    def close(self) -> None:
        """Write what is left, whatever the durability. Raises a TidingsError."""
        if self._thread is not None:
            self._thread.shutdown()
        if self._journal is not None:
            if not self._journal.broken and (batch := self._journal.take()) is not None:
                self._journal.write(batch)
            self._journal.close()
