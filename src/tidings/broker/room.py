"""Room for so many at a time, shared fairly: who has some of it gets more only while some is left for another.

Those who wait are let in client by client, and each client's own in the order in which they came.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Room:
    """For `async with room.taken(client)`. Those who come without a name share nothing, and wait for room only."""

    def __init__(self, most: int) -> None:
        self._free = most
        self._taken: Counter[str] = Counter()
        self._waiting: dict[str | None, deque[asyncio.Future[None]]] = {}
        """Who waits, the client first whose turn is next."""

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
        """The last place is for one who has none."""
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
        """Until there is room, which is taken then."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._leave(client)  # it had its turn, and does not need it any more
            raise

    def _let_in(self) -> None:
        """Whoever may have room now; who had a turn is last from here on."""
        while allowed := [client for client in self._waiting if self._may_have_more(client)]:
            client = allowed[0]
            line = self._waiting.pop(client)
            turn = line.popleft()
            if line:
                self._waiting[client] = line
            if not turn.cancelled():
                self._take(client)
                turn.set_result(None)
