"""The listings of "Dynamic Linked Data: A SPARQL Event Processing Architecture" (2018) do what the paper says they do.

Listings 1 to 4 are the wire, 12 to 18 profiles. What had to be mended in the profiles is noted in `listings`.
"""

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from client import listings
from gates.client import connected
from gates.wire import Broker, serving
from tidings.client import Application, Change, Endpoint, Row, load
from waiting import asynchronous, until

pytestmark = pytest.mark.server

SCHEMA = "http://schema.org/"
MONITOR = "http://mml.arces.unibo.it/monitor#"
UNIT = "http://qudt.org/1.1/vocab/unit#"
PEOPLE = f"""
PREFIX schema: <{SCHEMA}>
INSERT DATA {{
  schema:PersonURI1 a schema:Person ; schema:name "One" .
  schema:PersonURI2 a schema:Person ; schema:name "Two" }}
"""
MESSAGES = f"SELECT ?m WHERE {{ ?m a <{SCHEMA}Message> }}"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with serving(tmp_path_factory.mktemp("broker"), "--memory") as running:
        yield running


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with serving(tmp_path_factory.mktemp("store"), "--memory") as running:
        yield running


@pytest.fixture(autouse=True)
def empty(broker: Broker, store: Broker) -> None:
    for some in (broker, store):
        some.update("CLEAR ALL")


def addressed(listing: str | dict[str, Any], broker: Broker) -> dict[str, Any]:
    """A listing with the address of a broker in the places that the paper leaves open."""
    document: dict[str, Any] = json.loads(listing) if isinstance(listing, str) else dict(listing)
    gates = {"ws": {"port": broker.ws_port, "path": "/subscribe"}}
    return document | {
        "host": "127.0.0.1",
        "sparql11protocol": {"port": broker.http_port},
        "sparql11seprotocol": {"protocol": "ws", "availableProtocols": gates},
    }


# -- listings 1 to 4: the Subscribe language --------------------------------------------------------------------


@asynchronous
async def test_listings_1_to_4_are_the_life_of_a_subscription(broker: Broker) -> None:
    async with connected(broker) as socket:
        # Listing 1. Mended: the remarks `(optional)` are no JSON; the query is filled in.
        socket.send(
            '{ "subscribe" : {\n'
            '"sparql": "SELECT ?s ?o WHERE { ?s <http://example.org/p> ?o }",\n'
            '"authorization": "Bearer Here goes the JWT",\n'
            '"alias": "Friendly name" }}'
        )
        # Listing 2. Mended: a closing brace was missing.
        first = (await socket.next())["notification"]
        assert {"spuid", "alias", "sequence", "addedResults", "removedResults"} <= set(first)
        assert (first["alias"], first["sequence"]) == ("Friendly name", 0)
        assert first["addedResults"]["results"]["bindings"] == first["removedResults"]["results"]["bindings"] == []
        spuid = first["spuid"]

        broker.update('INSERT DATA { <http://example.org/s> <http://example.org/p> "one" }')
        second = (await socket.next())["notification"]
        assert (second["spuid"], second["sequence"]) == (spuid, 1)
        (row,) = second["addedResults"]["results"]["bindings"]
        assert row == {"s": {"type": "uri", "value": "http://example.org/s"}, "o": {"type": "literal", "value": "one"}}

        broker.update('DELETE DATA { <http://example.org/s> <http://example.org/p> "one" }')
        third = (await socket.next())["notification"]
        assert (third["spuid"], third["sequence"]) == (spuid, 2)
        assert third["addedResults"]["results"]["bindings"] == []
        assert third["removedResults"]["results"]["bindings"] == [row]

        # Listing 3, and Listing 4, which has nothing but the name of the subscription.
        socket.send(json.dumps({"unsubscribe": {"spuid": spuid, "authorization": "Bearer Here goes the JWT"}}))
        assert await socket.next() == {"unsubscribed": {"spuid": spuid}}

        broker.update('INSERT DATA { <http://example.org/s> <http://example.org/p> "two" }')
        response = await socket.ask({"query": {"sparql": "ASK {}", "alias": "nothing came in between"}})
        assert response["response"]["alias"] == "nothing came in between"


