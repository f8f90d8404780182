"""A WebSocket that begins as a request to the HTTP port.

uvicorn reads the headers, writes the request out again, and hands it over with the connection. picows reads the request
as if it came from the socket, so that one place checks and answers the handshakes of both ports.
"""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, cast

from picows import WSAutoPingStrategy, WSUpgradeRequest
from picows.picows import WSProtocol  # type: ignore[attr-defined]  # which its own client hands transports to, too

from tidings.gates.http.connection import HEADER_SECONDS
from tidings.gates.websocket.gate import Answer, Listen

_LOGGER = logging.getLogger("picows.server")


class Upgraded(WSProtocol):  # type: ignore[misc]
    """The protocol that takes the place of the HTTP connection: uvicorn makes it, gives it the transport, and then the
    request."""

    def __init__(self, listen: Listen, options: Mapping[str, Any]) -> None:
        self._listen = listen
        self._secure = False
        super().__init__(
            None, None, False, self._answer, _LOGGER, True, HEADER_SECONDS,
            options["enable_auto_ping"], options["auto_ping_idle_timeout"], options["auto_ping_reply_timeout"],
            WSAutoPingStrategy.PING_WHEN_IDLE, True, options["max_frame_size"], None, options["read_buffer_init_size"],
        )  # fmt: skip

    def _answer(self, request: WSUpgradeRequest) -> Answer:
        return self._listen(request, secure=self._secure)

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._secure = transport.get_extra_info("ssl_object") is not None
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """picows reads into its own buffer, but the event loop may still pass bytes that it has read itself."""
        rest = memoryview(data)
        while rest:
            buffer = self.get_buffer(len(rest))
            size = min(len(buffer), len(rest))
            buffer[:size] = rest[:size]
            self.buffer_updated(size)
            rest = rest[size:]


def upgrading(listen: Listen, options: Mapping[str, Any]) -> type[asyncio.Protocol]:
    """A factory of protocols for the setting `ws` of uvicorn."""

    def upgraded(**_: object) -> Upgraded:
        return Upgraded(listen, options)

    return cast(type[asyncio.Protocol], upgraded)
