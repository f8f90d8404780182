"""Responses without an end: event streams, and the feed of commits.

Such a response counts as a connection, and not as a request. It ends when its client leaves, when its client reads
nothing for too long, or when the broker stops.
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
"""Seconds that a client has to read the rest when a stream ends."""
_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}  # the latter tells nginx not to buffer


class Ending(Protocol):
    """A stream that can be ended."""

    def end(self) -> None: ...


class Streams:
    """All streams of the gate. Together with the WebSocket connections, there may be `most`."""

    def __init__(self, broker: Broker, most: int) -> None:
        self._broker = broker
        self._most = most
        self._open: set[Ending] = set()
        self._ended = False
        self.feeds = 0
        """How many of them are feeds, which are no sessions of the broker."""

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
        """End all streams."""
        self._ended = True
        for stream in list(self._open):
            stream.end()


class StreamResponse(Response):
    """Sends pieces as they come. `gone` is called once at the end, whichever side ended it."""

    def __init__(self, pieces: AsyncGenerator[bytes, None], media_type: str, gone: Callable[[], None]) -> None:
        super().__init__(None, 200, _HEADERS, media_type)
        del self.headers["content-length"]
        self._pieces = pieces
        self._gone = gone
        self._sending: asyncio.Task[None] | None = None

    def hurry(self) -> None:
        """The pieces are about to end: give the client a second to read the rest."""
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
            pass  # the client has left, or does not read
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
