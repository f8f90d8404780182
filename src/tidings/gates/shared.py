"""One core for many requests: queries run beside each other in threads, an update runs alone.

A query is evaluated in full within its turn (see docs/decisions/0004-reads-and-writes.md), so a turn lasts as long as
the evaluation, which has a time limit, and never as long as a client takes to read.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from tidings.engine.core import Core
from tidings.gates.errors import ClientLeft, ShuttingDown
from tidings.gates.turns import Turns
from tidings.model.errors import TimeLimitExceeded
from tidings.model.results import Result
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.sparql.algebra import Dataset
from tidings.sparql.evaluate.context import Limits

T = TypeVar("T")
_FOR_EVER = 1e9


@dataclass(frozen=True, slots=True)
class Done:
    """An update that was carried out: when, in microseconds since 1970, and what it changed."""

    time: int
    added: int
    removed: int


class SharedCore:
    """A core that may be asked and told by many at once. `clock` tells the time in microseconds since 1970.

    A core has one memory of texts, so each query that runs borrows a core of its own, made by `reader`
    on the same store.
    """

    def __init__(
        self,
        core: Core,
        reader: Callable[[], Core],
        *,
        clock: Callable[[], int],
        seconds: float | None,
        rows: int | None,
        workers: int,
    ) -> None:
        self._core = core
        self._readers = [reader() for _ in range(workers)]
        self._clock = clock
        self._seconds = seconds
        self._rows = rows
        self._turns = Turns(readers=workers, seconds=seconds)
        self._ending = False
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="evaluation")

    @property
    def core(self) -> Core:
        """For looks that take no time; whoever reads on over an await uses `query`."""
        return self._core

    async def query(self, text: str, dataset: Dataset | None, use: Callable[[Result], T]) -> T:
        """Evaluate a query and use its result, which must not outlive the call."""
        async with self._turns.reading():  # there is a reader for every reading turn
            reader = self._readers.pop()
            try:
                return await self._run(
                    lambda limits: use(reader.query(text, dataset, now=self._clock(), limits=limits))
                )
            finally:
                self._readers.append(reader)

    async def update(self, text: str, dataset: Dataset | None) -> Done:
        def execute(limits: Limits) -> Done:
            now = self._clock()
            return _counted(now, self._core.update(text, dataset, now=now, limits=limits))

        async with self._turns.writing():
            return await self._run(execute)

    def end(self) -> None:
        """Give up whatever is running or comes yet, for the broker is stopping."""
        self._ending = True

    def close(self) -> None:
        """Wait for what is running; nothing new may come."""
        self._threads.shutdown()

    async def _run(self, work: Callable[[Limits], T]) -> T:
        """Do the work in a thread, within the limits; when this ends, however it ends, so has the thread's work."""
        left = threading.Event()
        limits = Limits(seconds=self._seconds or _FOR_EVER, rows=self._rows, clock=self._watch(left))
        running = asyncio.get_running_loop().run_in_executor(self._threads, work, limits)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            left.set()  # the turn must not end while the thread still reads the store
            await asyncio.wait([running])
            raise

    def _watch(self, left: threading.Event) -> Callable[[], float]:
        """A clock that raises when it is too late: evaluations look at it again and again."""
        deadline = time.monotonic() + (self._seconds or _FOR_EVER)

        def clock() -> float:
            now = time.monotonic()
            if self._ending:
                raise ShuttingDown("the broker is stopping")
            if left.is_set():
                raise ClientLeft("nobody waits for the answer any more")
            if now > deadline and self._seconds:
                raise TimeLimitExceeded(self._seconds)
            return now

        return clock


def _counted(now: int, delta: ZSet[Quad]) -> Done:
    added = sum(1 for _, weight in delta.items() if weight > 0)
    return Done(now, added, len(delta) - added)
