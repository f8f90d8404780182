"""The Smart-M3 gate: accepts connections at a TCP port for SSAP and JSSAP, and closes them all at the end."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from socket import socket
from typing import Any

from starlette.routing import BaseRoute

from tidings.broker.errors import ShuttingDown
from tidings.gates.errors import TooManyConnections
from tidings.gates.figures import Figure
from tidings.gates.gate import Counts
from tidings.gates.premises import Premises
from tidings.gates.smart_m3.connection import Connection
from tidings.gates.smart_m3.conversation import Holders
from tidings.gates.smart_m3.memberships import MOST, Memberships

IDLE = 300.0
"""The gate closes a connection that is idle for so many seconds, without a request or a subscription."""


class SmartM3Gate:
    """`listen` takes the port, and raises what keeps it from that; `most` connections may be open."""

    name = "smart_m3"

    def __init__(
        self, premises: Premises, listen: Callable[[], socket], most: int = 20_000, idle: float = IDLE
    ) -> None:
        self.premises = premises
        self.counts = Counts()
        self.connections: set[Connection] = set()
        self.holders: Holders = {}
        self.memberships = Memberships(MOST if premises.guard.asks else 0)
        self.address = ""
        self._listen = listen
        self._most = most
        self._idle = idle

    @property
    def clients(self) -> int:
        return len(self.connections)

    def figures(self) -> Iterable[Figure]:
        yield Figure("smart_m3_subscriptions", "Subscriptions of knowledge processors that are here", len(self.holders))

    def routes(self) -> Sequence[BaseRoute]:
        return ()

    def paths(self) -> Mapping[str, Any]:
        return {}

    def admit(self) -> None:
        """Raises ShuttingDown, TooManyConnections."""
        if self.premises.broker.ending:
            raise ShuttingDown("the broker is stopping")
        if len(self.premises.broker.sessions) > self._most:
            raise TooManyConnections(f"{self._most:,} clients are connected, the limit of max_connections")

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        listener = self._listen()
        host, port = listener.getsockname()[:2]
        self.address = f"tcp://[{host}]:{port}" if ":" in host else f"tcp://{host}:{port}"
        server = await loop.create_server(lambda: Connection(self), sock=listener, backlog=1024)
        sweeping = loop.create_task(self._sweep())
        try:
            yield
        finally:
            sweeping.cancel()
            server.close()
            await self._close()

    async def _sweep(self) -> None:
        """Let those go who keep a connection for nothing."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self._idle / 10)
            for connection in list(self.connections):
                if connection.is_gone:
                    connection.abort()
                elif connection.is_idle and connection.heard < loop.time() - self._idle:
                    connection.close(0, "nothing was said for a long time")

    async def _close(self) -> None:
        for connection in list(self.connections):
            connection.close(0, "the broker is stopping")
        deadline = asyncio.get_running_loop().time() + 1.0
        while self.connections and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(0.01)
        for connection in list(self.connections):
            connection.abort()
