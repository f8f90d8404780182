"""The gate on a real socket: whatever comes, nobody else is held up, and nothing is left of those who are gone."""

import asyncio
import socket
import struct
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hypothesis import given, settings
from hypothesis import strategies as st

from broker.making import BASE, Clock, in_memory
from endurance import often
from gates.smart_m3.kp import patterns, request, triple
from tidings.gates.premises import Premises
from tidings.gates.quotas import Quota, Quotas
from tidings.gates.smart_m3.gate import SmartM3Gate
from tidings.server.listening import listen
from waiting import PATIENCE, asynchronous, until

sys.path.append(str(Path(__file__).parents[3] / "examples" / "smart_m3"))

from ssap import KnowledgeProcessor, Literal

IDLE = 1.0
"""Seconds: more than a busy machine lets pass between two words of somebody who is not idle."""
LAMP, STATE = "http://e/lamp", "http://e/state"
ASKED = request("SUBSCRIBE", patterns(triple(LAMP, STATE, "x", "literal")))


class Door:
    def __init__(self, gate: SmartM3Gate) -> None:
        self.gate = gate
        place = urlsplit(gate.address)
        assert place.hostname is not None
        assert place.port is not None
        self.kp = KnowledgeProcessor("kp", place.hostname, place.port)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        async with self.kp.connected() as wire, asyncio.timeout(PATIENCE):
            yield wire.reader, wire.writer

    async def is_left(self) -> None:
        """Until nobody is there any more."""
        broker = self.gate.premises.broker
        await until(lambda: not self.gate.connections and not broker.sessions and not self.gate.holders)


@asynccontextmanager
async def door(quota: Quota | None = None, max_body: int = 1 << 20, **changes: Any) -> AsyncIterator[Door]:
    async with in_memory(Clock()) as broker:
        premises = Premises(broker, Quotas(quota or Quota(), lambda: 0.0), BASE, max_body=max_body)
        gate = SmartM3Gate(premises, lambda: listen("127.0.0.1", 0, "--smart-m3-port"), **changes)
        async with gate.running():
            yield Door(gate)


@asynchronous
async def test_kps_work_side_by_side_each_request_over_a_connection_of_its_own() -> None:
    async with door() as place, asyncio.timeout(PATIENCE):
        kp = place.kp
        await kp.join()
        tags = await kp.insert([(LAMP, STATE, Literal("on & <off>"))])
        assert tags == {}
        async with kp.subscribed([(LAMP, None, None)]) as subscription:
            assert subscription.first.triples("results") == [(LAMP, STATE, Literal("on & <off>"))]
            assert place.gate.clients == 1
            await kp.update(insert=[(LAMP, STATE, Literal("7"))], remove=[(LAMP, STATE, None)])
            told = await subscription.next()
            assert told.triples("new_results") == [(LAMP, STATE, Literal("7"))]
            await kp.unsubscribe(subscription)
            assert (await subscription.next()).text("status") == "m3:Success"
        assert await kp.query([(None, STATE, None)]) == [(LAMP, STATE, Literal("7"))]
        assert await kp.sparql("SELECT ?o { ?s ?p ?o }") == [{"o": "7"}]
        await kp.leave()
        await place.is_left()


RESET = struct.pack("ii", 1, 0)
"""Whoever is waited for, and goes without a word, is found out later, but now is soon enough for a test."""
WORDS = st.sampled_from([ASKED, request("JOIN"), b"</SSAP_message>", b'{"tt":"JOIN"}\n', b"<SSAP_message>", b"\n"])


def test_whatever_comes_over_the_wire_nothing_is_left_of_it() -> None:
    """One gate for all that is made up: it has to be as good as new after each."""
    with asyncio.Runner() as runner:
        place = door(idle=IDLE)
        entered = runner.run(place.__aenter__())

        @settings(max_examples=often(40), deadline=None)
        @given(st.lists(st.one_of(WORDS, st.binary(max_size=40)), max_size=6), st.booleans())
        def tried(pieces: list[bytes], leaves: bool) -> None:
            runner.run(_try(entered, pieces, leaves))

        tried()
        runner.run(entered.kp.join())
        runner.run(place.__aexit__(None, None, None))


async def _try(place: Door, pieces: list[bytes], leaves: bool) -> None:
    async with place.opened() as (reader, writer):
        if ASKED in pieces:
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        for piece in pieces:
            writer.write(piece)
        if not leaves and ASKED not in pieces:  # who has subscribed is waited for
            writer.write_eof()
            while data := await reader.read(1 << 16):
                assert data.strip()
    await place.is_left()


@asynchronous
async def test_a_subscriber_that_has_nothing_more_to_say_is_still_told_and_found_out_when_it_is_gone() -> None:
    async with door(idle=IDLE) as place:
        async with place.opened() as (reader, writer):
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            writer.write(ASKED)
            await reader.readuntil(b"</SSAP_message>")
            writer.write_eof()
            await place.kp.insert([(LAMP, STATE, Literal("x"))])
            assert b"INDICATION" in await reader.readuntil(b"</SSAP_message>")
        await place.is_left()


@asynchronous
async def test_a_message_that_is_too_large_ends_the_connection_with_a_word() -> None:
    async with door(max_body=1_000) as place, place.opened() as (reader, writer):
        writer.write(b"<SSAP_message>" + b"x" * 2_000)
        said = await reader.read()
        assert b"m3:KP.Error.Message.Syntax" in said
        assert b"message_too_large" in said


@asynchronous
async def test_who_is_still_sending_a_message_that_is_too_large_is_told_as_well() -> None:
    async with door(max_body=1_000) as place, place.opened() as (reader, writer):
        writer.write(b"<SSAP_message>" + b"x" * (8 << 20))
        await writer.drain()
        assert b"message_too_large" in await reader.read()
        writer.close()
        await until(lambda: place.gate.clients == 0)


@asynchronous
async def test_who_says_nothing_and_waits_for_nothing_is_let_go() -> None:
    async with door(idle=IDLE) as place, place.opened() as (reader, writer), place.opened() as (other, asking):
        asking.write(ASKED)
        assert b"subscription_id" in await other.readuntil(b"</SSAP_message>")
        assert await reader.read() == b""
        await place.kp.insert([(LAMP, STATE, Literal("x"))])
        writer.close()


@asynchronous
async def test_there_are_only_so_many_connections() -> None:
    async with door(most=1) as place, place.opened() as (_, writer):
        writer.write(b"<")
        await until(lambda: place.gate.clients == 1)
        async with place.opened() as (reader, _):
            assert b"too_many_connections" in await reader.read()
    async with door(Quota(connections=1)) as place, place.opened() as (_, writer):
        writer.write(b"<")
        await until(lambda: place.gate.clients == 1)
        async with place.opened() as (reader, _):
            assert b"too_many_connections" in await reader.read()
