"""One connection to the HTTP port: requests, or a WebSocket from some request on.

uvicorn waits for ever for the end of the headers; here they have to come within some seconds. The parser tells of an
upgrade without being asked, so that requests which are none pay nothing for it; uvicorn then hands the connection to
the class that its configuration names (`gates/websocket/upgrade.py`).
"""

import asyncio
import sys
from typing import Any, cast

from httptools import HttpParserUpgrade
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tidings.gates.errors import TooManyConnections
from tidings.gates.forwarding import NOBODY, Proxies
from tidings.gates.peer import peer_of, tls_extension
from tidings.gates.quotas import Quotas, Ticket, client_of

HEADER_SECONDS = 15.0

_NO_ROOM = b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class HttpConnection(HttpToolsProtocol):
    """Is closed if headers do not come, knows how the client came, and changes hands when nothing is under way."""

    patience: asyncio.TimerHandle | None = None
    extensions: dict[str, Any] | None = None
    heir: asyncio.Protocol | None = None
    """Who has the connection now; what came together with the handshake is for it, too."""
    upgraded_at = 0
    quotas: Quotas | None = None
    proxies: Proxies = NOBODY
    """Whose connections are of many clients, and not counted as one."""
    place: Ticket | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if self.quotas is not None and not self._has_place(self.quotas):
            transport.write(_NO_ROOM)
            transport.close()
            return
        if self.scheme == "https":
            self.extensions = {"tls": tls_extension(transport)}
        self._wait()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self.extensions is not None:
            self.scope["extensions"] = self.extensions
        if self.patience is None:
            self._wait()

    def on_headers_complete(self) -> None:
        self._stop()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        self._give_place_back()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.heir is not None and (rest := data[self.upgraded_at :]) and not self.transport.is_closing():
            self.heir.data_received(rest)

    def handle_websocket_upgrade(self) -> None:
        """A WebSocket behind a request that is still being answered would be written into by that answer."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.send_400_response("A WebSocket cannot begin before the answer to the request before it has ended.")
            return
        upgrade = sys.exception()
        assert isinstance(upgrade, HttpParserUpgrade)
        self.upgraded_at = upgrade.args[0]
        self._give_place_back()  # it has another one as a WebSocket
        super().handle_websocket_upgrade()
        self.heir = cast(asyncio.Protocol, self.transport.get_protocol())

    def _has_place(self, quotas: Quotas) -> bool:
        """Whether its address may have one more connection."""
        address = peer_of(self.transport).address
        if self.proxies and self.proxies.trusts(address):
            return True
        try:
            self.place = Ticket(quotas.connections, client_of(None, address))
        except TooManyConnections as error:
            quotas.note(error)
            return False
        return True

    def _give_place_back(self) -> None:
        if self.place is not None:
            self.place.leave()

    def _wait(self) -> None:
        self.patience = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def _stop(self) -> None:
        if self.patience is not None:
            self.patience.cancel()
            self.patience = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()


def counted(quotas: Quotas, proxies: Proxies) -> type[HttpConnection]:
    """Connections that take a place of the quota of their address."""
    return type("CountedConnection", (HttpConnection,), {"quotas": quotas, "proxies": proxies})
