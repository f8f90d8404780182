"""Agents of a profile: each kind, on a real broker, and an application that spans two of them."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gates.wire import Broker, serving
from tidings.client import Application, Change, Refused, Row
from tidings.client.jsap.mistakes import BadProfile
from waiting import PATIENCE, asynchronous, until

pytestmark = pytest.mark.server


def profile(broker: Broker, **more: Any) -> dict[str, Any]:
    """Sensors have values; those that are too high raise an alarm."""
    return {
        "host": "127.0.0.1",
        "sparql11protocol": {"protocol": "http", "port": broker.http_port},
        "sparql11seprotocol": {"protocol": "ws", "availableProtocols": {"ws": {"port": broker.ws_port}}},
        "namespaces": {"ex": "http://example.org/"},
        "updates": {
            "SET": {
                "sparql": "DELETE { ?sensor ex:value ?old } INSERT { ?sensor ex:value ?value } "
                "WHERE { OPTIONAL { ?sensor ex:value ?old } }",
                "forcedBindings": {
                    "sensor": {"type": "uri"},
                    "value": {"type": "literal", "datatype": "xsd:integer"},
                },
            },
            "ALARM": {
                "sparql": "INSERT DATA { ?sensor ex:alarm ?text }",
                "forcedBindings": {"sensor": {"type": "uri"}, "text": {"type": "literal", "value": "too high"}},
            },
        },
        "queries": {
            "HIGH": {
                "sparql": "SELECT ?sensor ?value WHERE { ?sensor ex:value ?value FILTER(?value > ?limit) }",
                "forcedBindings": {"limit": {"type": "literal", "datatype": "xsd:integer", "value": "30"}},
            },
            "ALARMS": {"sparql": "SELECT ?sensor ?text WHERE { ?sensor ex:alarm ?text }"},
        },
        **more,
    }


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with serving(tmp_path_factory.mktemp("broker"), "--memory") as running:
        yield running


@pytest.fixture(autouse=True)
def empty(broker: Broker) -> None:
    broker.update("CLEAR ALL")


@asynchronous
async def test_a_producer_publishes_and_a_consumer_hears_of_it(broker: Broker) -> None:
    app = Application(profile(broker))
    heard: list[Change] = []
    high = app.consumer("HIGH")(heard.append)
    set_value = app.producer("SET")
    async with app:
        await until(lambda: len(heard) == 1)
        assert heard[0].added == []
        done = await set_value(sensor="ex:s1", value=40)
        assert done is not None
        assert done.added == 1
        await until(lambda: len(heard) == 2)
        assert heard[1].added_values() == [{"sensor": "http://example.org/s1", "value": 40}]
        await set_value(sensor="ex:s1", value=20)
        await until(lambda: len(heard) == 3)
        assert (heard[2].added, len(heard[2].removed)) == ([], 1)
        assert high.rows == []


@asynchronous
async def test_a_combinatorial_aggregator_answers_every_added_row(broker: Broker) -> None:
    app = Application(profile(broker))

    @app.aggregator("HIGH", "ALARM", limit=35)
    def raise_alarm(row: Row) -> dict[str, Any] | None:
        return None if str(row["sensor"]).endswith("ignored") else {"sensor": row["sensor"]}

    alarms: list[Change] = []
    app.consumer("ALARMS")(alarms.append)
    set_value = app.producer("SET")
    async with app:
        for sensor, value in (("ex:s1", 36), ("ex:ignored", 99), ("ex:s2", 34), ("ex:s3", 50)):
            await set_value(sensor=sensor, value=value)
        await until(lambda: len(alarms) == 3)
        told = [row for change in alarms for row in change.added_values()]
        assert told == [{"sensor": f"http://example.org/{name}", "text": "too high"} for name in ("s1", "s3")]
    assert raise_alarm.produce.primitive.name == "ALARM"


@asynchronous
async def test_a_sequential_aggregator_remembers(broker: Broker) -> None:
    app = Application(profile(broker))

    @app.sequential("HIGH", "ALARM", state={"seen": 0})
    async def third_time(state: dict[str, int], change: Change) -> list[dict[str, Any]]:
        await asyncio.sleep(0)
        state["seen"] += len(change.added)
        return [{"sensor": "ex:hall", "text": f"{state['seen']} in all"}] if state["seen"] == 3 else []

    set_value = app.producer("SET")
    async with app:
        for number in range(3):
            await set_value(sensor=f"ex:s{number}", value=90 + number)
        await until(lambda: broker.query("SELECT ?t { <http://example.org/hall> <http://example.org/alarm> ?t }"))
    assert third_time.state == {"seen": 3}


@asynchronous
async def test_an_update_can_be_published_later(broker: Broker) -> None:
    async with Application(profile(broker)) as app:
        await app.producer("ALARM").later(delay=0.02, sensor="ex:s1")
        await until(lambda: broker.query("SELECT ?t { ?s <http://example.org/alarm> ?t }"))


@asynchronous
async def test_agents_share_one_connection_and_an_application_may_span_several_brokers(
    broker: Broker, tmp_path: Path
) -> None:
    with serving(tmp_path, "--memory") as store:
        document = profile(broker)
        document["updates"]["ALARM"]["sparql11protocol"] = {"port": store.http_port}
        app = Application(document)
        app.aggregator("HIGH", "ALARM")(lambda row: {"sensor": row["sensor"]})
        app.consumer("HIGH")(lambda change: None)
        app.consumer("ALARMS")(lambda change: None)
        async with app:
            assert len(app._connections) == 1
            await app.producer("SET")(sensor="ex:s1", value=99)
            await until(lambda: store.query("SELECT ?t { ?s <http://example.org/alarm> ?t }"))
    assert broker.query("SELECT ?t { ?s <http://example.org/alarm> ?t }") == []


@asynchronous
async def test_mistakes_in_names_and_values_are_explained_before_anything_is_sent(broker: Broker) -> None:
    app = Application(profile(broker))
    with pytest.raises(BadProfile, match="did you mean"):
        app.producer("SETT")
    with pytest.raises(BadProfile, match="this is the name of an update"):
        app.consumer("ALARM")
    async with app:
        with pytest.raises(BadProfile, match="missing value"):
            await app.producer("SET")(sensor="ex:s1")
        with pytest.raises(BadProfile, match="sensor"):
            await app.producer("SET")(sensor="not an iri> ; DROP ALL #", value=1)


@asynchronous
async def test_an_agent_that_fails_is_heard_of(broker: Broker) -> None:
    app = Application(profile(broker))

    @app.consumer("HIGH")
    def fail(change: Change) -> None:
        raise RuntimeError("on purpose")

    async with app:
        with pytest.raises(RuntimeError, match="on purpose"):
            await asyncio.wait_for(app.wait(), PATIENCE)


@asynchronous
async def test_a_query_that_the_broker_refuses_ends_the_start(broker: Broker) -> None:
    document = profile(broker)
    document["queries"]["HIGH"]["sparql"] += " LIMIT 1"
    document["queries"]["SERVICE"] = {"sparql": "SELECT * WHERE { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }"}
    app = Application(document)
    app.consumer("SERVICE")(lambda change: None)
    with pytest.raises(Refused):
        async with app:
            raise AssertionError("unreachable")
    await app.close()
