"""The CoAP gate: payloads without a socket, and the packets of two real clients and of one that behaves badly."""

import asyncio
import json
import random
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import cbor2
import pytest
from aiocoap import Code, ContentFormat, Context, Message
from aiocoap.blockwise import ContinueException, IncompleteException
from hypothesis import given, settings
from hypothesis import strategies as st

from gates.client import rows
from gates.doors import built
from tidings.broker.broker import Broker
from tidings.gates.coap.blocks import Blocks
from tidings.gates.coap.content import CBOR, JSON, TEXT, Asked, refusal
from tidings.gates.coap.gate import CoapGate
from tidings.gates.coap.requests import Requests
from tidings.gates.errors import BodyTooLarge
from tidings.gates.gate import Counts
from tidings.model.errors import BadRequest, TidingsError
from tidings.server import gates
from tidings.server.listening import CannotListen
from tidings.server.optional_gates.coap import open_coap
from waiting import PATIENCE, asynchronous, until

ROOT = Path(__file__).parents[3]
ALL = "SELECT ?o { <http://x/a> <http://x/p> ?o }"
INSERT = "INSERT DATA {{ <http://x/a> <http://x/p> {} }}"
MANY = "INSERT DATA {{ <http://x/a> <http://x/p> {} }}".format(", ".join(f'"{number:0100}"' for number in range(60)))


# -- without a socket -------------------------------------------------------------------------------------------


@asynccontextmanager
async def requests(**changes: object) -> AsyncIterator[tuple[Requests, Broker]]:
    async with built(**changes) as (broker, _, chosen):  # type: ignore[arg-type]
        premises = gates.premises(broker, chosen, None, gates.client_quotas(chosen))
        yield Requests(premises, Counts(), 2), broker


@asynchronous
async def test_requests_are_texts_objects_or_uris_and_answers_json_or_cbor() -> None:
    async with requests() as (gate, _):
        done = await gate.update(Asked(cbor2.dumps({"sparql": INSERT.format(1), "alias": "x"}), CBOR, CBOR))
        assert (done.code, done.format, cbor2.loads(done.payload)["response"]["alias"]) == ((2, 4), CBOR, "x")
        for asked in (
            Asked(ALL.encode()),
            Asked(ALL.encode(), TEXT, JSON),
            Asked(json.dumps({"sparql": ALL}).encode(), JSON),
            Asked(queries=(f"query={ALL[:10]}", f"query={ALL[10:]}")),
        ):
            answer = await gate.query(asked)
            assert (answer.code, answer.format, rows(json.loads(answer.payload))) == ((2, 5), JSON, [("1",)])
        graph = json.dumps({"sparql": ALL, "default-graph-uri": "http://x/g"}).encode()
        assert rows(json.loads((await gate.query(Asked(graph, JSON))).payload)) == []


@pytest.mark.parametrize(
    ("asked", "code", "said"),
    [
        (Asked(), (4, 0), "bad_request"),
        (Asked(b"SELECT"), (4, 0), "sparql_syntax_error"),
        (Asked(b"\xff"), (4, 0), "bad_request"),
        (Asked(b"[", JSON), (4, 0), "bad_request"),
        (Asked(b"\xd8\x1c\xff", CBOR), (4, 0), "bad_request"),
        (Asked(b"x", 41), (4, 15), "unsupported_format"),
        (Asked(b"ASK {}", accept=41), (4, 6), "not_acceptable"),
        (Asked(b"x" * 1_001), (4, 13), "body_too_large"),
        (Asked(json.dumps({"sparql": "ASK {}", "default-graph-uri": "a b"}).encode(), JSON), (4, 0), "bad_request"),
    ],
)
def test_errors_are_codes_with_a_diagnostic_payload(asked: Asked, code: tuple[int, int], said: str) -> None:
    @asynchronous
    async def story() -> None:
        async with requests(max_body=1_000) as (gate, broker):
            for answer in (await gate.query(asked), await gate.look(asked)):
                assert (answer.code, answer.payload.decode().partition(":")[0]) == (code, said)
            assert list(broker.subscribers()) == []
            assert gate.counts.errors == 2

    story()


