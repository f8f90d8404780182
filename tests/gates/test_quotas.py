"""What one client may have: beyond it, that client is refused, and nobody else notices."""

import asyncio
import json
from pathlib import Path

import pytest

from broker.making import Clock
from gates.client import connected
from gates.doors import indoors, is_error, listening
from gates.secured import A, secured
from gates.sockets import asynchronous, serving
from tidings.gates.asking import EVERYBODY, Asker
from tidings.gates.errors import RateExceeded
from tidings.gates.quotas import Quota, Quotas, Ticket, client_of
from tidings.model.access import ALL_RIGHTS
from tidings.model.errors import LimitExceeded
from waiting import until

SELECT = f"SELECT * {{ GRAPH <{A}> {{ ?s ?p ?o }} }}"
LONG = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l FILTER (?c = ?f) } ORDER BY ?a"


def test_a_client_is_its_subject_or_else_its_address() -> None:
    assert client_of(Asker("lamp-1", ALL_RIGHTS), "192.0.2.1") == "lamp-1"
    assert client_of(EVERYBODY, "192.0.2.1") == client_of(None, "::ffff:192.0.2.1")
    assert client_of(None, "2001:db8::1") == client_of(None, "2001:db8::ffff:2")
    assert client_of(None, "2001:db8::1") != client_of(None, "2001:db8:0:1::1")


def test_twice_the_rate_at_once_and_then_the_rate() -> None:
    clock = Clock()
    quotas = Quotas(Quota(rate=2), clock.monotonic)
    for _ in range(4):
        quotas.take("a")
    with pytest.raises(RateExceeded) as refused:
        quotas.take("a")
    assert refused.value.data() == {"seconds": 1}
    quotas.take("b")
    clock.pass_by(0.5)
    quotas.take("a")
    with pytest.raises(RateExceeded):
        quotas.take("a")


def test_a_place_is_left_once_and_nothing_is_remembered_of_those_who_left() -> None:
    quotas = Quotas(Quota(requests=2), Clock().monotonic)
    first, _ = Ticket(quotas.requests, "a"), Ticket(quotas.requests, "a")
    with pytest.raises(LimitExceeded) as refused:
        Ticket(quotas.requests, "a")
    assert (refused.value.status, refused.value.code) == (429, "too_many_requests")
    Ticket(quotas.requests, "b").leave()
    first.leave()
    first.leave()
    assert quotas.requests.counts == {"a": 1}


@asynchronous
async def test_who_asks_too_often_over_http_is_told_when_to_come_back() -> None:
    async with indoors(client_rate=0.001) as house:
        assert (await house.http.get("/query", params={"query": "ASK {}"})).status_code == 200
        for path in ("/query", "/", "/nothing", "/rdf-graphs/service"):
            answer = await house.http.get(path, params={"query": "ASK {}"})
            assert is_error(answer, 429, "rate_exceeded")
            assert int(answer.headers["retry-after"]) == answer.json()["seconds"] > 1
        assert is_error(await house.http.post("/update", data={"update": "CLEAR ALL"}), 429, "rate_exceeded")
        assert (await house.http.get("/healthz")).status_code == 200
        counted = (await house.http.get("/metrics")).text
        assert 'tidings_limits_met_total{code="rate_exceeded"} 5.0' in counted


@asynchronous
async def test_who_asks_too_often_over_a_websocket_is_told_so_and_the_conversation_goes_on() -> None:
    async with serving(client_rate=1.5) as house, connected(house) as client:
        quick = [{"update": {"sparql": f"INSERT DATA {{ <s> <p> {n} }}", "alias": str(n)}} for n in range(60)]
        for message in quick:
            client.send(message)
        answers = [await client.next() for _ in quick]
        refused = [answer for answer in answers if "error" in answer]
        assert refused
        assert {(answer["error"], answer["status_code"]) for answer in refused} == {("rate_exceeded", 429)}
        assert all(answer["seconds"] == 1 and answer["alias"] for answer in refused)
        assert len(house.broker.store) == 60 - len(refused)
        assert house.gate.quotas.refusals["rate_exceeded"] == len(refused)


@asynchronous
async def test_each_client_has_a_rate_of_its_own(tmp_path: Path) -> None:
    async with secured(tmp_path, client_rate=10) as house, connected(house) as client:
        reader, boss = [{"authorization": await house.newcomer(name)} for name in ("reader", "boss")]
        found = [
            (await house.http.get("/query", params={"query": SELECT}, headers=reader)).status_code for _ in range(21)
        ]
        assert found == [200] * 20 + [429]
        assert (await house.http.get("/query", params={"query": SELECT}, headers=boss)).status_code == 200
        message = {"query": {"sparql": SELECT, **reader}}
        assert "results" in json.dumps(await client.ask(message))  # whoever it is, this message was of an address
        assert (await client.ask(message))["error"] == "rate_exceeded"
        house.clock.pass_by(10)
        assert (await house.http.get("/query", params={"query": SELECT}, headers=reader)).status_code == 200


