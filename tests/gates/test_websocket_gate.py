"""The WebSocket gate, as clients meet it on a real socket: polite ones, confused ones, slow ones and dead ones."""

import asyncio
import base64
import functools
import json
import os
import socket
import struct
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, ParamSpec

import httpx
import pytest
import uvloop
from picows import (
    WSCloseCode,
    WSFrame,
    WSHandshakeError,
    WSListener,
    WSMsgType,
    WSTransport,
    ws_connect,
    ws_create_server,
)

from tidings.broker.broker import Broker
from tidings.gates.websocket import connection, conversation
from tidings.gates.websocket.gate import WebSocketGate
from tidings.server import app
from tidings.server.config import Settings

PATIENCE = 20.0
"""Seconds after which whatever should have happened has not."""
Message = dict[str, Any]
Row = tuple[str | None, ...]
ALL = "SELECT ?s ?o { ?s <p> ?o }"
P = ParamSpec("P")


def asynchronous(test: Callable[P, Coroutine[None, None, None]]) -> Callable[P, None]:
    """A test that is a coroutine, on the loop that brokers run on; it does not take for ever."""

    @functools.wraps(test)
    def run(*arguments: P.args, **named: P.kwargs) -> None:
        async def limited() -> None:
            async with asyncio.timeout(PATIENCE):
                await test(*arguments, **named)

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(limited())

    return run


@dataclass(frozen=True)
class House:
    """A broker behind its gate."""

    broker: Broker
    gate: WebSocketGate
    port: int

    def address(self, path: str = "/subscribe") -> str:
        return f"ws://127.0.0.1:{self.port}{path}"

    async def nobody(self) -> None:
        """Until all clients are gone."""
        while self.gate.connections:
            await asyncio.sleep(0.005)


@asynccontextmanager
async def serving(*, handshake: float = 5.0, **changes: Any) -> AsyncIterator[House]:
    values: dict[str, Any] = {"slice": 5.0, **changes}
    settings = Settings(**values)
    async with app.build_broker(settings) as broker:
        gate = app.websocket_gate(broker, settings)
        options = app._picows(settings) | {"websocket_handshake_timeout": handshake}
        door = await ws_create_server(gate.listen, "127.0.0.1", 0, **options)
        try:
            yield House(broker, gate, door.sockets[0].getsockname()[1])
        finally:
            door.close()
            await gate.close()


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
async def connected(house: House, path: str = "/subscribe", **options: Any) -> AsyncIterator[Client]:
    transport, inbox = await ws_connect(Inbox, house.address(path), **options)
    assert isinstance(inbox, Inbox)
    try:
        yield Client(transport, inbox)
    finally:
        transport.disconnect()
        await asyncio.wait_for(transport.wait_disconnected(), PATIENCE)


def is_error(message: Message, status: int, code: str, alias: object = None) -> bool:
    found = (message["status_code"], message["error"], message.get("alias"))
    return found == (status, code, alias) and isinstance(message["error_description"], str)


# -- the Subscribe language -------------------------------------------------------------------------------------


@asynchronous
async def test_a_subscription_from_its_beginning_to_its_end() -> None:
    async with serving() as house, connected(house) as client, connected(house) as publisher:
        await publisher.update("INSERT DATA { <a> <p> 1 }")
        first = (await client.ask({"subscribe": {"sparql": ALL, "alias": "it"}}))["notification"]
        assert (first["alias"], first["sequence"], first["commit"]) == ("it", 0, 1)
        assert first["addedResults"]["head"] == first["removedResults"]["head"] == {"vars": ["s", "o"]}
        assert rows(first["addedResults"]) == [("http://tidings.example/a", "1")]
        assert rows(first["removedResults"]) == []
        assert "resumed" not in first
        done = await publisher.update("DELETE { <a> <p> ?o } INSERT { <a> <p> 2 } WHERE { <a> <p> ?o }")
        assert (done["sequence"], done["added"], done["removed"]) == (2, 1, 1)
        second = (await client.next())["notification"]
        assert (second["spuid"], second["alias"], second["sequence"], second["commit"]) == (first["spuid"], "it", 1, 2)
        assert second["time"] == done["time"]
        assert rows(second["addedResults"]) == [("http://tidings.example/a", "2")]
        assert rows(second["removedResults"]) == [("http://tidings.example/a", "1")]
        end = await client.ask({"unsubscribe": {"spuid": first["spuid"]}})
        assert end == {"unsubscribed": {"spuid": first["spuid"]}}
        await publisher.update("CLEAR ALL")
        await client.quiet()


