"""Hearing a target by the Subscribe language of SEPA, over WebSockets; the same for every broker, so that what they are
compared by is the same client.

Only what every SEPA broker does is relied upon: the answer to a subscribe is its first notification, the alias is
echoed in it and in errors, and later ones have the same `spuid`. The client library would do more, and too much: it
mends connections, numbers changes itself and adds up those that nobody reads, and a benchmark has to see all that.
"""

import asyncio
from itertools import count
from time import perf_counter
from typing import Any

import msgspec
from picows import WSCloseCode, WSError, WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from tidings.bench.targets import Arrival, Listening
from tidings.bench.targets.errors import TargetFailed, UnreachableTarget, translated
from tidings.bench.targets.wire.inbox import Inbox
from tidings.bench.targets.wire.rows import notified_rows
from tidings.client.discovery import subscribe_address
from tidings.client.errors import Refused
from tidings.model.errors import TidingsError
from tidings.protocol.answer_reading import decode_answer
from tidings.protocol.answers import Answer, Notification, Unsubscribed
from tidings.protocol.errors import BadMessage, Refusal

_LARGEST = 1 << 30


def arrival(at: float, notification: Notification) -> Arrival:
    return Arrival(at, notification.sequence, notified_rows(notification.added), notified_rows(notification.removed))


def read_answer(document: bytes) -> Answer | None:
    """Parse a message of a broker; None if its kind is unknown. Raises TargetFailed."""
    try:
        return decode_answer(document)
    except BadMessage as error:
        raise TargetFailed(f"the target says what makes no sense: {error}") from error


class Socket(WSListener):
    """One connection, and the subscriptions that it carries. Made by `open_socket`."""

    def __init__(self, address: str, timeout: float) -> None:
        self.address = address
        self._timeout = timeout
        self._transport: WSTransport
        self._numbers = count(1)
        self._starting: dict[str, asyncio.Future[str]] = {}
        self._by_alias: dict[str, Inbox] = {}
        self._by_spuid: dict[str, Inbox] = {}
        self._ending: dict[str, asyncio.Event] = {}
        self._parts: list[bytes] = []
        self._reason = "the connection was closed"
        self.is_open = False

    # -- subscriptions ------------------------------------------------------------------------------------------

    async def subscribe(self, text: str) -> Inbox:
        if not self.is_open:
            raise TargetFailed(f"{self.address} was lost: {self._reason}")
        alias = f"s{next(self._numbers)}"
        begun: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        inbox = Inbox(lambda: self._unsubscribe(begun))
        self._starting[alias], self._by_alias[alias] = begun, inbox
        try:
            self._send({"subscribe": {"sparql": text, "alias": alias}})
            async with asyncio.timeout(self._timeout):
                await begun
        except TimeoutError as error:
            raise TargetFailed(f"{self.address} did not answer a subscription in time") from error
        finally:
            self._starting.pop(alias, None)
            self._by_alias.pop(alias, None)
        return inbox

    async def _unsubscribe(self, begun: "asyncio.Future[str]") -> None:
        spuid = begun.result()
        if not self.is_open:
            return
        ended = self._ending[spuid] = asyncio.Event()
        self._send({"unsubscribe": {"spuid": spuid}})
        try:
            async with asyncio.timeout(self._timeout):
                await ended.wait()
        except TimeoutError as error:
            raise TargetFailed(f"{self.address} did not end a subscription in time") from error
        finally:
            del self._ending[spuid]
            self._by_spuid.pop(spuid, None)

    def _send(self, message: dict[str, Any]) -> None:
        self._transport.send(WSMsgType.TEXT, msgspec.json.encode(message))

    async def close(self) -> None:
        if self.is_open:
            self._reason = ""
            self._transport.send_close(WSCloseCode.OK)
            self._transport.disconnect()
            async with asyncio.timeout(self._timeout):
                await self._transport.wait_disconnected()

    # -- the socket ---------------------------------------------------------------------------------------------

    def on_ws_connected(self, transport: WSTransport) -> None:
        self._transport = transport
        self.is_open = True

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        at = perf_counter()
        if frame.msg_type == WSMsgType.CLOSE:
            self._reason = f"it closed the connection: {frame.get_close_reason() or frame.get_close_code()}"
            transport.send_close(WSCloseCode.OK)
            transport.disconnect()
        elif frame.msg_type in {WSMsgType.TEXT, WSMsgType.CONTINUATION, WSMsgType.BINARY}:
            self._parts.append(frame.get_payload_as_bytes())
            if frame.fin:
                document = b"".join(self._parts)
                self._parts.clear()
                self._hear(at, document)

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        self.is_open = False
        if self._reason:
            self._fail(TargetFailed(f"{self.address} was lost: {self._reason}"))
        for inbox in self._by_spuid.values():
            inbox.finish()
        for ended in self._ending.values():
            ended.set()

    def _hear(self, at: float, document: bytes) -> None:
        try:
            match read_answer(document):
                case Notification() as notification:
                    self._notified(at, notification)
                case Unsubscribed(spuid):
                    self._ended(spuid)
                case Refusal() as refusal:
                    self._refused(refusal)
                case _:
                    pass  # an unknown message
        except TidingsError as error:
            self._fail(error)

    def _notified(self, at: float, notification: Notification) -> None:
        inbox = self._by_spuid.get(notification.spuid)
        if inbox is None:
            alias = str(notification.alias or "")
            inbox = self._by_alias.get(alias)
            if inbox is None:
                return  # the suite has ended this subscription
            self._by_spuid[notification.spuid] = inbox
            if not self._starting[alias].done():
                self._starting[alias].set_result(notification.spuid)
        inbox.put(arrival(at, notification))

    def _ended(self, spuid: str) -> None:
        ended = self._ending.get(spuid)
        if ended is not None:
            ended.set()

    def _refused(self, refusal: Refusal) -> None:
        begun = self._starting.get(str(refusal.alias or ""))
        if begun is not None and not begun.done():
            begun.set_exception(Refused(refusal))
        elif self._ending:
            next(iter(self._ending.values())).set()  # it has ended already, or the broker refuses to end it
        else:
            self._fail(Refused(refusal))

    def _fail(self, error: TidingsError) -> None:
        for begun in self._starting.values():
            if not begun.done():
                begun.set_exception(error)
        for inbox in self._by_spuid.values():
            inbox.fail(error)