@asynchronous
async def test_the_answer_at_the_time_of_subscribing_is_the_first_notification(broker: Broker) -> None:
    broker.update('INSERT DATA { <http://example.org/s> <http://example.org/p> "one" }')
    async with connected(broker) as socket:
        message = await socket.ask({"subscribe": {"sparql": "SELECT ?o WHERE { ?s <http://example.org/p> ?o }"}})
        notification = message["notification"]
        assert notification["sequence"] == 0
        assert [row["o"]["value"] for row in notification["addedResults"]["results"]["bindings"]] == ["one"]
        assert notification["removedResults"]["results"]["bindings"] == []


# -- listings 12 to 15: the structure of a profile --------------------------------------------------------------


@asynchronous
async def test_the_update_of_listings_12_to_15_is_carried_out_where_its_own_section_says(
    broker: Broker, store: Broker
) -> None:
    document = addressed(listings.STRUCTURE, store)
    primitive = {**listings.PRIMITIVE, "sparql11protocol": {"port": broker.http_port}}
    document["updates"] = {"IDENTIFIER": primitive}
    async with Application(document) as app:
        # The graphs of an update are the dataset of its WHERE; INSERT DATA has none.
        done = await app.producer("IDENTIFIER")()
        assert done is not None
        assert done.added == 1
        await app.producer("IDENTIFIER")(words="good night", lamp="prefix-N:other")
    said = broker.query("SELECT ?lamp ?words WHERE { ?lamp <http://example.org/one#says> ?words } ORDER BY ?lamp")
    assert [(row["lamp"]["value"], row["words"]["value"]) for row in said] == [
        ("http://example.org/n#lamp", "hello"),
        ("http://example.org/n#other", "good night"),
    ]
    assert store.query("SELECT ?s WHERE { ?s ?p ?o }") == []


@asynchronous
async def test_the_graphs_of_listing_12_are_the_dataset_of_its_queries(broker: Broker) -> None:
    document = addressed(listings.STRUCTURE, broker)
    document["updates"] = {}
    document["queries"] = {"Q": {"sparql": "SELECT ?o ?n WHERE { ?s ?p ?o . GRAPH ?g { ?s ?p ?n } }"}}
    broker.update(
        "INSERT DATA { <urn:s> <urn:p> 0 GRAPH <http://example.org/a> { <urn:s> <urn:p> 1 } "
        "GRAPH <http://example.org/b> { <urn:s> <urn:p> 2 } GRAPH <http://example.org/c> { <urn:s> <urn:p> 3 } }"
    )
    app = Application(document)
    consumer = app.consumer("Q")(lambda _: None)
    async with app:
        assert consumer.rows == [{"o": "1", "n": "2"}]


# -- listing 16: the chat ---------------------------------------------------------------------------------------


@asynchronous
async def test_listing_16_is_the_sequence_of_figure_8(broker: Broker) -> None:
    broker.update(PEOPLE)
    app = Application(addressed(listings.CHAT, broker))
    sent_2: list[Change] = []
    app.consumer("SENT", receiver="schema:PersonURI2")(sent_2.append)
    app.consumer("SENT", receiver="schema:PersonURI1")(lambda change: others.extend(change.added))
    received_1: list[Change] = []
    app.consumer("RECEIVED", sender="schema:PersonURI1")(received_1.append)
    others: list[Row] = []
    async with app:
        await app.producer("SEND")(sender="schema:PersonURI1", receiver="schema:PersonURI2", text="hello")  # (1)
        await until(lambda: len(sent_2) == 2)  # (2)
        (row,) = sent_2[1].added
        assert (row["sender"], row["name"], row["text"]) == (f"{SCHEMA}PersonURI1", "One", "hello")
        assert row["message"].startswith(f"{SCHEMA}Message-")
        await app.producer("SET_RECEIVED")(message=row["message"])  # (3)
        await until(lambda: len(received_1) == 2)  # (4)
        assert [told["message"] for told in received_1[1].added] == [row["message"]]
        await app.producer("REMOVE")(message=row["message"])  # (5)
        # "… and the Receiver agent is notified of the removed bindings"
        await until(lambda: len(sent_2) == 3 and len(received_1) == 3)
        assert (sent_2[2].added, sent_2[2].removed) == ([], [row])
    assert broker.query(MESSAGES) == []
    assert others == []


