"""Slow clients and dead ones at the WebSocket gate, and a broker that stops."""

import asyncio
import base64
import json
import os
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from picows import WSFrame, WSMsgType, WSTransport

from gates.client import Follower, Inbox, Message, connected, is_error
from gates.sockets import ALL, House, asynchronous, door, serving
from tidings.gates.websocket import connection
from waiting import PATIENCE, until


class Sloth:
    """A client that has shaken hands, sends, and reads only when told to."""

    def __init__(self, house: House) -> None:
        self._house = house
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._rest = b""

    async def connect(self, *messages: Message) -> "Sloth":
        """Messages are sent with the handshake: the broker has them before it can find that the client is slow."""
        loop = asyncio.get_running_loop()
        self.socket.setblocking(False)
        await loop.sock_connect(self.socket, ("127.0.0.1", self._house.port))
        key = base64.b64encode(os.urandom(16))
        await loop.sock_sendall(
            self.socket,
            b"GET /subscribe HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
            + key
            + b"\r\n\r\n"
            + b"".join(map(self._frame, messages)),
        )
        while b"\r\n\r\n" not in self._rest:
            self._rest += await loop.sock_recv(self.socket, 1024)
        self._rest = self._rest.partition(b"\r\n\r\n")[2]
        return self

    async def send(self, message: Message) -> None:
        await asyncio.get_running_loop().sock_sendall(self.socket, self._frame(message))

    def _frame(self, message: Message) -> bytes:
        document = json.dumps(message).encode()
        assert len(document) < 65_536
        short = len(document) < 126
        size = bytes((0x80 | len(document),)) if short else b"\xfe" + struct.pack(">H", len(document))
        return b"\x81" + size + bytes(4) + document  # masked with zeros

    async def _take(self, size: int) -> bytes:
        while len(self._rest) < size:
            part = await asyncio.get_running_loop().sock_recv(self.socket, 1 << 20)
            if not part:
                raise ConnectionResetError
            self._rest += part
        taken, self._rest = self._rest[:size], self._rest[size:]
        return taken

    async def frame(self) -> tuple[int, bytes]:
        """Read one frame, at last: its kind, and what is in it."""
        kind, size = await self._take(2)
        if size == 126:
            (size,) = struct.unpack(">H", await self._take(2))
        elif size == 127:
            (size,) = struct.unpack(">Q", await self._take(8))
        return kind & 0xF, await self._take(size)

    async def message(self) -> Message:
        kind, payload = await self.frame()
        while kind == 9:
            kind, payload = await self.frame()
        assert kind == 1, payload
        found = json.loads(payload)
        assert isinstance(found, dict)
        return found


@asynccontextmanager
async def sloth_at(house: House, *messages: Message) -> AsyncIterator[Sloth]:
    sloth = await Sloth(house).connect(*messages)
    try:
        yield sloth
    finally:
        sloth.socket.close()


def big(n: int) -> str:
    """An update that changes one row, of twenty thousand characters."""
    return f'DELETE {{ <a> <p> ?o }} INSERT {{ <a> <p> "{n}{"x" * 20_000}" }} WHERE {{ OPTIONAL {{ <a> <p> ?o }} }}'


@asynchronous
async def test_what_a_slow_client_misses_is_merged_while_others_go_on() -> None:
    updates = 400
    async with (
        serving(outbox=65_536) as house,
        connected(house) as publisher,
        connected(house, max_frame_size=1 << 24) as other,
        sloth_at(house) as sloth,
    ):
        await sloth.send({"subscribe": {"sparql": ALL, "alias": "it"}})
        quick = await other.follow(ALL)
        slow = Follower("it")
        slow.take(await sloth.message())
        for n in range(updates):
            await publisher.update(big(n))
            await quick.hear()
        assert quick.told == updates
        assert house.broker.outboxes.merged > 0
        received = 0
        while slow.answer != quick.answer:
            slow.take(await sloth.message())
            received += 1
        assert received < updates
        await publisher.update("CLEAR ALL")
        slow.take(await sloth.message())
        assert not slow.answer


@asynchronous
async def test_a_slow_client_is_let_go_if_that_is_the_policy_and_may_resume() -> None:
    async with (
        serving(outbox=65_536, slow="disconnect") as house,
        connected(house) as publisher,
        sloth_at(house) as sloth,
    ):
        await sloth.send({"subscribe": {"sparql": ALL, "alias": "it"}})
        slow = Follower("it")
        slow.take(await sloth.message())
        updates = 0
        while not house.broker.outboxes.dropped:
            await publisher.update(big(updates))
            updates += 1
        kind, payload = await sloth.frame()
        while kind != 8:
            slow.take(json.loads(payload))
            kind, payload = await sloth.frame()
        assert struct.unpack(">H", payload[:2]) == (4008,)
        assert b"resume" in payload
        sloth.socket.close()
        async with connected(house, max_frame_size=1 << 24) as again:
            resume = {"spuid": slow.spuid, "sequence": slow.told}
            message = await again.ask({"subscribe": {"resume": resume, "alias": "it"}})
            assert message["notification"]["resumed"] is True
            slow.take(message)
            assert [(value or "").rstrip("x") for _, value in slow.answer] == [str(updates - 1)]


