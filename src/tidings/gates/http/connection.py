"""One connection to the HTTP port: HTTP requests, or a WebSocket from an upgrade on.

uvicorn would wait for headers for ever, however long they get. Here they must arrive within some seconds and bytes, and
the body of an update on the short path (`quick_update.py`) within some seconds. The parser raises an exception at an
upgrade, so other requests pay nothing for the check; uvicorn then hands the connection to the class that its
configuration names (`gates/websocket/upgrade.py`).
"""

import asyncio
import sys
from typing import Any, cast

from httptools import HttpParserUpgrade
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from tidings.gates.errors import BodyTooSlow, HeadersTooLarge, TooManyConnections
from tidings.gates.forwarding import NOBODY, Proxies
from tidings.gates.http.limits import BODY_SECONDS
from tidings.gates.http.quick_update import QuickUpdates, refuse
from tidings.gates.peer import peer_of, tls_extension
from tidings.gates.quotas import Quotas, Ticket, client_of

HEADER_SECONDS = 15.0
HEADER_BYTES = 1 << 17
"""For the address and the headers, and for what stands between two pieces of a body; an address may have half of it."""

_NO_ROOM = b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


SLICE = 1 << 14
"""Bytes that are parsed at a time: all requests in them become objects."""


class HttpConnection(HttpToolsProtocol):
    """uvicorn's protocol, with time limits for headers and bodies, quotas of connections, and the short path."""

    patience: asyncio.TimerHandle | None = None
    extensions: dict[str, Any] | None = None
    heir: asyncio.Protocol | None = None
    """The protocol that has taken the connection over; it also gets the bytes that came together with the handshake."""
    upgraded_at = 0
    quotas: Quotas | None = None
    proxies: Proxies = NOBODY
    """Trusted proxies: their connections carry many clients, and do not count against a quota."""
    rests_until = 0.0
    """When a connection without a request ends, by the clock of the loop; 0 while it has one."""
    place: Ticket | None = None
    quick: QuickUpdates | None = None
    body: bytearray | None = None
    """The part of an update's body that has arrived, on the short path."""
    is_reading = False
    """Whether headers, or such a body, are arriving: they have a time limit."""
    held = b""
    """Bytes behind requests that wait until the one before them is answered."""
    unheard = 0
    """Bytes since the parser last completed headers, a piece of a body, or a request; the parser holds them."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if self.quotas is not None and not self._has_place(self.quotas):
            transport.write(_NO_ROOM)
            transport.close()
            return
        if self.scheme == "https":
            self.extensions = {"tls": tls_extension(transport)}
        self._wait(HEADER_SECONDS)

    def on_message_begin(self) -> None:
        self.rests_until = 0.0
        self.url, self.headers, self.expect_100_continue = b"", [], False
        self.is_reading = True

    def _begin_scope(self) -> None:
        """What uvicorn does when a request begins. Those on the short path do without."""
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()
        self.url, self.expect_100_continue = url, expects
        self.headers = self.scope["headers"] = headers
        if self.extensions is not None:
            self.scope["extensions"] = self.extensions

    def on_headers_complete(self) -> None:
        self.unheard = 0
        self._stop()
        if self.quick is not None and self._is_quick(self.quick):
            self.body = bytearray()
        else:
            self.is_reading = False
            self._begin_scope()
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self.unheard = 0
        if self.body is None:
            super().on_body(body)
        else:
            self.body += body

    def on_message_complete(self) -> None:
        self.unheard = 0
        body, self.body = self.body, None
        if body is None:
            super().on_message_complete()
            return
        self._stop()
        self.is_reading = False
        assert self.quick is not None
        exchange = Exchange(self)
        before, self.cycle = self.cycle, cast(Any, exchange)
        address = self.client[0] if self.client else ""
        if not self.quick.submit(exchange, self.url, self.headers, bytes(body), address):
            self.cycle = before
            self._begin_scope()
            super().on_headers_complete()
            super().on_body(bytes(body))
            super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        self._stop_resting()
        self._give_place_back()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.held or self.pipeline:
            self.held += data
        elif len(data) <= SLICE:
            self._hear(data)
        else:
            self._hear_in_slices(data)

    def _hear_in_slices(self, data: bytes) -> None:
        """As far as requests are answered at once; the others wait as the bytes that they are."""
        for start in range(0, len(data), SLICE):
            if self.heir is not None:
                self.heir.data_received(data[start:])
                return
            if self.pipeline:
                self.held = data[start:]
                return
            self._hear(data[start : start + SLICE])
            if self.transport.is_closing():
                return

    def _hear_held(self) -> None:
        data, self.held = self.held, b""
        if data and not self.transport.is_closing():
            self.flow.resume_reading()
            self._hear_in_slices(data)

    def _hear(self, data: bytes) -> None:
        self.unheard += len(data)
        super().data_received(data)
        if self.unheard > HEADER_BYTES and self.heir is None:
            self._stop()
            self._refuse_headers()
            return
        if self.is_reading and self.patience is None:
            self._wait(HEADER_SECONDS if self.body is None else BODY_SECONDS)
        if self.heir is not None and (rest := data[self.upgraded_at :]) and not self.transport.is_closing():
            self.heir.data_received(rest)

    def on_response_complete(self) -> None:
        """uvicorn reads on after each answer, however many requests wait for theirs."""
        if self.pipeline:
            super().on_response_complete()
        else:
            self.server_state.total_requests += 1
            if not self.transport.is_closing():
                self.flow.resume_reading()
                self._rest()
        if self.transport.is_closing():
            return
        if self.pipeline or self.held:
            self.flow.pause_reading()
        if self.held and not self.pipeline:
            self.loop.call_soon(self._hear_held)

    # -- until the next request -----------------------------------------------------------------------------------
    # uvicorn sets and cancels a timer for each answer; here one goes on. With the scope that the short path does
    # without, that is 5 µs of the 78 that an update takes in front of an endpoint.

    def _rest(self) -> None:
        self.rests_until = self.loop.time() + self.timeout_keep_alive
        if self.timeout_keep_alive_task is None:
            self.timeout_keep_alive_task = self.loop.call_at(self.rests_until, self.timeout_keep_alive_handler)

    def _unset_keepalive_if_required(self) -> None:
        self.rests_until = 0.0

    def timeout_keep_alive_handler(self) -> None:
        self.timeout_keep_alive_task = None
        if not self.rests_until or self.transport.is_closing():
            return
        if self.loop.time() >= self.rests_until:
            self.transport.close()
        else:
            self.timeout_keep_alive_task = self.loop.call_at(self.rests_until, self.timeout_keep_alive_handler)

    def _stop_resting(self) -> None:
        if self.timeout_keep_alive_task is not None:
            self.timeout_keep_alive_task.cancel()
            self.timeout_keep_alive_task = None

    def handle_websocket_upgrade(self) -> None:
        """Refuse an upgrade while an earlier request is being answered: its answer would go into the WebSocket."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.send_400_response("A WebSocket cannot begin before the answer to the request before it has ended.")
            return
        upgrade = sys.exception()
        assert isinstance(upgrade, HttpParserUpgrade)
        self.upgraded_at = upgrade.args[0]
        self._stop_resting()
        self._give_place_back()  # the WebSocket gate counts the connection from here on
        super().handle_websocket_upgrade()
        self.heir = cast(asyncio.Protocol, self.transport.get_protocol())

    def _has_place(self, quotas: Quotas) -> bool:
        """Count the connection for its address. Returns False if the address has too many."""
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

    def _is_quick(self, quick: QuickUpdates) -> bool:
        """Whether this is an update for the short path, on a connection that stays open and has no request in work."""
        return (
            quick.takes(self.parser.get_method(), self.url, self.headers)
            and (self.cycle is None or self.cycle.response_complete)
            and not self.flow.write_paused
            and self.parser.should_keep_alive()
            and self.parser.get_http_version() == "1.1"
        )

    def _wait(self, seconds: float) -> None:
        self.patience = self.loop.call_later(seconds, self._give_up)

    def _stop(self) -> None:
        if self.patience is not None:
            self.patience.cancel()
            self.patience = None

    def _refuse_headers(self) -> None:
        """Whoever is being answered gets no other answer in between."""
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete:
            exchange = Exchange(self)
            exchange.keep_alive = False
            refuse(exchange, HeadersTooLarge(HEADER_BYTES))
        self.transport.close()

    def _give_up(self) -> None:
        if self.transport.is_closing():
            return
        if self.body is None:
            self.transport.close()
            return
        exchange = Exchange(self)
        exchange.keep_alive = False
        refuse(exchange, BodyTooSlow(f"the body did not arrive within {BODY_SECONDS:g} s"))


