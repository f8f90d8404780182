"""The client library against a real broker: requests, subscriptions, and connections that break and mend."""

import asyncio
import json
import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from gates.wire import Broker, own_ports, serving
from plain import calls
from tidings.client import IRI, Connection, Endpoint, connect, sync
from tidings.client.errors import CannotConnect, NoAnswer, Refused
from tidings.client.subscription import Change, Subscription
from tidings.model.errors import BadRequest
from waiting import PATIENCE, asynchronous

pytestmark = pytest.mark.server
ALL = "SELECT ?s ?v WHERE { ?s <value> ?v }"
BASE = "http://tidings.example/"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with serving(tmp_path_factory.mktemp("broker"), "--memory") as running:
        yield running


@pytest.fixture(autouse=True)
def empty(broker: Broker) -> None:
    broker.update("CLEAR ALL")


async def soon(subscription: Subscription) -> Change:
    return await asyncio.wait_for(anext(subscription), PATIENCE)


# -- requests ---------------------------------------------------------------------------------------------------


@asynchronous
async def test_an_update_says_what_it_did_and_a_query_gives_rows_of_terms_and_of_values(broker: Broker) -> None:
    async with connect(broker.ws) as client:
        done = await client.update('INSERT DATA { <a> <value> 1, 2.5, "été"@fr, "2026-11-15"^^<urn:x> }')
        assert (done.added, done.removed) == (4, 0)
        answer = await client.query(ALL)
        assert answer.variables == ("s", "v")
        assert {row["s"] for row in answer} == {IRI(f"{BASE}a")}
        assert {row["v"] for row in answer.values()} == {1, Decimal("2.5"), "été", "2026-11-15"}
        assert len(answer) == 4
        assert bool(await client.query("ASK { <a> <value> 1 }")) is True
        assert bool(await client.query("ASK { <a> <value> 7 }")) is False


@asynchronous
async def test_values_are_bound_as_terms_whatever_they_are(broker: Broker) -> None:
    hostile = '"} ; DROP ALL # \\ \n <x>'
    async with connect(broker.ws) as client:
        await client.update("INSERT DATA { ?s <value> ?v }", bindings={"s": IRI("urn:s"), "v": hostile})
        answer = await client.query("SELECT ?s WHERE { ?s <value> ?v }", bindings={"v": hostile})
        assert [row["s"] for row in answer] == ["urn:s"]
        prepared = await client.prepare("DELETE { ?s <value> ?old } INSERT { ?s <value> ?v } WHERE { ?s <value> ?old }")
        assert prepared.variables == ("s", "old", "v")
        for value in (5, hostile, datetime(2026, 11, 15, tzinfo=UTC)):
            done = await prepared(s=IRI("urn:s"), v=value)
            assert (done.added, done.removed) == (1, 1)
            assert (await client.query(ALL)).values()[0]["v"] == value


@asynchronous
async def test_graphs_can_be_named_for_queries_updates_and_subscriptions(broker: Broker) -> None:
    async with connect(broker.ws) as client:
        await client.update("INSERT DATA { GRAPH <urn:g> { <a> <value> 1 } <a> <value> 2 }")
        assert [row["v"] for row in (await client.query(ALL, default_graphs=["urn:g"])).values()] == [1]
        await client.update("INSERT { <b> <value> ?v } WHERE { <a> <value> ?v }", using_graphs=["urn:g"])
        assert {row["v"] for row in (await client.query(ALL)).values()} == {1, 2}
        async with await client.subscribe(ALL, default_graphs=["urn:g"]) as live:
            assert len(live) == 1


@asynchronous
async def test_what_the_broker_refuses_has_its_code_and_text(broker: Broker) -> None:
    async with connect(broker.ws) as client:
        with pytest.raises(Refused, match="line 1, column 1") as raised:
            await client.query("SELEC")
        assert (raised.value.code, raised.value.status) == ("sparql_syntax_error", 400)
        assert raised.value.details["column"] == 1
        with pytest.raises(Refused, match="line 1"):
            await client.subscribe("SELEC")
        with pytest.raises(Refused):
            await client.update("LOAD <file:///etc/passwd>")
        assert await client.query("ASK {}")


@asynchronous
async def test_updates_can_be_scheduled_and_called_off(broker: Broker) -> None:
    async with connect(broker.ws) as client:
        live = await client.subscribe(ALL)
        await soon(live)
        late = await client.schedule("INSERT DATA { <late> <value> 1 }", delay=timedelta(hours=1))
        exact = await client.schedule("INSERT DATA { <late> <value> 2 }", at=datetime(2100, 1, 1, tzinfo=UTC))
        assert exact.time == 4102444800_000_000
        await client.schedule("INSERT DATA { <soon> <value> 1 }", delay=0.05)
        assert [row["s"] for row in (await soon(live)).added] == [f"{BASE}soon"]
        await client.cancel(late)
        await client.cancel(exact.id)
        with pytest.raises(Refused) as raised:
            await client.cancel(late)
        assert raised.value.code == "unknown_delayed"