@asynchronous
async def test_many_subscriptions_share_a_socket_and_keep_apart() -> None:
    async with serving() as house, connected(house) as client, connected(house) as publisher:
        followers = {
            f"lamp {n}": await client.follow(f"SELECT ?o {{ <lamp{n}> <p> ?o }}", f"lamp {n}") for n in range(50)
        }
        assert len({each.spuid for each in followers.values()}) == 50
        for n in range(0, 50, 7):
            await publisher.update(f"INSERT DATA {{ <lamp{n}> <p> {n} }}")
            message = await client.next()
            followers[message["notification"]["alias"]].take(message)
            assert followers[f"lamp {n}"].answer == Counter({(str(n),): 1})
        await client.quiet()


@asynchronous
async def test_subscriptions_with_the_same_query_have_names_of_their_own() -> None:
    async with serving() as house, connected(house) as client:
        one, two = await client.follow(ALL, "one"), await client.follow(ALL, "two")
        assert one.spuid != two.spuid
        client.send({"update": {"sparql": "INSERT DATA { <a> <p> 1 }", "alias": "me"}})
        answers = [await client.next() for _ in range(3)]
        assert {part["alias"] for each in answers for part in each.values()} == {"one", "two", "me"}
        for message in answers:
            if "notification" in message:
                (one if message["notification"]["alias"] == "one" else two).take(message)
        assert one.answer == two.answer == Counter({("http://tidings.example/a", "1"): 1})


@asynchronous
async def test_an_end_by_alias_if_it_names_exactly_one() -> None:
    async with serving() as house, connected(house) as client:
        one = await client.follow(ALL, "one")
        await client.follow("ASK {}", "two")
        await client.follow("ASK {}", "two")
        assert await client.ask({"unsubscribe": {"alias": "one"}}) == {
            "unsubscribed": {"spuid": one.spuid, "alias": "one"}
        }
        for alias in ("two", "nobody"):
            assert is_error(await client.ask({"unsubscribe": {"alias": alias}}), 400, "bad_message", alias)
        assert is_error(await client.ask({"unsubscribe": {}}), 400, "bad_message")


@asynchronous
@pytest.mark.parametrize("alias", ["", 'é\n"', 7, 1.5])
async def test_an_alias_is_echoed_as_it_is(alias: object) -> None:
    async with serving() as house, connected(house) as client:
        client.send({"subscribe": {"sparql": ALL, "alias": alias}})
        assert (await client.next())["notification"]["alias"] == alias
        client.send({"query": {"sparql": "ASK {}", "alias": alias}})
        assert (await client.next())["response"]["alias"] == alias
        assert is_error(
            await client.ask({"query": {"sparql": "ASK", "alias": alias}}), 400, "sparql_syntax_error", alias
        )
        assert is_error(await client.ask({"query": {"sparql": 5, "alias": alias}}), 400, "bad_message", alias)