@pytest.mark.parametrize("lead", ["", "x"])
def test_a_long_error_is_cut_between_two_characters(lead: str) -> None:
    said = refusal(BadRequest(lead + "é" * 1_000)).payload
    assert 998 <= len(said) <= 1_000
    assert said.decode().endswith("é")


@asynchronous
async def test_an_update_can_be_delayed() -> None:
    async with requests() as (gate, broker):
        later = {"sparql": INSERT.format(1), "delay": "PT1H"}
        answer = await gate.update(Asked(json.dumps(later).encode(), JSON))
        assert (answer.code, "delayed" in json.loads(answer.payload)["response"]) == ((2, 4), True)
        assert (len(broker.store), len(broker.schedule)) == (0, 1)
        assert (await gate.update(Asked(cbor2.dumps(later | {"delay": "soon"}), CBOR))).code == (4, 0)


@asynchronous
async def test_an_update_whose_answer_nobody_could_read_is_not_carried_out() -> None:
    async with requests() as (gate, broker):
        assert (await gate.update(Asked(INSERT.format(1).encode(), accept=41))).code == (4, 6)
        assert len(broker.store) == 0


@settings(max_examples=40)
@given(st.binary(max_size=40), st.sampled_from([None, TEXT, JSON, CBOR, 99]), st.sampled_from([None, CBOR, 7]))
def test_whatever_comes_is_answered(payload: bytes, format_: int | None, accept: int | None) -> None:
    @asynchronous
    async def story() -> None:
        async with requests() as (gate, _):
            asked = Asked(payload, format_, accept, ("query=ASK%7B%7D", "=", "alias"))
            for answer in (await gate.query(asked), await gate.update(asked), await gate.look(asked)):
                assert answer.code[0] in {2, 4}

    story()


@asynchronous
async def test_observers_of_one_query_share_a_subscription_which_ends_with_the_last() -> None:
    async with requests() as (gate, broker):
        told: list[TidingsError | None] = []
        one = await gate.observe(Asked(ALL.encode()), told.append)
        two = await gate.observe(Asked(ALL.encode(), accept=CBOR), lambda _: told.append(None))
        assert len(list(broker.subscribers())) == 1
        with pytest.raises(TidingsError, match="max_connections"):
            await gate.observe(Asked(b"ASK {}"), told.append)
        await broker.update(INSERT.format(1))
        assert told == [None, None]
        seen = json.loads(one.answer().payload)
        assert (rows(seen["results"]), seen["sequence"], seen["commit"]) == ([("1",)], 1, 1)
        assert cbor2.loads(two.answer().payload) == seen == json.loads((await gate.look(Asked(ALL.encode()))).payload)
        for observation in (one, one, two):
            observation.cancel()
        await until(lambda: not list(broker.subscribers()))
        assert gate.observers == 0


# -- with real clients --------------------------------------------------------------------------------------------


@asynccontextmanager
async def listening() -> AsyncIterator[tuple[Broker, CoapGate]]:
    async with built(coap_port=0) as (broker, _, chosen):
        gate = open_coap(gates.premises(broker, chosen, None, gates.client_quotas(chosen)), chosen)
        assert isinstance(gate, CoapGate)
        async with gate.running():
            yield broker, gate


@pytest.mark.server
@asynchronous
async def test_long_requests_and_answers_come_in_blocks() -> None:
    async with listening() as (_, gate):
        client = await Context.create_client_context(transports=["simple6"])
        try:

            async def ask(code: Code, path: str, payload: str = "") -> Message:
                message = Message(code=code, uri=gate.address + path, payload=payload.encode())
                return await asyncio.wait_for(client.request(message).response, PATIENCE)

            assert (await ask(Code.POST, "/update", MANY)).code == Code.CHANGED
            answer = await ask(Code.FETCH, "/query", ALL)
            assert len(answer.payload) > 6_000
            assert len(rows(json.loads(answer.payload))) == 60
            links = (await ask(Code.GET, "/.well-known/core")).payload.decode()
            assert all(f"</{path}>" in links for path in ("query", "update", "subscribe"))
            assert "obs" in links
            for code, path, said in ((Code.PUT, "/query", "method_not_allowed"), (Code.GET, "/nothing", "not_found")):
                assert (await ask(code, path)).payload.decode().partition(":")[0] == said
        finally:
            await client.shutdown()