@asynchronous
async def test_listing_16_sends_nothing_to_who_is_no_person(broker: Broker) -> None:
    broker.update(PEOPLE)
    async with Application(addressed(listings.CHAT, broker)) as app:
        done = await app.producer("SEND")(sender="schema:PersonURI1", receiver="schema:Nobody", text="hello")
    assert done is not None
    assert (done.added, done.removed) == (0, 0)


@asynchronous
async def test_the_first_experiment_of_the_paper(broker: Broker) -> None:
    """10 SEND updates, 10 SENT queries, 10 SET_RECEIVED updates, 10 RECEIVED queries and 10 REMOVE updates."""
    broker.update(PEOPLE)
    one, two = "schema:PersonURI1", "schema:PersonURI2"
    async with Application(addressed(listings.CHAT, broker)) as app:
        for number in range(10):
            done = await app.producer("SEND")(sender=one, receiver=two, text=f"message {number}")
            assert done is not None
            assert (done.added, done.removed) == (5, 0)
        for _ in range(10):
            sent = await app.query("SENT", receiver=two)
            assert [row["text"] for row in sent] == [f"message {number}" for number in range(10)]  # ORDER BY ?time
            assert len(await app.query("SENT", receiver=one)) == 0
        for number, row in enumerate(sent):
            assert len(await app.query("RECEIVED", sender=one)) == number
            done = await app.producer("SET_RECEIVED")(message=row["message"])
            assert done is not None
            assert (done.added, done.removed) == (1, 0)
        for _ in range(10):
            received = await app.query("RECEIVED", sender=one)
            assert {row["message"] for row in received} == {row["message"] for row in sent}
        for row in received:
            done = await app.producer("REMOVE")(message=row["message"])
            assert done is not None
            assert (done.added, done.removed) == (0, 6)
        assert len(await app.query("SENT", receiver=two)) == len(await app.query("RECEIVED", sender=one)) == 0
    assert broker.query(MESSAGES) == []


@asynchronous
async def test_the_second_experiment_of_the_paper(broker: Broker) -> None:
    """A client sends itself 100 messages without any break; each goes through the sequence of Figure 8."""
    broker.update(PEOPLE)
    me = "schema:PersonURI1"
    app = Application(addressed(listings.CHAT, broker))
    texts: list[str] = []
    removed: list[str] = []

    @app.aggregator("SENT", "SET_RECEIVED", receiver=me)
    def receive(row: Row) -> dict[str, Any]:
        texts.append(str(row["text"]))
        return {"message": row["message"]}

    @app.aggregator("RECEIVED", "REMOVE", sender=me)
    def remove(row: Row) -> dict[str, Any]:
        removed.append(str(row["message"]))
        return {"message": row["message"]}

    send = app.producer("SEND")
    async with app:
        for number in range(100):
            await send(sender=me, receiver=me, text=str(number))
        await until(lambda: len(removed) == 100 and not receive.rows and not remove.rows)
    assert texts == [str(number) for number in range(100)]
    assert len(set(removed)) == 100
    assert broker.query(MESSAGES) == []


# -- listings 17 and 18: the monitor ----------------------------------------------------------------------------


