"""A semaphore that clients share fairly: a client that holds a place gets another only while one more stays free.

When places become free, clients take turns, and the requests of one client go in the order in which they came.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Room:
    """Used as `async with room.taken(client)`. A request without a client's name only waits until a place is free."""

    def __init__(self, most: int) -> None:
        self._free = most
        self._taken: Counter[str] = Counter()
        self._waiting: dict[str | None, deque[asyncio.Future[None]]] = {}
        """The requests that wait, by client; the client whose turn is next comes first."""

    @asynccontextmanager
    async def taken(self, client: str | None = None) -> AsyncIterator[None]:
        if client not in self._waiting and self._may_have_more(client):
            self._take(client)
        else:
            await self._turn(client)
        try:
            yield
        finally:
            self._leave(client)

    def _may_have_more(self, client: str | None) -> bool:
        """The last free place is reserved for a client that has none."""
        return self._free > (1 if client is not None and self._taken[client] else 0)

    def _take(self, client: str | None) -> None:
        self._free -= 1
        if client is not None:
            self._taken[client] += 1

    def _leave(self, client: str | None) -> None:
        self._free += 1
        if client is not None:
            self._taken[client] -= 1
            if not self._taken[client]:
                del self._taken[client]
        self._let_in()

    async def _turn(self, client: str | None) -> None:
        """Wait for a place, and take it."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._leave(client)  # it had got its place already
            raise

    def _let_in(self) -> None:
        """Give free places to those who wait. A client that had its turn goes to the end."""
        while allowed := [client for client in self._waiting if self._may_have_more(client)]:
            client = allowed[0]
            line = self._waiting.pop(client)
            turn = line.popleft()
            if line:
                self._waiting[client] = line
            if not turn.cancelled():
                self._take(client)
                turn.set_result(None)