@asynchronous
async def test_the_http_address_leads_to_the_other_one(broker: Broker) -> None:
    async with connect(broker.http) as client, await client.subscribe(ALL) as live:
        assert live.rows == []


@asynchronous
async def test_nobody_there_is_a_clear_error() -> None:
    for address in ("ws://127.0.0.1:1/subscribe", "http://127.0.0.1:1", "ftp://127.0.0.1"):
        with pytest.raises(CannotConnect, match=r"127\.0\.0\.1"):
            async with connect(address, timeout=PATIENCE):
                raise AssertionError("unreachable")


# -- subscriptions ----------------------------------------------------------------------------------------------


@asynchronous
async def test_a_live_answer_follows_the_graph_and_its_changes_lead_to_it(broker: Broker) -> None:
    async with connect(broker.ws) as client:
        await client.update("INSERT DATA { <a> <value> 1 }")
        async with await client.subscribe(ALL) as live:
            assert live.values() == [{"s": f"{BASE}a", "v": 1}]
            first = await soon(live)
            assert (first.sequence, first.added_values(), first.removed) == (0, [{"s": f"{BASE}a", "v": 1}], [])
            done = await client.update("DELETE { ?s <value> 1 } INSERT { ?s <value> 2 } WHERE { ?s <value> 1 }")
            change = await soon(live)
            assert (change.sequence, change.commit, change.time) == (1, done.sequence, done.time)
            assert change.added_values() == [{"s": f"{BASE}a", "v": 2}]
            assert change.removed_values() == [{"s": f"{BASE}a", "v": 1}]
            assert live.values() == [{"s": f"{BASE}a", "v": 2}]
        with pytest.raises(StopAsyncIteration):
            await soon(live)


@asynchronous
async def test_many_subscriptions_share_a_connection_and_end_one_by_one(broker: Broker) -> None:
    async with connect(broker.ws) as client:
        lives = [await client.subscribe(ALL) for _ in range(5)]
        asks = await client.subscribe("ASK { ?s <value> ?v }")
        await lives[0].unsubscribe()
        await lives[0].unsubscribe()
        await client.update("INSERT DATA { <a> <value> 1 }")
        for live in lives[1:]:
            await soon(live)
            assert len((await soon(live)).added) == 1
        await soon(asks)
        change = await soon(asks)
        assert [row["ask"] for row in change.added_values()] == [True]
        assert [row["ask"] for row in change.removed_values()] == [False]


