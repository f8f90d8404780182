"""Who may go in: some readers, or one writer.

Turns are first come, first served, so neither kind can starve the other: a reader that comes after a waiting writer
waits as well.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tidings.gates.errors import TooManyRequests


class Turns:
    """The turns of one store: at most so many readers at a time, and nobody waits longer than so many seconds."""

    def __init__(self, *, readers: int, seconds: float | None = None) -> None:
        self._most = readers
        self._seconds = seconds
        self._readers = 0
        self._writing = False
        self._waiting: deque[tuple[bool, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        await self._enter(write=False)
        try:
            yield
        finally:
            self._leave(write=False)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        await self._enter(write=True)
        try:
            yield
        finally:
            self._leave(write=True)

    async def _enter(self, *, write: bool) -> None:
        if not self._waiting and self._is_free(write):
            self._take(write)
            return
        try:
            async with asyncio.timeout(self._seconds):
                await self._wait(write)
        except TimeoutError as error:
            raise TooManyRequests("others were busy for as long as a request may take") from error

    async def _wait(self, write: bool) -> None:
        turn = asyncio.get_running_loop().create_future()
        place = (write, turn)
        self._waiting.append(place)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the turn came in the very moment of the cancellation
                self._leave(write=write)
            else:
                self._waiting.remove(place)
                self._call_in()
            raise

    def _leave(self, *, write: bool) -> None:
        if write:
            self._writing = False
        else:
            self._readers -= 1
        self._call_in()

    def _is_free(self, write: bool) -> bool:
        return not self._writing and self._readers < (1 if write else self._most)

    def _take(self, write: bool) -> None:
        if write:
            self._writing = True
        else:
            self._readers += 1

    def _call_in(self) -> None:
        while self._waiting and self._is_free(self._waiting[0][0]):
            write, turn = self._waiting.popleft()
            if not turn.done():
                self._take(write)
                turn.set_result(None)
