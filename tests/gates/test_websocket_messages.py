"""Messages over a WebSocket that make no sense or come in odd frames: they are answered, and others are served."""

import json
import tracemalloc
from types import SimpleNamespace
from typing import Any

import pytest
from picows import WSCloseCode, WSMsgType

from gates.client import Message, connected, is_error
from gates.sockets import ALL, asynchronous, serving
from tidings.gates.websocket.connection import Connection

# -- messages that make no sense --------------------------------------------------------------------------------


@asynchronous
@pytest.mark.parametrize(
    "message",
    [
        "",
        " ",
        "{",
        "[]",
        "null",
        "5",
        '"subscribe"',
        "{}",
        "\x00",
        '{"subscribe": 1}',
        '{"subscribe": null}',
        '{"subscribe": {}}',
        '{"subscribe": {"sparql": null}}',
        '{"subscribe": {"sparql": ["ASK {}"]}}',
        '{"subscribe": {"sparql": "ASK {}"}, "query": {"sparql": "ASK {}"}}',
        '{"shout": {}}',
        '{"subscribe": {"sparql": "ASK {}", "default-graph-uri": 5}}',
        '{"subscribe": {"sparql": "ASK {}", "default-graph-uri": [5]}}',
        '{"subscribe": {"sparql": "ASK {}", "resume": "x"}}',
        '{"subscribe": {"sparql": "ASK {}", "resume": {}}}',
        '{"subscribe": {"sparql": "ASK {}", "resume": {"spuid": "x", "sequence": "1"}}}',
        '{"unsubscribe": {"spuid": 5}}',
        '{"update": {}}',
        '{"query": {}}',
        "[" * 100_000,
        '{"a":' * 100_000,
    ],
)
async def test_a_message_that_makes_no_sense_is_answered_and_the_socket_lives_on(message: str) -> None:
    async with serving() as house, connected(house) as client:
        assert is_error(await client.ask(message), 400, "bad_message")
        await client.quiet()
        assert len(house.broker.subscriptions) == 0


@asynchronous
@pytest.mark.parametrize(
    ("message", "status", "code"),
    [
        ({"subscribe": {"sparql": "SELECT", "alias": "x"}}, 400, "sparql_syntax_error"),
        ({"subscribe": {"sparql": "CLEAR ALL", "alias": "x"}}, 400, "sparql_syntax_error"),
        ({"subscribe": {"sparql": "ASK {}", "alias": "x", "default-graph-uri": "a b"}}, 400, "bad_request"),
        ({"subscribe": {"alias": "x", "resume": {"spuid": "nobody", "sequence": 1}}}, 404, "unknown_spuid"),
        ({"unsubscribe": {"spuid": "nobody", "alias": "x"}}, 404, "unknown_spuid"),
        ({"update": {"sparql": "LOAD <x>", "alias": "x"}}, 403, "not_allowed"),
        ({"update": {"sparql": "COPY <x> TO <y>", "alias": "x"}}, 404, "graph_missing"),
        ({"query": {"sparql": "ASK { SERVICE <x> {} }", "alias": "x"}}, 403, "not_allowed"),
        ({"query": {"alias": "x", "sparql": 1}}, 400, "bad_message"),
    ],
)
async def test_an_error_names_whose_it_is(message: Message, status: int, code: str) -> None:
    async with serving() as house, connected(house) as client:
        assert is_error(await client.ask(message), status, code, "x")
        await client.quiet()


@asynchronous
async def test_text_that_is_not_utf_8_and_numbers_beyond_all_bounds_are_answered() -> None:
    async with serving() as house, connected(house) as client:
        client.transport.send(WSMsgType.TEXT, b'{"query": {"sparql": "\xff"}}')
        assert is_error(await client.next(), 400, "bad_message")
        for alias in ("1" + "0" * 40, "1e999", "-1" + "0" * 400):
            answer = await client.ask(f'{{"query": {{"sparql": 5, "alias": {alias}}}}}')
            assert (answer["status_code"], answer["error"]) == (400, "bad_message")
            answer = await client.ask(f'{{"query": {{"sparql": "ASK {{}}", "alias": {alias}}}}}')
            assert "response" in answer or answer["error"] == "bad_message"
            answer = await client.ask(f'{{"subscribe": {{"sparql": "ASK {{}}", "alias": {alias}}}}}')
            assert answer["error"] == "bad_message"
        assert len(house.broker.subscriptions) == 0
        await client.quiet()