@asynchronous
@pytest.mark.parametrize(
    ("text", "update", "added"),
    [
        ("ASK { ?s <p> 1 }", "INSERT DATA { <a> <p> 1 }", [("true",)]),
        (
            "CONSTRUCT WHERE { ?s <p> ?o }",
            "INSERT DATA { <urn:a> <p> 1 }",
            [("urn:a", "http://tidings.example/p", "1")],
        ),
        ("DESCRIBE <urn:a>", "INSERT DATA { <urn:a> <p> 1 }", [("urn:a", "http://tidings.example/p", "1")]),
        ("SELECT ?o ?x { ?s <p> ?o OPTIONAL { ?s <q> ?x } }", "INSERT DATA { <a> <p> 1 }", [("1", None)]),
    ],
)
async def test_every_kind_of_query_can_be_subscribed(text: str, update: str, added: list[Row]) -> None:
    async with serving() as house, connected(house) as client, connected(house) as publisher:
        await client.follow(text)
        await publisher.update(update)
        told = (await client.next())["notification"]
        assert rows(told["addedResults"]) == added
        assert rows(told["removedResults"]) == ([("false",)] if text.startswith("ASK") else [])


@asynchronous
@pytest.mark.parametrize("member", ["default-graph-uri", "default_graph_uri"])
@pytest.mark.parametrize("graphs", ["urn:g", ["urn:g"], ["urn:g", "urn:g", "urn:h"]])
async def test_a_dataset_is_a_text_or_a_list(member: str, graphs: object) -> None:
    async with serving() as house, connected(house) as client, connected(house) as publisher:
        client.send({"subscribe": {"sparql": ALL, member: graphs}})
        await client.next()
        await publisher.update("INSERT DATA { <a> <p> 1 }")
        await publisher.update("INSERT DATA { GRAPH <urn:g> { <b> <p> 2 } }")
        assert rows((await client.next())["notification"]["addedResults"]) == [("http://tidings.example/b", "2")]


@asynchronous
async def test_members_nobody_knows_are_ignored_and_tokens_may_be_anywhere() -> None:
    async with serving() as house, connected(house) as client:
        leak = {"httpsAgent": {"options": {"nested": [1, {"a": None}]}}, "authorization": "Bearer x"}
        client.send({"subscribe": {"sparql": ALL, **leak}, "authorization": "y", "verbose": True})
        assert (await client.next())["notification"]["sequence"] == 0


# -- updates and queries ----------------------------------------------------------------------------------------


@asynchronous
async def test_a_burst_of_updates_is_answered_in_order() -> None:
    async with serving() as house, connected(house) as client:
        for n in range(500):
            client.send({"update": {"sparql": f"INSERT DATA {{ <s{n}> <p> {n} }}", "alias": str(n)}})
        answers = [(await client.next())["response"] for _ in range(500)]
        assert [each["alias"] for each in answers] == [str(n) for n in range(500)]
        assert [each["sequence"] for each in answers] == list(range(1, 501))


@asynchronous
async def test_one_update_too_many_is_asked_to_come_back() -> None:
    async with serving(max_queue=1) as house, connected(house) as client:
        house.broker.updates.hold()
        client.send({"update": {"sparql": "CLEAR ALL", "alias": "first"}})
        assert is_error(
            await client.ask({"update": {"sparql": "CLEAR ALL", "alias": "second"}}), 429, "too_many_requests", "second"
        )
        house.broker.updates.go_on()
        assert (await client.next())["response"]["alias"] == "first"


@asynchronous
async def test_queries_are_answered_with_results_whatever_their_kind() -> None:
    async with serving() as house, connected(house) as client:
        await client.update("INSERT DATA { <urn:a> <urn:p> 1 }")
        select = (await client.ask({"query": {"sparql": "SELECT ?o { ?s ?p ?o }", "alias": "q"}}))["response"]
        assert rows(select) == [("1",)]
        assert (await client.ask({"query": {"sparql": "ASK { ?s ?p 1 }"}}))["response"]["boolean"] is True
        triples = (await client.ask({"query": {"sparql": "CONSTRUCT WHERE { ?s ?p ?o }"}}))["response"]
        assert rows(triples) == [("urn:a", "urn:p", "1")]