@asynchronous
async def test_a_client_that_never_reads_is_let_go_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LINGER", 0.05)
    async with (
        serving(outbox=65_536, slow="disconnect") as house,
        connected(house) as publisher,
        sloth_at(house) as sloth,
    ):
        await sloth.send({"subscribe": {"sparql": ALL}})
        n = 0
        while len(house.gate.connections) > 1:
            await publisher.update(big(n))
            n += 1
        assert house.broker.subscriptions.absent == 1
        assert house.broker.outboxes.dropped == 1


@asynchronous
async def test_a_client_that_asks_and_never_reads_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BACKLOG", 1 << 20)
    monkeypatch.setattr(connection, "LINGER", 0.05)
    async with serving(outbox=65_536) as house, connected(house) as other, sloth_at(house) as sloth:
        await other.update(big(1))
        asked = house.gate.traffic.messages
        with suppress(ConnectionError):
            while len(house.gate.connections) > 1:
                await sloth.send({"query": {"sparql": "SELECT * { ?s ?p ?o }"}})
                asked += 1
                await until(lambda: house.gate.traffic.messages == asked or len(house.gate.connections) == 1)  # noqa: B023
        await until(lambda: len(house.gate.connections) == 1)
        await other.quiet()


@asynchronous
async def test_who_does_not_answer_a_ping_is_let_go_and_may_come_back() -> None:
    async with serving() as house, connected(house) as other, door(house, ping=0.05) as strict:
        follower = Follower("it")
        async with sloth_at(strict, {"subscribe": {"sparql": ALL, "alias": "it"}}) as dead:
            follower.take(await dead.message())
            kind, payload = await dead.frame()
            while kind == 9:
                kind, payload = await dead.frame()
            assert (kind, struct.unpack(">H", payload[:2])) == (8, (1001,))
        await until(lambda: house.broker.subscriptions.absent)
        await other.update("INSERT DATA { <a> <p> 1 }")
        async with connected(house) as again:
            follower.take(
                await again.ask({"subscribe": {"resume": {"spuid": follower.spuid, "sequence": 0}, "alias": "it"}})
            )
            assert len(follower.answer) == 1


class Attentive(Inbox):
    """Answers pings, and counts them."""

    def __init__(self) -> None:
        super().__init__()
        self.pings = 0

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type == WSMsgType.PING:
            self.pings += 1
            transport.send_pong(frame.get_payload_as_bytes())
        super().on_ws_frame(transport, frame)


async def is_pinged_again(house: House) -> bool:
    """Whether a client stays for a third ping; a busy machine may have it answer the first ones too late."""
    async with connected(house, inbox=Attentive, enable_auto_pong=False) as client:
        assert isinstance(client.inbox, Attentive)
        inbox = client.inbox
        await until(lambda: inbox.pings == 3 or inbox.closed)
        return inbox.closed is None


@asynchronous
async def test_who_answers_pings_stays() -> None:
    async with serving() as house, door(house, ping=0.05) as strict, asyncio.timeout(PATIENCE):
        while not await is_pinged_again(strict):
            pass


@asynchronous
async def test_an_evaluation_ends_when_its_client_leaves() -> None:
    endless = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o }"
    async with serving(slice=0.01) as house, connected(house) as other:
        await other.update("INSERT DATA { " + " ".join(f"<s> <p> {n} ." for n in range(200)) + " }")
        async with connected(house) as client:
            client.send({"query": {"sparql": endless}})
            await until(lambda: house.broker.forks.running)
        await until(lambda: not house.broker.forks.running)
        await other.quiet()


@asynchronous
async def test_a_broker_that_stops_says_goodbye() -> None:
    async with serving() as house, connected(house) as client:
        await client.follow(ALL)
        await house.gate.close()
        assert await client.inbox.end() == 1001
        assert not house.gate.connections
        assert house.broker.subscriptions.absent == 1


@asynchronous
async def test_a_broker_that_is_stopping_takes_no_requests() -> None:
    async with serving() as house, connected(house) as client:
        house.broker.end()
        for message in (
            {"subscribe": {"sparql": ALL, "alias": "x"}},
            {"update": {"sparql": "CLEAR ALL", "alias": "x"}},
            {"update": {"sparql": "CLEAR ALL", "alias": "x", "delay": 5}},
            {"query": {"sparql": "ASK {}", "alias": "x"}},
        ):
            assert is_error(await client.ask(message), 503, "shutting_down", "x")
