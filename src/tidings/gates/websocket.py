"""The WebSocket gate: the Subscribe language, and updates and queries for publishers in a hurry.

    frame -> message -> request -> Broker        Parcel -> notification -> frame

Frames are handled as they come in, on the loop. A client that takes too little is marked as full, and its
notifications are added up until it has room.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, cast
from uuid import uuid4

import orjson
from msgspec import Struct
from picows import (
    WSCloseCode,
    WSFrame,
    WSListener,
    WSMsgType,
    WSTransport,
    WSUpgradeRequest,
    WSUpgradeResponse,
    WSUpgradeResponseWithListener,
)

from tidings.broker.broker import Broker
from tidings.broker.subscriptions.outbox import TOO_SLOW
from tidings.broker.subscriptions.subscriber import Alias, Parcel, Session, Subscriber
from tidings.broker.updates.accepted import Outcome
from tidings.engine.updates.operations import PreparedUpdate
from tidings.gates.errors import BadMessage, TooManyConnections, TooManyPrepared, UnknownPrepared
from tidings.gates.http.results import results_document
from tidings.model.errors import NotAllowed, NotFound, TidingsError
from tidings.protocol import notifications as wire
from tidings.protocol.messages import Request, alias_of, read
from tidings.sparql.binding import Bindable

PATHS = (b"/subscribe", b"/secure/subscribe", b"/sparql")
_LINGER = 5.0
"""Seconds that a client gets to take note of the end."""
_MOST_PREPARED = 1_000
_BACKLOG = 16 << 20
"""Bytes of answers that may wait for a client that does not read them."""

log = logging.getLogger("tidings")


class Terms(Struct, frozen=True):
    """On what terms connections are taken."""

    base: str
    max_message: int = 16 << 20
    max_connections: int = 20_000
    high_water: int = 1 << 18
    read_only: bool = False


class WebSocketGate:
    """Makes a connection of every client that knocks at the right door."""

    def __init__(self, broker: Broker, terms: Terms) -> None:
        self.broker = broker
        self.terms = terms
        self.connections: set[Connection] = set()
        self._laden: list[Connection] = []
        self.messages = 0
        self.errors = 0

    def listen(self, request: WSUpgradeRequest) -> "Connection | WSUpgradeResponseWithListener":
        """For picows: who handles a connection, or why nobody does."""
        path = request.path.partition(b"?")[0]
        if path not in PATHS:
            return _refused(NotFound(f"nothing lives at {path.decode('latin-1')}; subscribe at /subscribe"))
        if len(self.broker.sessions) >= self.terms.max_connections:
            return _refused(TooManyConnections(f"{self.terms.max_connections:,} clients are connected already"))
        if "websocket" not in request.headers.get("upgrade", "").lower():
            return _refused(BadMessage("this port speaks WebSocket; HTTP is at the other one"))
        return Connection(self)

    def will_flush(self, connection: "Connection") -> None:
        """A connection has something to send at the end of this turn of the loop."""
        if not self._laden:
            asyncio.get_running_loop().call_soon(self._flush)
        self._laden.append(connection)

    def _flush(self) -> None:
        laden, self._laden = self._laden, []
        for connection in laden:
            connection.flush()

    async def close(self) -> None:
        """Let everybody go."""
        for connection in list(self.connections):
            connection.close(WSCloseCode.GOING_AWAY.value, "the broker is stopping")
        deadline = asyncio.get_running_loop().time() + 1.0
        while self.connections and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(0.01)
        for connection in list(self.connections):
            connection.abort()


def _refused(error: TidingsError) -> WSUpgradeResponseWithListener:
    body = orjson.dumps(error.to_json(), option=orjson.OPT_APPEND_NEWLINE)
    response = WSUpgradeResponse.create_error_response(
        HTTPStatus(error.status), body, {"Content-Type": "application/json"}
    )
    return WSUpgradeResponseWithListener(response, None)


class Connection(WSListener):
    """One client."""

    def __init__(self, gate: WebSocketGate) -> None:
        self._gate = gate
        self._broker = gate.broker
        self._transport: WSTransport
        self._session: Session
        self._parts: list[bytes] = []
        self._size = 0
        self._frames: list[bytes] = []
        self._prepared: dict[str, Bindable[PreparedUpdate]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        """Answers that take their time; nobody needs them once the client is gone."""
        self._handlers: dict[str, Callable[[Request], None]] = {
            "subscribe": self._subscribe,
            "unsubscribe": self._unsubscribe,
            "update": self._update,
            "query": self._query,
            "prepare": self._prepare,
            "cancel": self._cancel,
        }

    # -- the socket ---------------------------------------------------------------------------------------------

    def on_ws_connected(self, transport: WSTransport) -> None:
        self._transport = transport
        transport.underlying_transport.set_write_buffer_limits(high=self._gate.terms.high_water)
        self._session = self._broker.connect(self)
        self._gate.connections.add(self)

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        self._gate.connections.discard(self)
        for task in self._tasks:
            task.cancel()
        self._broker.disconnect(self._session)

    def pause_writing(self) -> None:
        self._broker.filled(self._session)

    def resume_writing(self) -> None:
        self._broker.drained(self._session)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        kind = frame.msg_type
        if kind == WSMsgType.CLOSE:
            if self._frames:
                self.flush()
            code = frame.get_close_code()  # a client may close without one, and must not be answered with none
            transport.send_close(WSCloseCode.OK if code == WSCloseCode.NO_INFO else code)
            transport.disconnect()
        elif kind in {WSMsgType.TEXT, WSMsgType.BINARY, WSMsgType.CONTINUATION}:
            if frame.fin and not self._parts:
                self._handle(frame.get_payload_as_bytes())
            else:
                self._collect(frame)

    def _collect(self, frame: WSFrame) -> None:
        """A message in several frames."""
        self._parts.append(frame.get_payload_as_bytes())
        self._size += frame.payload_size
        if self._size > self._gate.terms.max_message:
            self._whole()
            self.close(WSCloseCode.MESSAGE_TOO_BIG.value, f"more than {self._gate.terms.max_message:,} bytes")
        elif frame.fin:
            self._handle(self._whole())

    def _whole(self) -> bytes:
        """All that was collected; the next message begins anew."""
        document = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        return document

    def _send(self, document: bytes) -> None:
        """An answer. It waits for the end of the turn of the loop: all that came together goes out together."""
        if self._session.full and self._transport.underlying_transport.get_write_buffer_size() > _BACKLOG:
            self.close(TOO_SLOW, "answers are not being read")
            return
        frames = self._frames
        if not frames:
            self._gate.will_flush(self)
        frames.append(wire.frame(len(document)))
        frames.append(document)

    def flush(self) -> None:
        """Hand what has gathered to the socket, at once. Sending a thousand messages to as many clients is a thousand
        calls of the system, most of the work; thirty messages to each of them are the same thousand calls."""
        frames, self._frames = self._frames, []
        transport = self._transport
        if transport.is_disconnected or transport.is_close_frame_sent:
            return
        if len(frames) == 2:
            transport.send(WSMsgType.TEXT, frames[1])  # straight to the system, which the loop's way is not
        else:
            transport.underlying_transport.write(b"".join(frames))

    def close(self, code: int, reason: str) -> None:
        """Let the client go, in good manners for some seconds."""
        transport = self._transport
        if transport.is_disconnected or transport.is_close_frame_sent:
            return
        if self._frames:
            self.flush()
        transport.send_close(cast(WSCloseCode, code), reason.encode()[:120])  # any number of four digits will do
        transport.disconnect()
        asyncio.get_running_loop().call_later(_LINGER, self.abort)

    def abort(self) -> None:
        self._transport.disconnect(False)

    def deliver(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None:
        frames = self._frames
        if not frames:
            self._gate.will_flush(self)
        document = wire.notification(subscriber, sequence, parcel)
        frames.append(wire.frame(len(document)))
        frames.append(document)

    # -- requests -----------------------------------------------------------------------------------------------

    def _handle(self, document: bytes) -> None:
        self._gate.messages += 1
        request: Request | None = None
        try:
            kind, request = read(document)
            self._handlers[kind](request)
        except TidingsError as error:
            self._refuse(error, request, document)
        except Exception:
            log.exception("a message was too much for us")
            self._refuse(TidingsError("something went wrong here; it is in the log"), request, document)

    def _refuse(self, error: TidingsError, request: Request | None, document: bytes = b"") -> None:
        self._gate.errors += 1
        if request is None:
            echo = alias_of(document)
            self._send(wire.refusal(error, echo.get("alias"), echo.get("spuid")))
        else:
            self._send(wire.refusal(error, request.alias, request.spuid))

    def _subscribe(self, request: Request) -> None:
        def answered(subscriber: Subscriber, parcel: Parcel, resumed: bool) -> None:
            said = resumed if request.resume is not None else None
            self._send(wire.notification(subscriber, subscriber.sequence, parcel, said))

        def refused(error: TidingsError) -> None:
            self._refuse(error, request)

        resume = request.resume
        if resume is not None:
            try:
                self._broker.resume(self._session, resume.spuid, resume.sequence, request.alias, answered, refused)
            except NotFound:
                if request.sparql is None:
                    raise
            else:
                return
        dataset = request.dataset(self._gate.terms.base)
        self._broker.subscribe(
            self._session, request.text, dataset, request.alias, answered, refused, encode=wire.encoded
        )

    def _unsubscribe(self, request: Request) -> None:
        spuid = request.spuid or self._spuid_of(request.alias)
        done = orjson.dumps({"unsubscribed": {"spuid": spuid} | _echo(request.alias)})
        self._broker.unsubscribe(self._session, spuid, lambda: self._send(done))

    def _spuid_of(self, alias: Alias) -> str:
        """The subscription of this connection that has an alias, if there is exactly one."""
        found = [each.spuid for each in self._session.subscribers.values() if each.alias == alias]
        if alias is None or len(found) != 1:
            raise BadMessage("the member spuid is missing, and the alias does not name exactly one subscription")
        return found[0]

    def _update(self, request: Request) -> None:
        if self._gate.terms.read_only:
            raise NotAllowed("this broker is read-only")
        alias = request.alias
        publisher = request.named_publisher

        def reply(result: Outcome) -> None:
            self._send(wire.outcome(result, alias))

        if request.prepared is not None:
            template = self._prepared.get(request.prepared)
            if template is None:
                raise UnknownPrepared(f"nothing was prepared as {request.prepared} on this connection")
            if request.at is not None or request.delay is not None:
                raise BadMessage("a prepared update happens at once; send a delayed one as text")
            self._broker.submit_bound(template, request.bound(self._gate.terms.base), reply, publisher)
            return
        at = request.instant(self._broker.now())
        dataset = request.dataset(self._gate.terms.base)
        if at is None:
            self._broker.submit(request.text, dataset, reply, publisher)
            return

        async def accept() -> bytes:
            delayed = await self._broker.delay(request.text, dataset, at, publisher)
            return wire.response(wire.delayed_json(delayed), alias)

        self._answer_later(request, accept())

    def _cancel(self, request: Request) -> None:
        if request.delayed is None:
            raise BadMessage("the member delayed is missing: it names the update to cancel")
        number = request.delayed

        async def cancel() -> bytes:
            delayed = await self._broker.cancel_delayed(number)
            return wire.response({"cancelled": delayed.id}, request.alias)

        self._answer_later(request, cancel())

    def _query(self, request: Request) -> None:
        dataset = request.dataset(self._gate.terms.base)

        async def answer() -> bytes:
            spool = await self._broker.query(request.text, dataset, results_document)
            with spool.file as file:
                document: dict[str, Any] = orjson.loads(file.read())
            return wire.response(document, request.alias)

        self._answer_later(request, answer())

    def _prepare(self, request: Request) -> None:
        if len(self._prepared) >= _MOST_PREPARED:
            raise TooManyPrepared(f"{_MOST_PREPARED:,} updates are prepared on this connection already")
        template = self._broker.prepare(request.text, request.dataset(self._gate.terms.base))
        name = uuid4().hex
        self._prepared[name] = template
        self._send(wire.response({"prepared": name, "variables": template.variables}, request.alias))

    def _answer_later(self, request: Request, work: Awaitable[bytes]) -> None:
        async def answer() -> None:
            try:
                self._send(await work)
            except TidingsError as error:
                self._refuse(error, request)
            except Exception:
                log.exception("a message was too much for us")
                self._refuse(TidingsError("something went wrong here; it is in the log"), request)

        task = asyncio.get_running_loop().create_task(answer())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _echo(alias: Alias) -> dict[str, Alias]:
    return {} if alias is None else {"alias": alias}
