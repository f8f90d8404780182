"""The history lake behind the log: what was committed before the log begins, asked of a process of its own.

One question at a time, a few may wait, each within bounds of time and size. Who leaves while waiting is not asked for;
who leaves during the answer does not end it: to start Spark again takes longer than to answer the rest.
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
"""Questions that may wait."""
OF_ONE_CLIENT = 4
"""Of these, if it is known who asks."""
AT_A_TIME = 2_000
"""Commits that are asked for at a time."""


class LakeBounds(Struct, frozen=True):
    """What a question may cost."""

    seconds: float | None = 30.0
    """For the answer, once Spark runs."""
    rows: int | None = 1_000_000
    size: int = 64 << 20
    """Bytes of an answer on its way here."""
    starting: float = 120.0
    """Seconds that Spark may take to start."""
    idle: float = 600.0
    """Seconds without a question after which the process is ended."""


class LakeStatus(Struct, frozen=True):
    """How far a lake reaches; why nothing is known of it, if that is so."""

    folder: str
    first: int = 0
    last: int = 0
    graphs: Graphs = Graphs.ALL
    error: TidingsError | None = None


Look = Callable[[], LakeStatus]
"""Finds out how far a lake reaches, from the disk: it is called in a thread."""


class HistoryLake:
    """A folder, and the process that is asked about it."""

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
        """Whether it has these commits; and, if some graphs are named, all that happened in them. Raises what keeps it
        from being read."""
        found = await self.status()
        if found.error is not None:
            raise found.error
        return found.first <= max(first, 1) and last <= found.last and (graphs is None or found.graphs.covers(graphs))

    async def answer(
        self, text: str, dataset: Dataset | None, base: str | None, at: int, readable: Graphs, client: str | None
    ) -> Solutions | Boolean:
        """A query, answered as of a commit. Raises LakeRefused, LakeLost, LakeTooSlow, and if it is asked too much."""
        default, named = (None, None) if dataset is None else (dataset.default, dataset.named)
        rows, graphs = self._bounds.rows, tuple(written(readable))
        question = AskThen(text, at, graphs, base, default, named, dataset is not None, rows)
        return await self._ask(question, client)

    async def commits(self, after: int, last: int, readable: Graphs, *, every: bool, client: str | None) -> list[Entry]:
        """What was committed, as far as it may be read; with `every`, commits as well of which nothing may be."""
        question = AskCommits(after, last, tuple(written(readable)), every, self._bounds.rows)
        found = await self._ask(question, client)
        return await asyncio.to_thread(entries_of, found.rows) if isinstance(found, Solutions) else []

    def abort(self) -> None:
        """Nobody waits for an answer any more, and none is begun."""
        self._ending = True
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        """End the process, and whatever it was at."""
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
            self._waiting -= Counter((client,))  # whoever has none waiting is forgotten
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
            task.exception()  # whoever asked has heard it, or has left

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
        """Nobody has asked for long."""
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