@asynchronous
async def test_nobody_ends_what_belongs_to_another() -> None:
    async with serving() as house, connected(house) as client, connected(house) as other:
        follower = await client.follow(ALL)
        answer = await other.ask({"unsubscribe": {"spuid": follower.spuid, "alias": "mine"}})
        assert is_error(answer, 403, "not_yours", "mine")
        assert answer["spuid"] == follower.spuid
        await other.update("INSERT DATA { <a> <p> 1 }")
        await follower.hear()


@asynchronous
async def test_what_nobody_foresaw_is_answered_without_our_insides(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving() as house, connected(house) as client:
        monkeypatch.setattr(house.broker, "submit", lambda *_: 1 / 0)
        answer = await client.ask({"update": {"sparql": "CLEAR ALL", "alias": "x"}})
        assert is_error(answer, 500, "internal_error", "x")
        assert "division" not in json.dumps(answer)


# -- frames -----------------------------------------------------------------------------------------------------


@asynchronous
async def test_a_message_may_be_binary_or_in_pieces() -> None:
    async with serving() as house, connected(house) as client:
        document = json.dumps({"query": {"sparql": "ASK {}", "alias": "é"}}, ensure_ascii=False).encode()
        client.transport.send(WSMsgType.BINARY, document)
        assert (await client.next())["response"]["alias"] == "é"
        for size in (1, 7, len(document) - 1):
            pieces = [document[at : at + size] for at in range(0, len(document), size)]
            kind = WSMsgType.TEXT
            for number, piece in enumerate(pieces):
                client.transport.send(kind, piece, fin=number == len(pieces) - 1)
                client.transport.send_ping(b"in between")
                kind = WSMsgType.CONTINUATION
            assert (await client.next())["response"]["alias"] == "é"
        client.transport.send(WSMsgType.TEXT, b"", fin=False)
        client.transport.send(WSMsgType.CONTINUATION, document, fin=True)
        assert (await client.next())["response"]["alias"] == "é"


@asynchronous
@pytest.mark.parametrize("pieces", [1, 10])
async def test_a_message_that_is_too_long_ends_the_connection(pieces: int) -> None:
    async with serving(max_body=10_000) as house, connected(house) as client, connected(house) as other:
        kind = WSMsgType.TEXT
        for number in range(pieces):
            client.transport.send(kind, b" " * (20_000 // pieces), fin=number == pieces - 1)
            kind = WSMsgType.CONTINUATION
        assert await client.inbox.end() == 1009
        await other.quiet()


@asynchronous
async def test_a_message_of_just_the_right_size_is_taken() -> None:
    async with serving(max_body=10_000) as house, connected(house) as client:
        client.send(json.dumps({"query": {"sparql": "ASK {}"}}).ljust(10_000))
        assert (await client.next())["response"]["boolean"] is True


@asynchronous
async def test_notifications_of_every_length_arrive_whole() -> None:
    async with serving(outbox=1 << 24) as house, connected(house) as client, connected(house) as publisher:
        follower = await client.follow(ALL)
        for size in (1, 125, 126, 1000, 65_400, 65_536, 70_000, 300_000):
            client.send({"query": {"sparql": f'SELECT ("{"y" * size}" AS ?y) {{}}', "alias": "q"}})
            assert len((await client.next())["response"]["results"]["bindings"][0]["y"]["value"]) == size
            await publisher.update(
                f'DELETE {{ <a> <p> ?o }} INSERT {{ <a> <p> "{"x" * size}" }} WHERE {{ OPTIONAL {{ <a> <p> ?o }} }}'
            )
            await follower.hear()
            assert [len(value or "") for _, value in follower.answer] == [size]


@asynchronous
async def test_a_client_may_close_with_or_without_a_reason() -> None:
    async with serving() as house:
        for code in (WSCloseCode.OK, WSCloseCode.GOING_AWAY, WSCloseCode.NO_INFO):
            async with connected(house) as client:
                await client.follow(ALL)
                client.transport.send_close(code)
                assert await client.inbox.end() == (1000 if code == WSCloseCode.NO_INFO else code.value)
        await house.nobody()
        assert house.broker.subscriptions.absent == 3
        assert not house.broker.sessions


def test_frames_without_a_byte_take_no_room() -> None:
    """A message may come in any number of them, and be well below the size that it may have."""
    gate: Any = SimpleNamespace(broker=None, settings=SimpleNamespace(max_message=10))
    empty: Any = SimpleNamespace(msg_type=WSMsgType.CONTINUATION, fin=False, payload_size=0, get_payload_as_bytes=bytes)
    connection, transport = Connection(gate), None
    tracemalloc.start()
    try:
        for _ in range(100_000):
            connection.on_ws_frame(transport, empty)  # type: ignore[arg-type]
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 10_000
