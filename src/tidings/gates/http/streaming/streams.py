"""Answers without an end: event streams, and the feed of commits.

Such an answer is not a request in work, and counts as a connection. It ends when its client leaves, when its client
takes nothing for too long, or when the broker stops.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Protocol

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tidings.broker.broker import Broker
from tidings.broker.errors import ShuttingDown
from tidings.gates.errors import TooManyConnections
from tidings.gates.http.routing import departure
from tidings.gates.http.sending import STALLED_AFTER

_LINGER = 1.0
"""Seconds that a client gets to take note of the end."""
_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}  # the latter: nginx, send it as it comes


class Ending(Protocol):
    """Whatever can be told to come to its end."""

    def end(self) -> None: ...


class Streams:
    """All answers without an end. They and the WebSocket connections may be so many together."""

    def __init__(self, broker: Broker, most: int) -> None:
        self._broker = broker
        self._most = most
        self._open: set[Ending] = set()
        self._ended = False
        self.feeds = 0
        """Those that are no sessions of the broker."""

    def admit(self) -> None:
        """Raises ShuttingDown, TooManyConnections."""
        if self._ended or self._broker.ending:
            raise ShuttingDown("the broker is stopping")
        if len(self._broker.sessions) + self.feeds >= self._most:
            raise TooManyConnections(f"{self._most:,} clients are connected, the limit of max_connections")

    def add(self, stream: Ending) -> None:
        self._open.add(stream)
        if self._ended:
            stream.end()

    def discard(self, stream: Ending) -> None:
        self._open.discard(stream)

    def end(self) -> None:
        """Let everybody go."""
        self._ended = True
        for stream in list(self._open):
            stream.end()


class StreamResponse(Response):
    """Sends pieces as they come. `gone` is called once, whoever ended it."""

    def __init__(self, pieces: AsyncGenerator[bytes, None], media_type: str, gone: Callable[[], None]) -> None:
        super().__init__(None, 200, _HEADERS, media_type)
        del self.headers["content-length"]
        self._pieces = pieces
        self._gone = gone
        self._sending: asyncio.Task[None] | None = None

    def hurry(self) -> None:
        """The pieces are about to end; one who does not take them has a second."""
        if self._sending is not None:
            asyncio.get_running_loop().call_later(_LINGER, self._sending.cancel)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                self._sending = sending = group.create_task(self._send(send))
                leaving = group.create_task(departure(receive))
                sending.add_done_callback(lambda _: leaving.cancel())
                leaving.add_done_callback(lambda _: sending.cancel())
        except* (OSError, TimeoutError):
            pass  # the client is gone, or as good as gone
        finally:
            self._gone()
            await self._pieces.aclose()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for piece in self._pieces:
            await _send_part(send, piece, more=True)
        await _send_part(send, b"", more=False)


async def _send_part(send: Send, body: bytes, *, more: bool) -> None:
    async with asyncio.timeout(STALLED_AFTER):
        await send({"type": "http.response.body", "body": body, "more_body": more})