@pytest.mark.server
@asynchronous
async def test_what_is_observed_comes_in_blocks_and_so_does_the_query() -> None:
    async with listening() as (broker, gate):
        await broker.update(MANY)
        client = await Context.create_client_context(transports=["simple6"])
        try:
            query = f"{ALL} # {'x' * 2_000}"
            asked = Message(code=Code.FETCH, uri=f"{gate.address}/subscribe", payload=query.encode(), observe=0)
            observed = client.request(asked)
            later = aiter(observed.observation)
            first = last = await asyncio.wait_for(observed.response, PATIENCE)
            assert len(rows(json.loads(first.payload)["results"])) == 60
            await broker.update(INSERT.format(1))
            while len(rows(json.loads(last.payload)["results"])) < 61:
                last = await asyncio.wait_for(anext(later), PATIENCE)
            assert first.opt.observe < last.opt.observe
            for each in (first, last):  # which were put together from blocks
                assert each.opt.block2.block_number > 4
        finally:
            await client.shutdown()


class Client:
    """The address of one, as far as blocks go."""

    def __init__(self, name: str) -> None:
        self.blockwise_key = name


def piece(number: int, payload: bytes = b"", client: str = "one", **options: object) -> Message:
    message = Message(code=Code.FETCH, payload=payload, **options)
    message.remote = Client(client)
    message.opt.block1 = (number, True, 0)
    return message


def test_blocks_are_put_together_in_order_and_take_only_so_much_room() -> None:
    clock = iter([0.0, 1.0, 2.0, 300.0])
    blocks = Blocks(48, lambda: next(clock))
    with pytest.raises(ContinueException):
        blocks.assemble(piece(0, b"a" * 16))
    with pytest.raises(IncompleteException):
        blocks.assemble(piece(1, b"b" * 16, "two"))
    with pytest.raises(ContinueException):
        blocks.assemble(piece(1, b"b" * 16))
    with pytest.raises(BodyTooLarge):
        blocks.assemble(piece(3, b"c" * 16))
    last = piece(2, b"c")
    last.opt.block1 = (2, False, 0)
    assert blocks.assemble(last).payload == b"a" * 16 + b"b" * 16 + b"c"
    with pytest.raises(ContinueException):
        blocks.assemble(piece(0, b"a" * 16, "slow"))
    with pytest.raises(ContinueException):
        blocks.assemble(piece(0, b"a" * 16))
    with pytest.raises(IncompleteException):  # it took too long
        blocks.assemble(piece(1, b"b", "slow"))


@asynchronous
async def test_a_client_has_all_blocks_of_one_answer_before_it_gets_the_first_of_the_next() -> None:
    seconds = 0.0
    blocks = Blocks(100, lambda: seconds)

    async def block(number: int, payload: bytes = b"") -> Message:
        request = piece(0, payload, block2=(number, False, 0))
        found = blocks.later(request)
        return found or await blocks.cut(request, Message(code=Code.CONTENT, payload=payload * 10))

    one = await block(0, b"abc")
    assert (one.payload, one.opt.block2) == (b"abc" * 5 + b"a", (0, True, 0))
    next_one = asyncio.create_task(block(0, b"def"))
    await asyncio.sleep(0)
    assert (await block(0, b"x")).payload == b"x" * 10  # which is short
    assert (await block(1)).payload == (await block(1, b"abc")).payload == b"bca" * 4 + b"bc"
    two = await next_one
    assert (two.payload, two.opt.etag != one.opt.etag) == (b"def" * 5 + b"d", True)
    seconds = 4.0  # nobody asks for the rest
    three = await block(0, b"ghi")
    assert (await block(1)).opt.etag == three.opt.etag  # without a payload, it is of the last one
    with pytest.raises(BadRequest):
        await block(2)