@asynchronous
async def test_listings_17_and_18_map_a_topic_and_store_its_values_elsewhere(broker: Broker, store: Broker) -> None:
    document = addressed(listings.MQTT, broker) | {"extended": listings.MAPPING}
    document["updates"]["STORE_OBSERVATION"]["sparql11protocol"] = {"port": store.http_port}
    profile = load(document)
    app = Application(profile)
    topics = app.consumer("TOPICS")(lambda _: None)
    app.aggregator("OBSERVATIONS_VALUES", "STORE_OBSERVATION")(
        lambda row: {name: row[name] for name in ("observation", "unit", "value")}
    )
    values = app.consumer("OBSERVATIONS_VALUES")(lambda _: None)
    ((topic, mapping),) = profile.extended["semantic-mappings"].items()
    observation = f"{MONITOR}Pepoli-6lowpan-Nod01-Temperature"
    async with app:
        await app.producer("ADD_OBSERVATION")(topic=topic, **mapping)
        await until(lambda: topics.rows == [{"observation": observation, "topic": topic}])
        assert values.rows == []  # there is a quantity, and no value yet
        for value in ("21.5", "21.75", "21.75", "-3"):
            await app.producer("UPDATE_VALUE")(observation=observation, value=Decimal(value))
        await until(lambda: [row["value"] for row in values.rows] == ["-3"])
        (row,) = values.rows
        assert (row["label"], row["location"]) == ("Server room temperature", f"{MONITOR}Star")
        assert row["unit"] == f"{UNIT}DegreeCelsius"
        await until(lambda: len(_stored(store)) == 3)
    assert sorted(_stored(store)) == ["-3", "21.5", "21.75"]
    assert broker.query("SELECT ?t WHERE { ?i <http://www.w3.org/2006/time#inXSDDateTimeStamp> ?t }") == []


@asynchronous
async def test_an_observation_of_listing_18_that_is_added_again_is_replaced(broker: Broker) -> None:
    async with Application(addressed(listings.MQTT, broker)) as app:
        add, update = app.producer("ADD_OBSERVATION"), app.producer("UPDATE_VALUE")
        same = {
            "observation": "arces-monitor:o",
            "unit": "qudt-unit-1-1:Percent",
            "location": "arces-monitor:l",
            "comment": "c",
        }
        await add(topic="a/b", label="old", **same)
        await update(observation="arces-monitor:o", value=1)
        before = broker.query("SELECT ?s ?p ?o WHERE { ?s ?p ?o }")
        await add(topic="a/c", label="new", **same)
        assert [row["topic"] for row in await app.query("TOPICS")] == ["a/c"]
        assert len(await app.query("OBSERVATIONS_VALUES")) == 0
        assert len(broker.query("SELECT ?s ?p ?o WHERE { ?s ?p ?o }")) == len(before) - 1  # the value


def _stored(store: Broker) -> list[str]:
    """The values that have all that the paper says: a quantity, its unit, and an instant with a time stamp."""
    rows = store.query(
        "PREFIX sosa: <http://www.w3.org/ns/sosa/> PREFIX time: <http://www.w3.org/2006/time#> "
        "PREFIX qudt: <http://qudt.org/1.1/schema/qudt#> "
        "SELECT ?t ?v WHERE { ?o a sosa:Observation ; sosa:hasResult ?q . "
        "?q a qudt:QuantityValue ; qudt:unit ?u ; qudt:numericValue ?v ; time:hasTime ?i . "
        "?i a time:Instant ; time:inXSDDateTimeStamp ?t }"
    )
    return [row["v"]["value"] for row in rows if row["t"]["value"].endswith("Z")]


@asynchronous
async def test_queries_of_a_listing_can_be_asked_of_any_endpoint(broker: Broker) -> None:
    broker.update(PEOPLE)
    profile = load(addressed(listings.CHAT, broker))
    async with Endpoint(profile.query("SENT").http.url) as endpoint:
        assert len(await endpoint.query(profile.query("SENT").bind(receiver="schema:PersonURI2"))) == 0