@asynchronous
async def test_tokens_that_do_not_count_take_the_rate_of_the_address(tmp_path: Path) -> None:
    async with secured(tmp_path, client_rate=5) as house:
        guesses = [await house.http.get("/query", headers={"authorization": f"Bearer {n}"}) for n in range(11)]
        assert [answer.status_code for answer in guesses] == [401] * 10 + [429]


@asynchronous
async def test_requests_in_work_are_counted_for_each_client_and_given_back() -> None:
    async with listening(client_requests=1, slice=1e-9, timeout=0, max_rows=0) as house:
        await house.update("INSERT DATA { " + " ".join(f"<s{n}> <p> {n} ." for n in range(300)) + " }")
        long = asyncio.create_task(house.http.get("/query", params={"query": LONG}))
        await until(lambda: house.broker.forks.running)
        assert is_error(await house.get("/query", 429, params={"query": "ASK {}"}), 429, "too_many_requests")
        await house.update("INSERT DATA { <s> <p> <o> }")
        long.cancel()
        await asyncio.gather(long, return_exceptions=True)
        await until(lambda: not house.gate.quotas.requests.counts)
        assert (await house.get("/query", params={"query": "ASK {}"})).json()["boolean"]


@asynchronous
async def test_queries_over_a_websocket_are_requests_in_work() -> None:
    async with serving(client_requests=2, slice=1e-9, timeout=0, max_rows=0) as house:
        await house.broker.update("INSERT DATA { " + " ".join(f"<s{n}> <p> {n} ." for n in range(300)) + " }")
        async with connected(house) as client:
            for alias in ("one", "two"):
                client.send({"query": {"sparql": LONG, "alias": alias}})
            refused = await client.ask({"query": {"sparql": "ASK {}", "alias": "three"}})
            assert (refused["error"], refused["alias"]) == ("too_many_requests", "three")
            refused = await client.ask({"subscribe": {"sparql": LONG, "alias": "four"}})
            assert (refused["error"], refused["alias"]) == ("too_many_requests", "four")
        await until(lambda: not house.gate.quotas.requests.counts)


@asynchronous
async def test_a_client_may_subscribe_a_thousand_times_at_once() -> None:
    async with serving() as house, connected(house) as client:
        for number in range(1_000):
            client.send({"subscribe": {"sparql": f"SELECT * {{ ?s <p{number}> ?o }}", "alias": str(number)}})
        first = [await client.next() for _ in range(1_000)]
        assert all(each["notification"]["sequence"] == 0 for each in first)


@asynchronous
async def test_a_subscription_without_a_first_answer_is_a_request_in_work_until_its_client_leaves() -> None:
    async with serving(client_requests=1, slice=1e-9, timeout=0, max_rows=0) as house:
        await house.broker.update("INSERT DATA { " + " ".join(f"<s{n}> <p> {n} ." for n in range(300)) + " }")
        async with connected(house) as client:
            client.send({"subscribe": {"sparql": LONG, "alias": "one"}})
            assert (await client.ask({"query": {"sparql": "ASK {}"}}))["error"] == "too_many_requests"
        await until(lambda: not house.gate.quotas.requests.counts)
        assert not len(house.broker.subscriptions)
        house.broker.abort_forks()


@asynchronous
async def test_updates_of_one_client_that_wait_are_counted_and_others_have_their_turn(tmp_path: Path) -> None:
    async with secured(tmp_path, client_queue=2) as house, connected(house) as client, connected(house) as other:
        writer, boss = [await house.newcomer(name) for name in ("writer", "boss")]
        text = f"INSERT DATA {{ GRAPH <{A}> {{ <s> <p> <o> }} }}"
        assert "response" in await client.ask({"update": {"sparql": text, "authorization": writer}})
        house.broker.updates.hold()
        for alias in ("one", "two", "three"):
            client.send({"update": {"sparql": text, "alias": alias}})
        refused = await client.next()
        assert (refused["error"], refused["alias"]) == ("too_many_requests", "three")
        other.send({"update": {"sparql": text, "authorization": boss}})
        await until(lambda: house.broker.updates.accepted == 3)
        house.broker.updates.resume()
        assert [(await client.next())["response"]["alias"] for _ in range(2)] == ["one", "two"]
        assert "response" in await other.next()
        assert house.quotas.updates.counts == {}


@asynchronous
async def test_an_update_that_cannot_be_bound_takes_no_place() -> None:
    async with serving(client_queue=1) as house, connected(house) as client:
        prepared = await client.ask({"prepare": {"sparql": "INSERT { <s> <p> ?o } WHERE {}"}})
        name = prepared["response"]["prepared"]
        for _ in range(3):
            wrong = await client.ask({"update": {"prepared": name, "bindings": {"o": {"type": "uri", "value": "<>"}}}})
            assert wrong["status_code"] == 400
        right = {"o": {"type": "literal", "value": "x"}}
        assert "response" in await client.ask({"update": {"prepared": name, "bindings": right}})