@asynchronous
async def test_an_application_that_does_not_look_gets_its_changes_added_up(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidings.client.subscription._MOST_WAITING", 3)
    async with connect(broker.ws) as client:
        live = await client.subscribe(ALL)
        for number in range(10):
            await client.update(f"DELETE {{ <a> <value> ?v }} INSERT {{ <a> <value> {number} }} "
                                "WHERE { OPTIONAL { <a> <value> ?v } }")  # fmt: skip
        await client.query("ASK {}")
        assert live.values() == [{"s": f"{BASE}a", "v": 9}]
        changes = [await soon(live) for _ in range(3)]
        assert [change.sequence for change in changes] == [0, 1, 10]
        assert changes[-1].added_values() == [{"s": f"{BASE}a", "v": 9}]
        assert changes[-1].removed_values() == [{"s": f"{BASE}a", "v": 0}]


# -- breaking and mending ---------------------------------------------------------------------------------------


@asynchronous
async def test_after_a_restart_of_the_broker_the_application_sees_one_uninterrupted_sequence(tmp_path: Path) -> None:
    ports = own_ports()
    with serving(tmp_path, *ports) as first:
        client = await connect(first.ws).__aenter__()
        live = await client.subscribe(ALL)
        prepared = await client.prepare("INSERT DATA { <a> <value> ?v }")
        await prepared(v=1)
        assert [(await soon(live)).sequence for _ in range(2)] == [0, 1]
        first.stop(signal.SIGKILL)
    with serving(tmp_path, program=("-m", "tidings", "serve", *ports)):
        await client.query("ASK {}")  # asked again, if the break was noticed only now
        await prepared(v=2)
        change = await soon(live)
        assert (change.sequence, change.added_values()) == (2, [{"s": f"{BASE}a", "v": 2}])
        assert client.reconnections == 1
        assert {row["v"] for row in live.values()} == {1, 2}
        await client.close()


@asynchronous
async def test_a_broker_that_has_forgotten_everything_makes_a_difference_that_is_told_as_a_change(
    tmp_path: Path,
) -> None:
    ports = own_ports()
    with serving(tmp_path, "--memory", *ports) as first:
        client = await connect(first.ws).__aenter__()
        await client.update("INSERT DATA { <a> <value> 1 , 2 }")
        live = await client.subscribe(ALL)
        await soon(live)
        first.stop(signal.SIGKILL)
    with serving(tmp_path, "--memory", program=("-m", "tidings", "serve", *ports)):
        change = await soon(live)
        assert (change.sequence, len(change.removed), change.added) == (1, 2, [])
        await client.update("INSERT DATA { <a> <value> 3 }")
        assert (await soon(live)).added_values() == [{"s": f"{BASE}a", "v": 3}]
        await client.close()


@asynchronous
async def test_patience_ends(tmp_path: Path) -> None:
    with serving(tmp_path, "--memory") as running:
        client = await connect(running.ws, patience=0.3).__aenter__()
        live = await client.subscribe(ALL)
        await soon(live)
        running.stop(signal.SIGKILL)
        with pytest.raises(CannotConnect):
            await soon(live)
        with pytest.raises(CannotConnect):
            await client.query("ASK {}")
        await client.close()


@asynchronous
async def test_an_answer_that_does_not_come_is_not_waited_for_for_ever() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(CannotConnect):
            async with connect(f"ws://127.0.0.1:{port}/subscribe", timeout=0.2):
                raise AssertionError("unreachable")


@asynchronous
async def test_a_query_longer_than_its_time_is_given_up(broker: Broker) -> None:
    async with Connection(broker.ws, timeout=PATIENCE) as client:
        client.timeout = 1e-9
        with pytest.raises(NoAnswer):
            await client.query("ASK {}")


# -- other faces ------------------------------------------------------------------------------------------------


def test_scripts_need_no_await(broker: Broker) -> None:
    with sync.connect(broker.ws) as client:
        assert client.update("INSERT DATA { <a> <value> 1 }").added == 1
        assert client.query(ALL).values() == [{"s": f"{BASE}a", "v": 1}]
        write = client.prepare("INSERT DATA { <a> <value> ?v }")
        with client.subscribe(ALL) as live:
            assert live.next(PATIENCE).sequence == 0
            write(v=2)
            assert next(live).added_values() == [{"s": f"{BASE}a", "v": 2}]
            assert {row["v"] for row in live.values()} == {1, 2}
            assert len(live.rows) == 2
            with pytest.raises(NoAnswer):
                live.next(0.01)
        assert list(live) == []
        client.cancel(client.schedule("CLEAR ALL", delay=1000))
        with pytest.raises(Refused):
            client.query("SELEC")


def test_a_script_that_finds_nobody_is_told_so() -> None:
    with pytest.raises(CannotConnect):
        sync.connect("ws://127.0.0.1:1/subscribe")


@asynchronous
async def test_any_sparql_endpoint_can_be_asked_and_told(broker: Broker) -> None:
    async with Endpoint(f"{broker.http}/query", f"{broker.http}/update") as store:
        done = await store.update("INSERT DATA { ?s <value> ?v }", bindings={"s": IRI("urn:s"), "v": 1})
        assert done is not None
        assert done.added == 1
        assert (await store.query(ALL)).values() == [{"s": "urn:s", "v": 1}]
        with pytest.raises(Refused) as raised:
            await store.query("SELEC")
        assert raised.value.code == "sparql_syntax_error"
    async with Endpoint("http://127.0.0.1:1/query") as nobody:
        with pytest.raises(CannotConnect):
            await nobody.query("ASK {}")


@asynchronous
async def test_the_log_says_who_published_whatever_the_way(tmp_path: Path) -> None:
    with serving(tmp_path, "--data", "data") as kept:
        async with connect(kept.ws, publisher="été") as client:
            await client.update("INSERT DATA { <a> <value> 1 }")
            await (await client.prepare("INSERT DATA { <a> <value> ?v }"))(v=2)
            async with await client.subscribe("ASK { <a> <value> 3 }") as live:
                assert not (await soon(live)).removed
                await client.schedule("INSERT DATA { <a> <value> 3 }", delay=0)
                await soon(live)
        async with Endpoint(f"{kept.http}/query", f"{kept.http}/update", publisher="été") as store:
            await store.update("INSERT DATA { <a> <value> 4 }")
        with sync.connect(kept.ws, publisher="été") as script:
            script.update("INSERT DATA { <a> <value> 5 }")
        async with connect(kept.ws) as nobody:
            await nobody.update("INSERT DATA { <a> <value> 6 }")
        lines = calls.get(f"{kept.http}/log", timeout=PATIENCE).text.splitlines()
    assert [json.loads(line).get("by") for line in lines] == ["été"] * 5 + [None]


@pytest.mark.parametrize("name", ["", "x" * 201, "a\nb"])
def test_a_name_that_no_publisher_can_have_is_refused_at_once(name: str) -> None:
    for face in (connect, Endpoint):
        with pytest.raises(BadRequest, match="printable"):
            face("ws://127.0.0.1:1/subscribe", publisher=name)


def test_rows_become_a_data_frame_if_pandas_is_there(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    with sync.connect(broker.ws) as client:
        client.update("INSERT DATA { <a> <value> 1 . <b> <value> 2 }")
        answer = client.query(ALL)
        try:
            import pandas
        except ImportError:
            with pytest.raises(ImportError, match="pip install pandas"):
                answer.to_pandas()
        else:
            table = answer.to_pandas()
            assert isinstance(table, pandas.DataFrame)
            assert sorted(table["v"]) == [1, 2]