@asynchronous
async def test_an_update_is_prepared_once_and_bound_often() -> None:
    async with serving() as house, connected(house) as client, connected(house) as other:
        text = "DELETE { ?lamp <p> ?old } INSERT { ?lamp <p> ?new } WHERE { OPTIONAL { ?lamp <p> ?old } }"
        response = (await client.ask({"prepare": {"sparql": text, "alias": "set"}}))["response"]
        assert response["alias"] == "set"
        assert {"lamp", "new"} <= set(response["variables"])
        follower = await other.follow(ALL)
        evil = '"> . } ; CLEAR ALL #'
        for name, value in (("l1", {"type": "literal", "value": "on"}), ("l1", "off"), ("l2", evil)):
            bindings = {"lamp": {"type": "uri", "value": name}, "new": value}
            done = await client.ask({"update": {"prepared": response["prepared"], "bindings": bindings}})
            assert done["response"]["added"] == 1
            await other.hear(follower)
        base = "http://tidings.example/"
        assert follower.answer == Counter({(f"{base}l1", "off"): 1, (f"{base}l2", evil): 1})


@asynchronous
async def test_a_publisher_may_name_itself_in_or_beside_its_update() -> None:
    async with serving() as house, connected(house) as client:
        names: list[str | None] = []
        house.broker.chronicle.followers.add(lambda commit: names.append(commit.publisher))
        prepared = (await client.ask({"prepare": {"sparql": "INSERT DATA { <a> <p> ?v }"}}))["response"]["prepared"]
        await client.ask({"update": {"sparql": "INSERT DATA { <a> <p> 1 }", "publisher": "in"}, "publisher": "beside"})
        await client.ask({"update": {"sparql": "INSERT DATA { <a> <p> 2 }"}, "publisher": "beside"})
        await client.ask({"update": {"sparql": "INSERT DATA { <a> <p> 3 }"}})
        await client.ask({"update": {"prepared": prepared, "bindings": {"v": "4"}, "publisher": "été"}})
        await client.ask({"update": {"sparql": "INSERT DATA { <a> <p> 5 }", "at": 1, "publisher": "late"}})
        while len(names) < 5:
            await asyncio.sleep(0.005)
        assert names == ["in", "beside", None, "été", "late"]


@asynchronous
async def test_a_name_that_no_publisher_can_have_is_refused() -> None:
    async with serving() as house, connected(house) as client:
        for name in ("", " ", "x" * 201, "a\nb", "\u202e"):
            answer = await client.ask({"update": {"sparql": "INSERT DATA { <a> <p> 1 }", "publisher": name}})
            assert is_error(answer, 400, "bad_request")
        assert is_error(await client.ask({"update": {"sparql": "CLEAR ALL", "publisher": 5}}), 400, "bad_message")
        assert len(house.broker.engine.core.store) == 0


@asynchronous
async def test_what_is_prepared_or_bound_wrongly_is_refused() -> None:
    async with serving() as house, connected(house) as client, connected(house) as other:
        text = "INSERT { <a> <p> ?v } WHERE {}"
        name = (await client.ask({"prepare": {"sparql": text}}))["response"]["prepared"]
        odd, no_iri = {"type": "odd", "value": "x"}, {"type": "uri", "value": "a b"}
        refusals: list[tuple[Client, Message, int, str]] = [
            (client, {"prepare": {"sparql": "INSERT", "alias": "x"}}, 400, "sparql_syntax_error"),
            (client, {"prepare": {"alias": "x"}}, 400, "bad_message"),
            (client, {"update": {"prepared": "nobody", "alias": "x"}}, 404, "unknown_prepared"),
            (other, {"update": {"prepared": name, "alias": "x"}}, 404, "unknown_prepared"),
            (client, {"update": {"prepared": name, "delay": 5, "alias": "x"}}, 400, "bad_message"),
            (client, {"update": {"prepared": name, "bindings": {"v": None}, "alias": "x"}}, 400, "bad_message"),
            (client, {"update": {"prepared": name, "bindings": {"v": odd}, "alias": "x"}}, 400, "bad_message"),
            (client, {"update": {"prepared": name, "bindings": {"v": no_iri}, "alias": "x"}}, 400, "bad_message"),
            (client, {"update": {"prepared": name, "bindings": [], "alias": "x"}}, 400, "bad_message"),
        ]  # fmt: skip
        for socket_, message, status, code in refusals:
            assert is_error(await socket_.ask(message), status, code, "x"), message
        answer = await client.ask({"update": {"prepared": name, "bindings": {"unknown": "x"}, "alias": "x"}})
        assert "error" in answer
        await client.quiet()