@asynchronous
async def test_an_address_has_so_many_websockets() -> None:
    async with serving(client_connections=2) as house, connected(house), connected(house):
        async with connected(house) as third:
            assert await third.inbox.end() == 1013
            assert "client_connections" in third.inbox.reason
        await until(lambda: len(house.gate.connections) == 2)
        assert house.gate.quotas.refusals["too_many_connections"] == 1
        assert sum(house.gate.quotas.connections.counts.values()) == 2
    assert house.gate.quotas.connections.counts == {}


@asynchronous
async def test_an_address_opens_so_many_websockets_in_a_time() -> None:
    async with serving(client_rate=0.001) as house:
        async with connected(house) as first:
            assert (await first.ask({"query": {"sparql": "ASK {}"}}))["error"] == "rate_exceeded"
        async with connected(house) as second:
            assert await second.inbox.end() == 1013
            assert "client_rate" in second.inbox.reason


@asynchronous
async def test_an_address_has_so_many_connections_to_the_http_port() -> None:
    async with listening(client_connections=2) as house:
        port = house.http.base_url.port
        idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        refused = await reader.read()
        assert refused.startswith(b"HTTP/1.1 429 ")
        writer.close()
        for _, each in idle:
            each.close()
            await each.wait_closed()

        async def is_let_in() -> bool:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            answer = await reader.read()
            writer.close()
            return answer.startswith(b"HTTP/1.1 200 ")

        while not await is_let_in():
            await asyncio.sleep(0.001)


@asynchronous
async def test_subscriptions_are_counted_for_their_owner_over_all_connections(tmp_path: Path) -> None:
    async with secured(tmp_path, client_subscriptions=2) as house, connected(house) as one, connected(house) as two:
        listener, boss = [await house.newcomer(name) for name in ("listener", "boss")]
        asked = {"sparql": SELECT, "authorization": listener}
        first = await one.ask({"subscribe": asked})
        assert "notification" in first
        assert "notification" in await two.ask({"subscribe": asked})
        for client in (one, two):
            assert (await client.ask({"subscribe": asked}))["error"] == "too_many_subscriptions"
        assert "notification" in await two.ask({"subscribe": {**asked, "authorization": boss}})
        spuid = first["notification"]["spuid"]
        await one.ask({"unsubscribe": {"spuid": spuid, "authorization": listener}})
        assert "notification" in await one.ask({"subscribe": asked})


@asynchronous
async def test_subscriptions_of_nobody_are_counted_for_their_connection() -> None:
    async with serving(client_subscriptions=1) as house, connected(house) as one, connected(house) as two:
        asked = {"subscribe": {"sparql": "SELECT * { ?s ?p ?o }"}}
        assert "notification" in await one.ask(asked)
        assert (await one.ask(asked))["error"] == "too_many_subscriptions"
        assert "notification" in await two.ask(asked)


@asynchronous
async def test_one_client_does_not_have_all_forks(tmp_path: Path) -> None:
    aside = " " * (1 << 16)  # what is so long is read in a fork
    async with secured(tmp_path, timeout=0, max_rows=0, workers=2) as house:
        await house.broker.update("INSERT DATA { " + " ".join(f"<s{n}> <p> {n} ." for n in range(300)) + " }")
        boss, reader = [{"authorization": await house.newcomer(name)} for name in ("boss", "reader")]
        long = [
            asyncio.create_task(house.http.post("/query", data={"query": LONG + aside}, headers=boss)) for _ in range(5)
        ]
        await until(lambda: house.broker.forks.running)
        answer = await house.http.post("/query", data={"query": SELECT + aside}, headers=reader)
        assert answer.status_code == 200
        assert not any(each.done() for each in long)
        for each in long:
            each.cancel()
        await asyncio.gather(*long, return_exceptions=True)
        await until(lambda: not house.broker.forks.running)


@pytest.mark.parametrize("slice_", [1e-9, 100.0])
@asynchronous
async def test_an_answer_has_so_many_bytes(slice_: float) -> None:
    async with indoors(max_answer=2000, slice=slice_) as house:
        await house.update("INSERT DATA { " + " ".join(f"<s{n}> <p> {n} ." for n in range(100)) + " }")
        for accept in ("application/sparql-results+json", "text/csv"):
            answer = await house.http.get(
                "/query", params={"query": "SELECT * { ?s ?p ?o }"}, headers={"accept": accept}
            )
            assert is_error(answer, 503, "answer_too_large")
            assert answer.json()["bytes"] == 2000
        assert is_error(await house.http.get("/rdf-graphs/service?default"), 503, "answer_too_large")
        few = {"query": "SELECT * { ?s ?p ?o } LIMIT 3"}
        assert len((await house.get("/query", params=few)).json()["results"]["bindings"]) == 3
