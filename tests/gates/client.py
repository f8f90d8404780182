"""The WebSocket client of the tests: messages as they come, and the answer that the notifications add up to."""

import asyncio
import json
import struct
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from picows import WSCloseCode, WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from waiting import PATIENCE

Message = dict[str, Any]
Row = tuple[str | None, ...]
Graphs = str | list[str] | None  # as a request names them: one, several, or no word about it
PATH = "/subscribe"


class Served(Protocol):
    """A broker, wherever it runs."""

    @property
    def ws(self) -> str:
        """The address of its WebSocket gate."""


class Inbox(WSListener):
    """Whole messages, in the order they came; then None, when the socket is closed."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[Message | None] = asyncio.Queue()
        self.closed: int | None = None
        self.reason = ""
        self.transport: WSTransport
        self._pieces: list[bytes] = []

    def on_ws_connected(self, transport: WSTransport) -> None:
        self.transport = transport

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type in (WSMsgType.TEXT, WSMsgType.CONTINUATION):
            self._pieces.append(frame.get_payload_as_bytes())
            if frame.fin:
                self.messages.put_nowait(json.loads(b"".join(self._pieces)))
                self._pieces.clear()
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
    """A WebSocket that carries JSON objects both ways."""

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
        response = (await self.ask({"update": {"sparql": text, "alias": "update"}}))["response"]
        assert isinstance(response, dict)
        assert response["alias"] == "update"
        return response

    async def follow(self, text: str, alias: str = "it", *, default: Graphs = None, named: Graphs = None) -> "Follower":
        """Subscribe on a socket whose other subscriptions have nothing to say right now."""
        dataset = {"default-graph-uri": default, "named-graph-uri": named}
        given = {member: graphs for member, graphs in dataset.items() if graphs is not None}
        self.send({"subscribe": {"sparql": text, "alias": alias} | given})
        follower = Follower(alias, self)
        await follower.hear()
        return follower

    async def quiet(self) -> None:
        """Nothing more comes: the answer to something else is the next message."""
        assert (await self.ask({"query": {"sparql": "ASK {}", "alias": "quiet"}}))["response"]["alias"] == "quiet"


@dataclass
class Follower:
    """A subscription, and the answer that its notifications add up to, as rows in the order of the head."""

    alias: str
    _client: Client | None = None
    spuid: str = ""
    told: int = -1
    answer: Counter[Row] = field(default_factory=Counter)

    @property
    def client(self) -> Client:
        """Whose notifications they are, where they do not come by other ways."""
        assert self._client is not None
        return self._client

    def move(self, client: Client) -> None:
        """From here on, another connection is told."""
        self._client = client

    async def hear(self) -> None:
        """Take the next message of the socket, which is the next notification of this subscription."""
        self.take(await self.client.next())

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


def is_error(message: Message, status: int, code: str, alias: object = None) -> bool:
    found = (message["status_code"], message["error"], message.get("alias"))
    return found == (status, code, alias) and isinstance(message["error_description"], str)


@asynccontextmanager
async def connected(
    broker: Served, path: str = PATH, inbox: type[Inbox] = Inbox, **options: Any
) -> AsyncIterator[Client]:
    address = broker.ws.removesuffix(PATH) + path
    transport, listener = await ws_connect(inbox, address, websocket_handshake_timeout=PATIENCE, **options)
    assert isinstance(listener, Inbox)
    try:
        yield Client(transport, listener)
    finally:
        transport.disconnect()
        await asyncio.wait_for(transport.wait_disconnected(), PATIENCE)