@asynchronous
async def test_so_many_updates_can_be_prepared_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "_MOST_PREPARED", 2)
    async with serving() as house, connected(house) as client:
        for _ in range(2):
            assert "response" in await client.ask({"prepare": {"sparql": "CLEAR ALL"}})
        assert is_error(await client.ask({"prepare": {"sparql": "CLEAR ALL"}}), 429, "too_many_prepared")


@asynchronous
@pytest.mark.parametrize("when", [{"delay": 0.02}, {"delay": "PT0.02S"}, {"delay": "0.02"}, {"at": 1}])
async def test_an_update_can_be_sent_ahead_of_its_time(when: dict[str, object]) -> None:
    async with serving() as house, connected(house) as client, connected(house) as publisher:
        follower = await client.follow(ALL)
        accepted = await publisher.ask({"update": {"sparql": "INSERT DATA { <a> <p> 1 }", "alias": "later", **when}})
        response = accepted["response"]
        assert (response["alias"], response["at"].endswith("Z")) == ("later", True)
        assert response["delayed"]
        await client.hear(follower)
        assert len(follower.answer) == 1
        assert len(house.broker.delays.agenda) == 0


@asynchronous
@pytest.mark.parametrize(
    "when",
    [
        {"delay": -1},
        {"delay": "soon"},
        {"delay": True},
        {"delay": [1]},
        {"at": "tomorrow"},
        {"at": 1.5},
        {"at": {}},
        {"at": 10**18},
        {"at": -1},
        {"at": "9" * 40},
        {"delay": 1, "at": 1},
        {"delay": 1e300},
    ],
)
async def test_an_instant_that_makes_no_sense_is_refused(when: dict[str, object]) -> None:
    async with serving() as house, connected(house) as client:
        answer = await client.ask({"update": {"sparql": "CLEAR ALL", "alias": "x", **when}})
        assert (answer["status_code"], answer["alias"]) == (400, "x")
        assert len(house.broker.delays.agenda) == 0


@asynchronous
async def test_a_read_only_broker_refuses_updates_and_nothing_else() -> None:
    async with serving(read_only=True) as house, connected(house) as client:
        for message in ({"sparql": "CLEAR ALL"}, {"sparql": "CLEAR ALL", "delay": 1}, {"prepared": "x"}):
            assert is_error(await client.ask({"update": message}), 403, "not_allowed")
        await client.follow(ALL)


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
        await client.hear(follower)


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
            await client.hear(follower)
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


# -- knocking ---------------------------------------------------------------------------------------------------


@asynchronous
@pytest.mark.parametrize("path", ["/subscribe", "/subscribe?token=x", "/secure/subscribe", "/sparql"])
async def test_the_right_doors(path: str) -> None:
    async with serving() as house, connected(house, path) as client:
        await client.follow(ALL)


@asynchronous
@pytest.mark.parametrize("path", ["/", "/subscribers", "/subscribe/", "/%2e%2e/subscribe"])
async def test_a_wrong_door_says_which_is_right(path: str) -> None:
    async with serving() as house:
        with pytest.raises(WSHandshakeError) as refused:
            async with connected(house, path):
                pass
        assert refused.value.response is not None
        assert refused.value.response.status == 404
        assert refused.value.raw_body
        error = json.loads(refused.value.raw_body)
        assert is_error(error, 404, "not_found")
        assert "/subscribe" in error["error_description"]


