"""The history lake has the commits from before the log begins. A process of its own reads it, through Spark.

The process answers one question at a time; a few may wait. If a client leaves while its question waits, the question is
dropped. If it leaves later, the process still answers: ending it and starting Spark again would take longer.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from tidings.broker.errors import ShuttingDown, TooManyRequests
from tidings.broker.lake.worker import Worker
from tidings.extras import require
from tidings.model.access import Graphs
from tidings.model.errors import TidingsError
from tidings.model.graph_patterns import written
from tidings.model.results import Boolean, Row, Solutions
from tidings.protocol.entries import Entry
from tidings.protocol.lake_lines import AskCommits, AskThen, Columns, Question, Rows, Truth, entries_of
from tidings.sparql.algebra import Dataset

WAITING = 16
"""How many questions may wait."""
OF_ONE_CLIENT = 4
"""How many of these may be from one client, if it is known."""
AT_A_TIME = 2_000
"""How many commits are asked for at a time."""


class LakeBounds(Struct, frozen=True):
    """The limits of a question."""

    seconds: float | None = 30.0
    """For the answer, once Spark runs."""
    rows: int | None = 1_000_000
    size: int = 64 << 20
    """Bytes of an answer."""
    starting: float = 120.0
    """Seconds that Spark may take to start."""
    idle: float = 600.0
    """The broker ends the process after so many seconds without a question."""


class LakeStatus(Struct, frozen=True):
    """Which commits and graphs a lake has, or why it cannot be read."""

    folder: str
    first: int = 0
    last: int = 0
    graphs: Graphs = Graphs.ALL
    error: TidingsError | None = None


Look = Callable[[], LakeStatus]
"""Reads the status of a lake from the disk. It is called in a thread."""


class HistoryLake:
    """The folder of a lake, and the process that answers questions about it."""

    def __init__(self, look: Look, command: Sequence[str], bounds: LakeBounds, module: str | None = "pyspark") -> None:
        self._look = look
        self._command = command
        self._bounds = bounds
        self._module = module
        self._worker: Worker | None = None
        self._turn = asyncio.Lock()
        self._waiting: Counter[str | None] = Counter()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._idle: asyncio.TimerHandle | None = None
        self._ending = False
        self.asked = 0

    async def status(self) -> LakeStatus:
        return await asyncio.to_thread(self._look)

    async def has(self, first: int, last: int, graphs: Graphs | None = None) -> bool:
        """Whether the lake has these commits, and all changes of these graphs, if any are given. Raises an error if the
        lake cannot be read."""
        found = await self.status()
        if found.error is not None:
            raise found.error
        return found.first <= max(first, 1) and last <= found.last and (graphs is None or found.graphs.covers(graphs))

    async def answer(
        self, text: str, dataset: Dataset | None, base: str | None, at: int, readable: Graphs, client: str | None
    ) -> Solutions | Boolean:
        """Answer a query for the state after a commit. Raises LakeRefused, LakeLost, LakeTooSlow, TooManyRequests."""
        default, named = (None, None) if dataset is None else (dataset.default, dataset.named)
        rows, graphs = self._bounds.rows, tuple(written(readable))
        question = AskThen(text, at, graphs, base, default, named, dataset is not None, rows)
        return await self._ask(question, client)

    async def commits(self, after: int, last: int, readable: Graphs, *, every: bool, client: str | None) -> list[Entry]:
        """The commits after `after`, restricted to readable graphs; with `every`, also those that are empty then."""
        question = AskCommits(after, last, tuple(written(readable)), every, self._bounds.rows)
        found = await self._ask(question, client)
        return await asyncio.to_thread(entries_of, found.rows) if isinstance(found, Solutions) else []

    def abort(self) -> None:
        """Cancel all questions, and begin no more: the broker is stopping."""
        self._ending = True
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        """End the process."""
        self.abort()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._let_go()

    # -- the conversation ---------------------------------------------------------------------------------------------

    async def _ask(self, question: Question, client: str | None) -> Solutions | Boolean:
        if self._module is not None:
            require(self._module, "what the log no longer has is in the history lake, which Spark reads", "spark")
        is_greedy = client is not None and self._waiting[client] >= OF_ONE_CLIENT
        if is_greedy or self._waiting.total() >= WAITING:
            raise TooManyRequests("too many questions wait for the history lake, which takes one at a time")
        self._waiting[client] += 1
        try:
            await self._turn.acquire()
        finally:
            self._waiting -= Counter((client,))  # drops the client at zero
        task = asyncio.create_task(self._converse(question))
        self._tasks.add(task)
        task.add_done_callback(self._over)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise ShuttingDown("the broker is stopping") from None
            raise

    def _over(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        self._turn.release()
        if not task.cancelled():
            task.exception()  # the client has got it, or has left: asyncio need not report it

    async def _converse(self, question: Question) -> Solutions | Boolean:
        if self._ending:
            raise ShuttingDown("the broker is stopping")
        if self._idle is not None:
            self._idle.cancel()
        self.asked += 1
        if self._worker is None or not self._worker.is_alive:
            self._worker = await Worker.start(self._command)
        bounds, truth = self._bounds, None
        columns: tuple[str, ...] = ()
        rows: list[Row] = []
        try:
            said = self._worker.ask(question, starting=bounds.starting, seconds=bounds.seconds, size=bounds.size)
            async for each in said:
                match each:
                    case Truth(value):
                        truth = Boolean(value)
                    case Columns(names):
                        columns = names
                    case Rows(some):
                        rows += some
            return truth or Solutions(columns, rows)
        finally:
            self._idle = asyncio.get_running_loop().call_later(bounds.idle, self._rest)

    def _rest(self) -> None:
        """There was no question for a long time: end the process."""
        if not self._turn.locked():
            task = asyncio.create_task(self._let_go())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _let_go(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        worker, self._worker = self._worker, None
        if worker is not None:
            await worker.end()
