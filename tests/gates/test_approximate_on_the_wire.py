"""Sarah's parking over the wire: from an RDF update, and from events as JSON, to notifications."""

import json
from collections.abc import Iterator

import pytest

from gates.client import Message, connected
from gates.wire import Broker, serving
from plain import calls
from waiting import PATIENCE, asynchronous

pytestmark = pytest.mark.server

PREFIX = "PREFIX : <http://city.example/>"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with serving(tmp_path_factory.mktemp("broker"), "--memory", "--matching", "vectors") as running:
        yield running


def bindings(notification: Message) -> list[Message]:
    found = notification["notification"]["addedResults"]["results"]["bindings"]
    assert isinstance(found, list)
    return found


@asynchronous
async def test_from_an_update_to_the_notification(broker: Broker) -> None:
    async with connected(broker) as sarah:
        text = f"{PREFIX} MATCHING ?garage {{empty parking slot~ > 0}} WHERE {{ ?garage :in :Galway }}"
        sarah.send({"subscribe": {"sparql": text, "alias": "sarah"}})
        assert bindings(await sarah.next()) == []
        broker.update(
            f"{PREFIX} INSERT DATA {{ :g1 :in :Galway ; :parkingVacancy 3 . :g2 :in :Cork ; :parkingVacancy 5 }}"
        )
        heard = await sarah.next()
        (row,) = bindings(heard)
        assert heard["notification"]["alias"] == "sarah"
        assert row["garage"] == {"type": "uri", "value": "http://city.example/g1"}
        assert float(row["degree"]["value"]) > 0.5
        ((met,),) = (each["met"] for each in json.loads(row["mapping"]["value"]))
        assert (met["predicate"], met["tuple"]) == ("empty parking slot~ > 0", "parkingVacancy = 3")


@asynchronous
async def test_from_published_events_to_the_notification(broker: Broker) -> None:
    async with connected(broker) as sarah:
        sarah.send({"subscribe": {"matching": {"predicates": "{empty parking slot~ > 0}"}}})
        (await sarah.next())
        event = {"parking vacancy": 3, "city": "Galway"}
        answer = calls.post(f"{broker.http}/events", json=event, timeout=PATIENCE)
        assert answer.json() == {"response": {"events": 1, "matched": 1}}
        (row,) = bindings(await sarah.next())
        assert json.loads(row["event"]["value"]) == event
        sarah.send({"publish": {"event": [event, {"vehicles": 0}], "alias": "x"}})
        answers = [(await sarah.next()), (await sarah.next())]
        assert {"response": {"events": 2, "matched": 1, "alias": "x"}} in answers
        lines = "\n".join(json.dumps(each) for each in (event, event))
        kind = {"content-type": "application/x-ndjson"}
        answer = calls.post(f"{broker.http}/events", content=lines, headers=kind, timeout=PATIENCE)
        assert answer.json() == {"response": {"events": 2, "matched": 2}}


def test_an_event_stream_takes_approximate_subscriptions_as_well(broker: Broker) -> None:
    asked = {"query": "MATCHING {empty parking slot~ > 0}"}
    with calls.stream("GET", f"{broker.http}/subscribe", params=asked, timeout=PATIENCE) as stream:
        data = (json.loads(line[5:]) for line in stream.iter_lines() if line.startswith("data:"))
        next(data)
        calls.post(f"{broker.http}/events", json={"parking vacancy": 3}, timeout=PATIENCE)
        assert len(bindings(next(data))) == 1


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, "bad_request"),
        (b'{"a": {"b": 1}}', 400, "matching_document_error"),
        (json.dumps({"a": list(range(1_001))}).encode(), 413, "request_too_complex"),
        (json.dumps([{}] * 1_001).encode(), 413, "request_too_complex"),
    ],
)
def test_a_bad_event_is_refused_with_a_code(broker: Broker, body: bytes, status: int, code: str) -> None:
    answer = calls.post(f"{broker.http}/events", content=body, timeout=PATIENCE)
    assert (answer.status_code, answer.json()["error"]) == (status, code)


@asynchronous
async def test_a_bad_subscription_says_where_it_is_wrong(broker: Broker) -> None:
    async with connected(broker) as client:
        client.send({"subscribe": {"matching": "{a = }", "alias": "bad"}})
        refused = await client.next()
    assert (refused["error"], refused["column"], refused["alias"]) == ("matching_syntax_error", 6, "bad")


@asynchronous
async def test_it_is_listed_explained_and_counted(broker: Broker) -> None:
    text = "MATCHING {colour~ = red~}"
    async with connected(broker) as client:
        client.send({"subscribe": {"sparql": text}})
        spuid = (await client.next())["notification"]["spuid"]
        listed = calls.get(f"{broker.http}/subscriptions", timeout=PATIENCE).json()["subscriptions"]
        assert text in [each["sparql"] for each in listed]
        plan = calls.get(f"{broker.http}/subscriptions/{spuid}", params={"format": "text"}, timeout=PATIENCE).text
        assert "Matching: {colour~ = red~}" in plan
        told = calls.post(f"{broker.http}/events", content=b'{"colour": "red"}', timeout=PATIENCE).json()
        assert told["response"]["matched"] == 1
        status = calls.get(f"{broker.http}/status", timeout=PATIENCE).json()["matching"]
        assert status["subscriptions"] == len(listed)  # those of the other tests may still come back
        assert status["matches"] > 0