@asynchronous
async def test_plain_http_is_told_that_this_is_another_port() -> None:
    async with serving() as house, httpx.AsyncClient() as client:
        answer = await client.get(f"http://127.0.0.1:{house.port}/subscribe")
        assert answer.status_code == 400
        assert is_error(answer.json(), 400, "bad_message")
        assert "WebSocket" in answer.json()["error_description"]
        assert (await client.get(f"http://127.0.0.1:{house.port}/nowhere")).status_code == 404


@asynchronous
@pytest.mark.parametrize("noise", [b"\x16\x03\x01\x02\x00" * 40, b"GET\r\n\r\n", b"\r\n" * 100, b"x" * 100_000])
async def test_noise_is_hung_up_on_and_others_are_served(noise: bytes) -> None:
    async with serving(handshake=0.2) as house, connected(house) as other:
        reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
        with suppress(ConnectionError):
            writer.write(noise)
            while await reader.read(4096):
                pass
        writer.close()
        await other.quiet()


@asynchronous
@pytest.mark.parametrize("beginning", [b"", b"GET /subscribe HTTP/1.1\r\nHost: x\r\n"])
async def test_a_handshake_that_does_not_end_is_ended(beginning: bytes) -> None:
    async with serving(handshake=0.1) as house, connected(house) as other:
        reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
        writer.write(beginning)
        with suppress(ConnectionError):
            while await reader.read(4096):
                pass
        writer.close()
        assert len(house.gate.connections) == 1
        await other.quiet()


@asynchronous
async def test_one_client_too_many_is_asked_to_come_back() -> None:
    async with serving(max_connections=1) as house:
        async with connected(house):
            with pytest.raises(WSHandshakeError) as refused:
                async with connected(house):
                    pass
            assert refused.value.response is not None
            assert refused.value.response.status == 429
            assert refused.value.raw_body
            assert is_error(json.loads(refused.value.raw_body), 429, "too_many_connections")
        await house.nobody()
        async with connected(house) as client:
            await client.quiet()


# -- coming back ------------------------------------------------------------------------------------------------


@asynchronous
async def test_a_client_comes_back_and_goes_on_where_it_was() -> None:
    async with serving() as house, connected(house) as publisher:
        async with connected(house) as client:
            follower = await client.follow(ALL)
            await publisher.update("INSERT DATA { <a> <p> 1 }")
            await client.hear(follower)
        await publisher.update("INSERT DATA { <b> <p> 2 }")
        await publisher.update("DELETE DATA { <a> <p> 1 }")
        async with connected(house) as again:
            resume = {"spuid": follower.spuid, "sequence": follower.told}
            message = await again.ask({"subscribe": {"resume": resume, "alias": "it"}})
            assert message["notification"]["resumed"] is True
            follower.take(message)
            assert follower.answer == Counter({("http://tidings.example/b", "2"): 1})
            await publisher.update("INSERT DATA { <c> <p> 3 }")
            follower.take(await again.next())
        async with connected(house) as third:
            message = await third.ask(
                {"subscribe": {"sparql": ALL, "resume": {"spuid": follower.spuid, "sequence": 99}}}
            )
            assert message["notification"]["resumed"] is False
            assert message["notification"]["sequence"] == 0
            assert len(rows(message["notification"]["addedResults"])) == 2


@asynchronous
async def test_who_comes_back_too_late_begins_anew_under_another_name() -> None:
    async with serving() as house, connected(house) as client:
        resume = {"spuid": "urn:uuid:gone", "sequence": 5}
        message = await client.ask({"subscribe": {"sparql": ALL, "resume": resume, "alias": "it"}})
        assert message["notification"]["resumed"] is False
        assert message["notification"]["spuid"] != "urn:uuid:gone"
        assert message["notification"]["sequence"] == 0


