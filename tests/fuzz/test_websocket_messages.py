"""Messages made up from valid ones, from any JSON and from any bytes, whole and in pieces, over a real socket.

Every message gets an answer, or the connection a clean end; and of a client that is gone nothing is left.
"""

import asyncio
import base64
import os
import struct
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from picows import WSMsgType

from gates.client import connected
from gates.sockets import House, serving
from tidings.gates.quotas import Quotas
from waiting import PATIENCE, until

SPUID = "urn:uuid:00000000-0000-4000-8000-000000000000"
SELECT = "SELECT ?s ?o WHERE { ?s <p> ?o }"
VALID: list[dict[str, Any]] = [
    {"subscribe": {"sparql": SELECT, "alias": "all"}},
    {"subscribe": {"sparql": SELECT, "default-graph-uri": "http://g.example/", "named-graph-uri": ["http://n.example/"]}},
    {"subscribe": {"spuid": SPUID, "sequence": 3, "sparql": SELECT}},
    {"unsubscribe": {"spuid": SPUID}},
    {"unsubscribe": {"alias": "all"}},
    {"update": {"sparql": "INSERT DATA { <s> <p> 1 }", "alias": 7}},
    {"update": {"sparql": "INSERT DATA { <s> <p> 2 }", "delay": "PT1H"}},
    {"update": {"sparql": "INSERT DATA { <s> <p> 2 }", "at": "2999-01-01T00:00:00Z"}},
    {"update": {"prepared": "nothing", "bindings": {"o": {"type": "literal", "value": "1"}}}},
    {"query": {"sparql": SELECT, "alias": None}},
    {"prepare": {"sparql": "INSERT { <s> <p> ?o } WHERE {}"}},
    {"cancel": {"delayed": "1"}},
]  # fmt: skip
NAMES = [
    "sparql",
    "alias",
    "spuid",
    "sequence",
    "delay",
    "at",
    "prepared",
    "bindings",
    "authorization",
    "subscribe",
    "",
]
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(NAMES)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=5), inner),
    max_leaves=12,
)


@st.composite
def mutations(draw: st.DrawFn) -> bytes:
    """A valid message in which something is left out, added, or something else."""
    message = orjson.loads(orjson.dumps(draw(st.sampled_from(VALID))))
    for _ in range(draw(st.integers(0, 3))):
        inner = next(iter(message.values()), None)
        place = draw(st.sampled_from([each for each in (message, inner) if isinstance(each, dict)]))
        name = draw(st.sampled_from([*place, *NAMES]))
        if draw(st.booleans()):
            place.pop(name, None)
        else:
            place[name] = draw(JSON)
    return written(message)


def written(value: object) -> bytes:
    """JSON; what it cannot say is left as something that is none."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return b'{"update": NaN}'


DOCUMENTS = mutations() | JSON.map(written) | st.binary(max_size=60) | st.sampled_from([b"[" * 5000, b'{"a":' * 5000])


class Runs:
    """One broker for all examples of a test."""

    def __init__(self, runner: asyncio.Runner, house: House) -> None:
        self.runner = runner
        self.house = house

    @property
    def quotas(self) -> Quotas:
        return self.house.gate.quotas

    async def is_as_before(self) -> None:
        """Until nothing is left of anybody, and a newcomer is answered."""
        broker, quotas = self.house.broker, self.quotas
        await self.house.nobody()
        for each in list(broker.schedule):
            await broker.cancel_delayed(each.id)
        broker.run_due()
        await until(lambda: not len(broker.subscriptions) and not broker.sessions and not broker.forks.running)
        await until(lambda: not (quotas.requests.counts or quotas.updates.counts or quotas.connections.counts))
        async with connected(self.house) as client:
            assert b"boolean" in orjson.dumps(await client.ask({"query": {"sparql": "ASK {}"}}))
        await self.house.nobody()


@pytest.fixture
def runs() -> Iterator[Runs]:
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        house = runner.run(stack.enter_async_context(serving(grace=0.0, client_rate=0.0)))
        try:
            yield Runs(runner, house)
        finally:
            runner.run(stack.aclose())


def is_answer(message: dict[str, Any]) -> bool:
    """Whether a message answers one of ours, and does not tell of a change."""
    return "notification" not in message or message["notification"]["sequence"] == 0


def test_every_message_gets_an_answer_and_nothing_is_left_of_its_client(runs: Runs) -> None:
    async def converse(documents: list[bytes]) -> None:
        async with connected(runs.house) as client:
            for document in documents:
                client.transport.send(WSMsgType.TEXT, document)
            answered = 0
            while answered < len(documents):
                answered += is_answer(await client.next())
        await runs.is_as_before()

    @settings(max_examples=40)
    @given(st.lists(DOCUMENTS, min_size=1, max_size=8))
    def run(documents: list[bytes]) -> None:
        runs.runner.run(converse(documents))

    run()


FRAMES = st.tuples(st.sampled_from([0, 1, 2, 3, 8, 9, 10, 11]), st.booleans(), DOCUMENTS.map(lambda each: each[:120]))


def test_any_frames_are_answered_or_the_connection_ends_and_the_broker_goes_on(runs: Runs) -> None:
    async def send(frames: list[tuple[int, bool, bytes]], torn: int) -> None:
        reader, writer = await handshake(runs.house.port)
        sent = b"".join(frame(*each) for each in frames)
        for piece in (sent[:torn], sent[torn:]):
            writer.write(piece)
            await writer.drain()
        writer.write(frame(9, True, b"are you there"))
        writer.write_eof()
        async with asyncio.timeout(PATIENCE):
            await reader.read()  # until the broker has said all it has to say, and closed
        writer.close()
        await runs.is_as_before()

    @settings(max_examples=40)
    @given(st.lists(FRAMES, max_size=6), st.integers(0, 300))
    def run(frames: list[tuple[int, bool, bytes]], torn: int) -> None:
        runs.runner.run(send(frames, torn))

    run()


def test_bytes_that_are_no_frames_end_the_connection_and_the_broker_goes_on(runs: Runs) -> None:
    async def send(sent: bytes) -> None:
        reader, writer = await handshake(runs.house.port)
        writer.write(sent)
        writer.write_eof()
        async with asyncio.timeout(PATIENCE):
            await reader.read()
        writer.close()
        await runs.is_as_before()

    @settings(max_examples=30)
    @given(st.binary(max_size=200))
    def run(sent: bytes) -> None:
        runs.runner.run(send(sent))

    run()


async def handshake(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    key = base64.b64encode(os.urandom(16)).decode()
    lines = ("GET /subscribe HTTP/1.1", f"Host: 127.0.0.1:{port}", "Upgrade: websocket", "Connection: Upgrade")
    asked = "\r\n".join((*lines, f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "", ""))
    writer.write(asked.encode())
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101")
    return reader, writer


def frame(opcode: int, fin: bool, payload: bytes) -> bytes:
    """As a client sends it (RFC 6455, section 5.2), masked with zeros."""
    head = bytes([opcode | (0x80 if fin else 0)])
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else bytes([0x80 | 126]) + struct.pack(">H", size)
    return head + length + bytes(4) + payload