class Packets:
    """What comes to a socket, once each, without empty acknowledgements: whoever is slow acknowledges first and answers
    later, and repeats what is to be confirmed (RFC 7252, sections 4.2 and 5.2.2)."""

    def __init__(self, raw: socket.socket) -> None:
        self._raw = raw
        self._seen: set[bytes] = set()

    async def next(self) -> bytes:
        while True:
            packet = await asyncio.wait_for(asyncio.get_running_loop().sock_recv(self._raw, 2_000), PATIENCE)
            if packet[1] and packet[2:4] not in self._seen:
                self._seen.add(packet[2:4])
                return packet


@pytest.mark.server
@asynchronous
async def test_an_observer_that_resets_is_told_nothing_more_and_noise_harms_nobody() -> None:
    async with listening() as (broker, gate):
        place = ("127.0.0.1", int(gate.address.rpartition(":")[2]))
        with socket.socket(type=socket.SOCK_DGRAM) as raw:
            raw.connect(place)
            raw.setblocking(False)
            packets = Packets(raw)
            # CON FETCH /subscribe, Observe 0, Accept CBOR, token 7 (RFC 7252, section 3)
            request = b"\x41\x05\x00\x01\x07\x60\x59subscribe\x61\x3c\xff" + ALL.encode()
            raw.send(request)
            first = await packets.next()
            assert (first[0] & 0x30, first[1]) in {(0x20, 0x45), (0x00, 0x45)}  # 2.05, at once or later
            raw.send(b"\x60\x00" + first[2:4])
            await until(lambda: gate.clients == 1)
            await broker.update(INSERT.format(1))
            told = await packets.next()
            assert told[0] & 0x30 == 0x10  # which needs no confirmation
            raw.send(b"\x70\x00" + told[2:4])
            last = await packets.next()
            assert (last[0] & 0x30, last[-40:]) == (0x00, told[-40:])  # the same once more, to be confirmed
            raw.send(b"\x70\x00" + last[2:4])
            await until(lambda: gate.clients == 0 and not list(broker.subscribers()))
            noise = random.Random(1)
            for size in range(200):
                raw.send(noise.randbytes(size % 60))
                raw.send(bytes([0x40 | size % 16]) + noise.randbytes(size % 40))
        client = await Context.create_client_context(transports=["simple6"])
        try:
            message = Message(
                code=Code.FETCH, uri=f"{gate.address}/query", payload=b"ASK {}", accept=ContentFormat.JSON
            )
            answer = await asyncio.wait_for(client.request(message).response, PATIENCE)
            assert json.loads(answer.payload)["boolean"] is True
        finally:
            await client.shutdown()


@pytest.mark.server
@asynchronous
async def test_the_client_of_libcoap_asks_publishes_and_observes() -> None:
    found = subprocess.run([ROOT / "scripts" / "tool", "coap-client"], capture_output=True, text=True, check=True)
    program = found.stdout.strip()
    async with listening() as (broker, gate):

        async def call(*arguments: str) -> str:
            process = await asyncio.create_subprocess_exec(
                program, "-B", "100", *arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            out, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
            return out.decode()

        assert '"added":1' in await call("-m", "post", "-e", INSERT.format(1), f"{gate.address}/update")
        await call("-m", "post", "-b", "64", "-e", MANY[:900].rpartition(",")[0] + "}", f"{gate.address}/update")
        answer = await call("-m", "fetch", "-e", ALL, f"{gate.address}/query")
        assert rows(json.loads(answer[answer.index("{") :]))[0] == ("1",)
        observer = await asyncio.create_subprocess_exec(
            program, "-s", "100", "-w", "-m", "get", f"{gate.address}/subscribe?query=ASK%7B%3Fs%20%3Fp%202%7D",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert observer.stdout is not None
        try:
            first = await asyncio.wait_for(observer.stdout.readline(), PATIENCE)
            assert b'"false"' in first
            await broker.update(INSERT.format(2))
            second = await asyncio.wait_for(observer.stdout.readline(), PATIENCE)
            assert b'"true"' in second
        finally:
            observer.kill()
            await observer.wait()


@asynchronous
async def test_a_port_that_is_taken_is_said() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        async with built(coap_port=taken.getsockname()[1]) as (broker, _, chosen):
            gate = open_coap(gates.premises(broker, chosen, None, gates.client_quotas(chosen)), chosen)
            assert gate is not None
            with pytest.raises(CannotListen, match="--coap-port"):
                async with gate.running():
                    pass
