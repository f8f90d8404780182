"""The queue of unread notifications of a subscription: the `Listening` of every target that sends notifications."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from tidings.bench.targets import Arrival
from tidings.bench.targets.errors import TargetFailed
from tidings.model.errors import TidingsError

MOST_WAITING = 1_000_000


class Inbox:
    """Notifications in the order in which they came. Once it overflows, reading fails, as all counts would be wrong.

    Reading goes on until `finish`, or raises what `fail` was called with, after all that came before.
    """

    def __init__(self, end: Callable[[], Awaitable[None]], most: int = MOST_WAITING) -> None:
        self._end = end
        self._most = most
        self._waiting: deque[Arrival] = deque()
        self._news = asyncio.Event()
        self.failure: TidingsError | None = None
        self.finished = False

    # -- for the suite ------------------------------------------------------------------------------------------

    def __aiter__(self) -> "Inbox":
        return self

    async def __anext__(self) -> Arrival:
        while not self._waiting:
            if self.failure is not None:
                raise self.failure
            if self.finished:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        return self._waiting.popleft()

    async def end(self) -> None:
        """End the subscription. Notifications from before can still be read."""
        if not self.finished:
            self.finished = True
            self._news.set()
            await self._end()

    # -- for the target -----------------------------------------------------------------------------------------

    def put(self, arrival: Arrival) -> None:
        if self.finished:
            return
        if len(self._waiting) >= self._most:
            self.fail(TargetFailed(f"more than {self._most:,} notifications came that nobody has read"))
            return
        self._waiting.append(arrival)
        self._news.set()

    def fail(self, error: TidingsError) -> None:
        if not self.finished:
            self.failure = error
            self.finished = True
            self._news.set()

    def finish(self) -> None:
        self.finished = True
        self._news.set()


class Feeders:
    """Tasks that feed one inbox each, until its subscription ends or the target is closed."""

    def __init__(self) -> None:
        self._tasks: dict[asyncio.Task[None], Inbox] = {}

    def start(self, feed: Callable[[Inbox], Awaitable[None]]) -> Inbox:
        inbox = Inbox(lambda: _cancelled(task))
        task = asyncio.create_task(_run(feed, inbox))
        self._tasks[task] = inbox
        task.add_done_callback(self._tasks.pop)
        return inbox

    async def close(self) -> None:
        tasks = dict(self._tasks)
        for task, inbox in tasks.items():
            inbox.finish()
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _run(feed: Callable[[Inbox], Awaitable[None]], inbox: Inbox) -> None:
    try:
        await feed(inbox)
    except TidingsError as error:
        inbox.fail(error)
    finally:
        inbox.fail(TargetFailed("the subscription ended by itself"))


async def _cancelled(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