@asynchronous
async def test_a_client_takes_over_from_a_connection_that_is_half_open() -> None:
    async with serving() as house, connected(house) as publisher, connected(house) as half_open:
        follower = await half_open.follow(ALL)
        await publisher.update("INSERT DATA { <a> <p> 1 }")
        async with connected(house) as client:
            follower.take(
                await client.ask({"subscribe": {"resume": {"spuid": follower.spuid, "sequence": 0}, "alias": "it"}})
            )
            await publisher.update("INSERT DATA { <b> <p> 1 }")
            follower.take(await client.next())
            assert len(follower.answer) == 2
            assert await half_open.inbox.end() == 4009


# -- slow clients, dead clients ---------------------------------------------------------------------------------


class Sloth:
    """A client that has shaken hands, sends, and reads only when told to."""

    def __init__(self, house: House) -> None:
        self._house = house
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._rest = b""

    async def connect(self) -> "Sloth":
        loop = asyncio.get_running_loop()
        self.socket.setblocking(False)
        await loop.sock_connect(self.socket, ("127.0.0.1", self._house.port))
        key = base64.b64encode(os.urandom(16))
        await loop.sock_sendall(
            self.socket,
            b"GET /subscribe HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + key + b"\r\n\r\n",
        )
        while b"\r\n\r\n" not in self._rest:
            self._rest += await loop.sock_recv(self.socket, 1024)
        self._rest = self._rest.partition(b"\r\n\r\n")[2]
        return self

    async def send(self, message: Message) -> None:
        document = json.dumps(message).encode()
        assert len(document) < 65_536
        short = len(document) < 126
        size = bytes((0x80 | len(document),)) if short else b"\xfe" + struct.pack(">H", len(document))
        header = b"\x81" + size + bytes(4)  # masked with zeros
        await asyncio.get_running_loop().sock_sendall(self.socket, header + document)

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
async def sloth_at(house: House) -> AsyncIterator[Sloth]:
    sloth = await Sloth(house).connect()
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
            await other.hear(quick)
        assert quick.told == updates
        assert house.broker.subscriptions.outboxes.merged > 0
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
        while not house.broker.subscriptions.outboxes.dropped:
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
    monkeypatch.setattr(connection, "_LINGER", 0.05)
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
        assert house.broker.subscriptions.outboxes.dropped == 1


@asynchronous
async def test_a_client_that_asks_and_never_reads_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_BACKLOG", 1 << 20)
    monkeypatch.setattr(connection, "_LINGER", 0.05)
    async with serving(outbox=65_536) as house, connected(house) as other, sloth_at(house) as sloth:
        await other.update(big(1))
        with suppress(ConnectionError):
            while len(house.gate.connections) > 1:
                await sloth.send({"query": {"sparql": "SELECT * { ?s ?p ?o }"}})
        await other.quiet()
        while len(house.gate.connections) > 1:
            await asyncio.sleep(0.005)


@asynchronous
async def test_who_does_not_answer_a_ping_is_let_go_and_may_come_back() -> None:
    async with serving(ping=0.1) as house, connected(house) as other:
        async with connected(house, enable_auto_pong=False) as dead:
            follower = await dead.follow(ALL)
            await dead.inbox.end()
        while not house.broker.subscriptions.absent:
            await asyncio.sleep(0.005)
        await other.quiet()  # who answers pings stays
        await other.update("INSERT DATA { <a> <p> 1 }")
        async with connected(house) as again:
            follower.take(
                await again.ask({"subscribe": {"resume": {"spuid": follower.spuid, "sequence": 0}, "alias": "it"}})
            )
            assert len(follower.answer) == 1


@asynchronous
async def test_an_evaluation_ends_when_its_client_leaves() -> None:
    endless = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o }"
    async with serving(slice=0.01) as house, connected(house) as other:
        await other.update("INSERT DATA { " + " ".join(f"<s> <p> {n} ." for n in range(200)) + " }")
        async with connected(house) as client:
            client.send({"query": {"sparql": endless}})
            while not house.broker.forks.running:
                await asyncio.sleep(0.005)
        while house.broker.forks.running:
            await asyncio.sleep(0.005)
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