async def open_socket(address: str, timeout: float) -> Socket:
    """Connect. Raises UnreachableTarget."""
    try:
        async with asyncio.timeout(timeout):
            _, socket = await ws_connect(
                lambda: Socket(address, timeout),
                address,
                websocket_handshake_timeout=timeout,
                enable_auto_ping=True,
                auto_ping_idle_timeout=timeout,
                auto_ping_reply_timeout=timeout,  # a busy broker may not answer for long
                max_frame_size=_LARGEST,
            )
    except (OSError, WSError, TimeoutError, ValueError) as error:
        raise UnreachableTarget(f"no broker answers at {address}: {error or 'it takes too long'}") from error
    assert isinstance(socket, Socket)
    return socket


class OverSockets:
    """Subscriptions over WebSockets, at most `each` on one connection. At an `http://` address, the broker may name its
    WebSocket address."""

    def __init__(self, url: str, *, each: int, timeout: float) -> None:
        self._url = url
        self._each = each
        self._timeout = timeout
        self._address = ""
        self._sockets: list[Socket] = []
        self._room = 0
        self._making = asyncio.Lock()

    async def open(self) -> None:
        with translated(self._url):
            self._address = await subscribe_address(self._url, self._timeout)
        await self._socket()
        self._room = self._each

    async def close(self) -> None:
        sockets, self._sockets, self._room = self._sockets, [], 0
        await asyncio.gather(*(socket.close() for socket in sockets))

    async def subscribe(self, text: str) -> Listening:
        return await (await self._socket()).subscribe(text)

    async def _socket(self) -> Socket:
        """A socket that can take one more subscription."""
        async with self._making:
            if not self._room:
                self._sockets.append(await open_socket(self._address, self._timeout))
                self._room = self._each
            self._room -= 1
            return self._sockets[-1]