class Exchange:
    """An update on the short path. It stands in for uvicorn's request cycle, so later requests wait until it ends."""

    __slots__ = ("_connection", "disconnected", "keep_alive", "message_event", "response_complete")

    def __init__(self, connection: HttpConnection) -> None:
        self._connection = connection
        self.disconnected = False
        self.keep_alive = True
        self.response_complete = False
        self.message_event = _NOBODY_WAITS

    def answer(self, status: int, headers: bytes, document: bytes) -> None:
        self.response_complete = True
        if self.disconnected:
            return
        connection = self._connection
        usual = _usual(connection.server_state.default_headers)
        close = b"" if self.keep_alive else b"connection: close\r\n"
        length = b"content-type: application/json\r\ncontent-length: %d\r\n" % (len(document) + 1)
        connection.transport.write(
            b"".join((STATUS_LINE[status], usual, length, headers, close, b"\r\n", document, b"\n"))
        )
        if not self.keep_alive:
            connection.transport.close()
        connection.on_response_complete()


class _Usual:
    """The headers of every response as lines. uvicorn makes another list of them each second, for the date."""

    __slots__ = ("_headers", "_lines")

    def __init__(self) -> None:
        self._headers: list[tuple[bytes, bytes]] = []
        self._lines = b""

    def __call__(self, headers: list[tuple[bytes, bytes]]) -> bytes:
        if headers is not self._headers:
            self._headers, self._lines = headers, b"".join(b"%b: %b\r\n" % pair for pair in headers)
        return self._lines


_usual = _Usual()


class _NobodyWaits:
    """Stands in for the event that uvicorn sets when a body has arrived: on the short path, no task waits for it."""

    def set(self) -> None:
        pass


_NOBODY_WAITS = _NobodyWaits()


def counted(quotas: Quotas, proxies: Proxies, quick: QuickUpdates | None = None) -> type[HttpConnection]:
    """A class of connections that count against the quota of their address."""
    return type("CountedConnection", (HttpConnection,), {"quotas": quotas, "proxies": proxies, "quick": quick})
