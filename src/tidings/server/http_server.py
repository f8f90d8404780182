"""One uvicorn server for all entrances, with and without TLS: they share one state, and shut down together."""

import asyncio
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

import uvicorn

from tidings.gates.http.connection import HEADER_SECONDS
from tidings.server.listening import BACKLOG, Entrances


class HttpServer(uvicorn.Server):
    """Opens the entrances when it starts, and closes them before it waits for its connections to end."""

    def __init__(self, config: uvicorn.Config, entrances: Entrances) -> None:
        super().__init__(config)
        self._entrances = entrances

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing: uvicorn would raise the signal again after the shutdown, as if it were a failure."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=[])
        await self._entrances.open()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._entrances.close()
        await super().shutdown(sockets=[])

    async def serve_connections(self, listener: socket.socket, tls: ssl.SSLContext | None) -> asyncio.AbstractServer:
        """Serve a listening socket."""
        kind = cast(Callable[..., asyncio.Protocol], self.config.http_protocol_class)

        def connection() -> asyncio.Protocol:
            return kind(config=self.config, server_state=self.server_state, app_state={})

        limit = None if tls is None else HEADER_SECONDS
        loop = asyncio.get_running_loop()
        return await loop.create_server(
            connection, sock=listener, ssl=tls, backlog=BACKLOG, ssl_handshake_timeout=limit
        )
