"""A broker behind its WebSocket gate, on a real socket of the test's own loop, and the clients that meet it there."""

import asyncio
import json
import struct
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ParamSpec

import uvloop
from picows import WSCloseCode, WSFrame, WSListener, WSMsgType, WSTransport, ws_connect, ws_create_server

import waiting
from tidings.broker.broker import Broker
from tidings.gates.websocket.gate import WebSocketGate
from tidings.server import app
from tidings.server.config import Settings
from waiting import PATIENCE, until

Message = dict[str, Any]
Row = tuple[str | None, ...]
ALL = "SELECT ?s ?o { ?s <p> ?o }"
P = ParamSpec("P")


def asynchronous(test: Callable[P, Coroutine[None, None, None]]) -> Callable[P, None]:
    """On the loop that brokers run on."""
    return waiting.asynchronous(test, uvloop.new_event_loop)


@dataclass(frozen=True)
class House:
    """A broker behind its gate."""

    broker: Broker
    gate: WebSocketGate
    settings: Settings
    port: int

    def address(self, path: str = "/subscribe") -> str:
        return f"ws://127.0.0.1:{self.port}{path}"

    async def nobody(self) -> None:
        """Until all clients are gone."""
        await until(lambda: not self.gate.connections)


@asynccontextmanager
async def serving(**changes: Any) -> AsyncIterator[House]:
    values: dict[str, Any] = {"slice": PATIENCE, "ping": PATIENCE, **changes}
    settings = Settings(**values)
    async with app.build_broker(settings) as broker:
        gate = app.websocket_gate(broker, settings)
        try:
            async with door(House(broker, gate, settings, 0)) as house:
                yield house
        finally:
            await gate.close()


@asynccontextmanager
async def door(house: House, *, handshake: float = PATIENCE, **changes: Any) -> AsyncIterator[House]:
    """The same house through a door of its own. Where little time is allowed, only those knock who are to be late."""
    options = app._picows(replace(house.settings, **changes)) | {"websocket_handshake_timeout": handshake}
    server = await ws_create_server(house.gate.listen, "127.0.0.1", 0, **options)
    try:
        yield replace(house, port=server.sockets[0].getsockname()[1])
    finally:
        server.close()


class Inbox(WSListener):
    """Whole messages, in the order they came; then None, when the socket is closed."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[Message | None] = asyncio.Queue()
        self.closed: int | None = None
        self.reason = ""
        self.transport: WSTransport

    def on_ws_connected(self, transport: WSTransport) -> None:
        self.transport = transport

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type == WSMsgType.TEXT:
            assert frame.fin
            self.messages.put_nowait(json.loads(frame.get_payload_as_bytes()))
        elif frame.msg_type == WSMsgType.CLOSE:
            (self.closed,) = struct.unpack(">H", frame.get_payload_as_bytes()[:2])
            self.reason = frame.get_close_reason() or ""
            transport.send_close(WSCloseCode.OK)
            transport.disconnect()

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        self.messages.put_nowait(None)

    async def end(self) -> int | None:
        """The code with which the socket is closed, whatever comes before."""
        while await asyncio.wait_for(self.messages.get(), PATIENCE) is not None:
            pass
        return self.closed


class Client:
    """A socket of a client, and what there is to know about it."""

    def __init__(self, transport: WSTransport, inbox: Inbox) -> None:
        self.transport = transport
        self.inbox = inbox

    def send(self, message: Message | str) -> None:
        text = message if isinstance(message, str) else json.dumps(message)
        self.transport.send(WSMsgType.TEXT, text.encode())

    async def next(self) -> Message:
        message = await asyncio.wait_for(self.inbox.messages.get(), PATIENCE)
        assert message is not None, f"the broker closed the socket: {self.inbox.closed}"
        return message

    async def ask(self, message: Message | str) -> Message:
        """What comes next after a message."""
        self.send(message)
        return await self.next()

    async def update(self, text: str) -> Message:
        """What a commit says about itself, asked on a socket that has no subscriptions."""
        response = (await self.ask({"update": {"sparql": text}}))["response"]
        assert isinstance(response, dict)
        return response

    async def follow(self, text: str, alias: str = "it") -> "Follower":
        """Subscribe on a socket whose other subscriptions have nothing to say right now."""
        follower = Follower(alias)
        follower.take(await self.ask({"subscribe": {"sparql": text, "alias": alias}}))
        return follower

    async def hear(self, follower: "Follower") -> None:
        """Take the next message, which is the next notification of a subscription."""
        follower.take(await self.next())

    async def quiet(self) -> None:
        """Nothing more comes: the answer to something else is the next message."""
        assert (await self.ask({"query": {"sparql": "ASK {}", "alias": "quiet"}}))["response"]["alias"] == "quiet"


@dataclass
class Follower:
    """A subscription, and the answer that its notifications add up to, as rows in the order of the head."""

    alias: str
    spuid: str = ""
    told: int = -1
    answer: Counter[Row] = field(default_factory=Counter)

    def take(self, message: Message) -> None:
        assert set(message) == {"notification"}, message
        notification = message["notification"]
        self.told += 1
        assert (notification["alias"], notification["sequence"]) == (self.alias, self.told)
        self.spuid = self.spuid or notification["spuid"]
        assert notification["spuid"] == self.spuid
        removed, added = Counter(rows(notification["removedResults"])), Counter(rows(notification["addedResults"]))
        assert removed <= self.answer, f"a row was removed that was not there: {removed - self.answer}"
        self.answer = self.answer - removed + added


def rows(results: Message) -> list[Row]:
    variables = results["head"]["vars"]
    return [
        tuple(row[name]["value"] if name in row else None for name in variables)
        for row in results["results"]["bindings"]
    ]


@asynccontextmanager
async def connected(
    house: House, path: str = "/subscribe", inbox: type[Inbox] = Inbox, **options: Any
) -> AsyncIterator[Client]:
    transport, listener = await ws_connect(inbox, house.address(path), websocket_handshake_timeout=PATIENCE, **options)
    assert isinstance(listener, Inbox)
    try:
        yield Client(transport, listener)
    finally:
        transport.disconnect()
        await asyncio.wait_for(transport.wait_disconnected(), PATIENCE)


def is_error(message: Message, status: int, code: str, alias: object = None) -> bool:
    found = (message["status_code"], message["error"], message.get("alias"))
    return found == (status, code, alias) and isinstance(message["error_description"], str)
