"""One WebSocket to a broker. A link sends requests, matches answers to them by alias, and passes notifications on.

A link lives as long as its socket. After that, `connection` opens another one.
"""

import asyncio
import logging
from collections.abc import Callable
from itertools import count
from typing import Any

import msgspec
from picows import (
    WSCloseCode,
    WSError,
    WSFrame,
    WSListener,
    WSMsgType,
    WSTransport,
    ws_connect,
)

from tidings.client.errors import CannotConnect, ConnectionLost, NotUnderstood, Refused, unreachable
from tidings.client.login.addresses import without_credentials
from tidings.client.login.credentials import Token
from tidings.client.trust import SYSTEM, Trust
from tidings.protocol.answer_reading import decode_answer
from tidings.protocol.answers import Answer, Notification, Unsubscribed
from tidings.protocol.errors import BadMessage, Refusal

_PING_SECONDS = 20.0
_LARGEST = 1 << 30
_REDIRECTS = 5
_LOGGER = "tidings"
logging.getLogger(f"picows.{_LOGGER}").setLevel(logging.DEBUG)  # one step below, picows logs whole handshakes

_GOODBYE = 2.0
"""Seconds that `close` waits for the broker to close the connection, too."""


class Link(WSListener):
    """A link, made by `open_link`. It calls `notified` with every notification, and `closed` once, with the reason."""

    def __init__(
        self,
        notified: Callable[[Notification | Unsubscribed], None],
        closed: Callable[[ConnectionLost], None],
        shown: Token | None = None,
    ) -> None:
        self._notified = notified
        self._closed = closed
        self._transport: WSTransport
        self._waiting: dict[str, asyncio.Future[Answer]] = {}
        self._numbers = count(1)
        self._parts: list[bytes] = []
        self._reason = "the connection was closed"
        self.shown = shown
        """The token that the broker has, or gets with the next request."""
        self._next: dict[str, str] = {}
        self.is_open = False

    # -- requests -----------------------------------------------------------------------------------------------

    def name(self, kind: str) -> str:
        """An alias that this link has not used yet."""
        return f"{kind}-{next(self._numbers)}"

    def show(self, token: Token) -> None:
        """Show another token with the next request."""
        self.shown = token
        self._next = {"authorization": token.header}

    def send(self, kind: str, content: dict[str, Any], alias: str | None = None) -> "asyncio.Future[Answer]":
        """Send a request; the future is its answer. Raises ConnectionLost."""
        if not self.is_open:
            raise ConnectionLost("there is no connection")
        alias = alias or self.name(kind)
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[alias] = answer
        message = {kind: {**content, **self._next, "alias": alias}}
        self._next = {}
        self._transport.send(WSMsgType.TEXT, msgspec.json.encode(message))
        return answer

    async def close(self) -> None:
        """Close the connection, and wait until the socket is closed: over TLS, that takes some round trips."""
        if self.is_open:
            self._transport.send_close(WSCloseCode.OK)
            self._transport.disconnect()
            try:
                await asyncio.wait_for(self._transport.wait_disconnected(), _GOODBYE)
            except TimeoutError:
                self._transport.disconnect(graceful=False)

    # -- the socket ---------------------------------------------------------------------------------------------

    def on_ws_connected(self, transport: WSTransport) -> None:
        self._transport = transport
        self.is_open = True

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type == WSMsgType.CLOSE:
            self._reason = f"the broker closed the connection: {frame.get_close_reason() or frame.get_close_code()}"
            transport.send_close(WSCloseCode.OK)
            transport.disconnect()
        elif frame.msg_type in {WSMsgType.TEXT, WSMsgType.CONTINUATION, WSMsgType.BINARY}:
            self._parts.append(frame.get_payload_as_bytes())
            if frame.fin:
                document = b"".join(self._parts)
                self._parts.clear()
                self._take(document)

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        self.is_open = False
        error = ConnectionLost(self._reason)
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(error)
        self._waiting.clear()
        self._closed(error)

    def _take(self, document: bytes) -> None:
        try:
            answer = decode_answer(document)
        except BadMessage as error:
            raise NotUnderstood(str(error)) from error
        if answer is None or not isinstance(answer.alias, str):
            return  # a message of a later version, which the protocol allows
        if isinstance(answer, Notification) or (isinstance(answer, Unsubscribed) and answer.reason is not None):
            self._notified(answer)
        waiting = self._waiting.pop(answer.alias, None)
        if waiting is None or waiting.done():
            return
        if isinstance(answer, Refusal):
            waiting.set_exception(Refused(answer))
        else:
            waiting.set_result(answer)


async def open_link(
    url: str,
    notified: Callable[[Notification | Unsubscribed], None],
    closed: Callable[[ConnectionLost], None],
    *,
    seconds: float,
    trust: Trust = SYSTEM,
    shown: Token | None = None,
) -> Link:
    """Connect. Raises CannotConnect, CannotTrust."""
    url, headers = without_credentials(url)
    if shown is not None:
        headers = {"Authorization": shown.header}
    context = trust.context()
    try:
        async with asyncio.timeout(2 * seconds):
            _, link = await ws_connect(
                lambda: Link(notified, closed, shown),
                url,
                ssl_context=context,
                websocket_handshake_timeout=seconds,
                enable_auto_ping=True,
                auto_ping_idle_timeout=_PING_SECONDS,
                auto_ping_reply_timeout=_PING_SECONDS,
                max_frame_size=_LARGEST,
                logger_name=_LOGGER,
                extra_headers=headers,
                max_redirects=0 if headers else _REDIRECTS,  # credentials are for this address only
            )
    except (OSError, WSError, TimeoutError) as error:
        raise unreachable("no broker", url, error) from error
    if not isinstance(link, Link):  # picows has none if the socket broke during the handshake
        raise CannotConnect(f"no broker answers at {url}: the connection was closed at once")
    return link
