"""Approximate subscriptions: told of published events and of subjects that updates touch, as durably as any."""

import json
from pathlib import Path
from typing import Any

import pytest

from broker.making import Client, Clock, Known, crashed, in_memory, opened, settled
from matching.backends import Told
from tidings.broker.approximate.clause import is_approximate, query_for, read_clause, text_of
from tidings.broker.approximate.matching import Words
from tidings.broker.broker import Broker
from tidings.broker.policy import Policy
from tidings.matching.language.bounds import Bounds
from tidings.matching.language.documents import event_of
from tidings.matching.language.errors import MatchingSyntaxError
from tidings.matching.matcher.scores import Knowledge
from tidings.model.access import Graphs, Rights
from tidings.model.errors import BadRequest, ExtraMissing, GraphNotWritable, SparqlSyntaxError, TidingsError
from tidings.model.terms import lexical_form
from waiting import asynchronous, until

PREFIXES = "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
SARAH = "MATCHING {empty parking slot~ > 0}"
VACANT = {"parking vacancy": 3, "@id": "http://example.org/garage1"}


def knowledge() -> Knowledge:
    return Knowledge(Told({("empty parking slot", "parking vacancy"): 0.8, ("garage", "car park"): 0.9}))


POLICY = Policy(slice_seconds=5.0, words=Words(load=knowledge))


async def subscribed(broker: Broker, text: str, rights: Rights | None = None) -> Client:
    client = Client(broker) if rights is None else Client(broker, "somebody", rights)
    client.subscribe(text)
    await until(lambda: client.known or client.errors)
    return client


async def publish(broker: Broker, *events: dict[str, Any], graph: str = "") -> int:
    return (await broker.matching.publish([event_of(each) for each in events], graph)).matched


def rows(known: Known) -> list[tuple[Any, ...]]:
    """Subject, event, degree, and the tuples that were met, of all rows."""
    found = []
    for *exact, event, degree, mapping in known.answer.elements():
        assert event is not None
        assert degree is not None
        assert mapping is not None
        met = [each["tuple"] for each in json.loads(lexical_form(mapping))[0]["met"]]
        found.append((*exact, json.loads(lexical_form(event)), float(lexical_form(degree)), met))
    return found


# -- texts --------------------------------------------------------------------------------------------------------


def test_a_text_is_approximate_if_it_begins_so() -> None:
    assert is_approximate("# a comment\nPREFIX : <http://x/> matching ?g {a = b}")
    for text in ("SELECT ?matching { ?matching ?p ?o }", 'ASK { ?s ?p "MATCHING {a = b}" }', "MATCHING"):
        assert not is_approximate(text)


def test_the_query_that_stands_for_it_has_its_text() -> None:
    text = 'PREFIX : <http://x/>\nMATCHING ?g {"a } b"~ > 0} WHERE { ?g a :Garage ; :name ?n }'
    query = query_for(text, Bounds())
    assert text_of(query) == text
    assert query.startswith("SELECT ?g ?n ?event ?degree ?mapping WHERE {")
    assert text_of("SELECT ?s { ?s ?p ?o } #MATCHING nothing") is None


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("MATCHING {a = }", MatchingSyntaxError),
        ("MATCHING {a = b} AND MORE", BadRequest),
        ("MATCHING {a = b} WHERE { ?s ?p", SparqlSyntaxError),
        ("MATCHING ?x {a = b} WHERE { ?s ?p ?o }", BadRequest),
        ("MATCHING {a = b} WHERE { <a> <b> <c> }", BadRequest),
        ("MATCHING {a = b} WHERE { ?s ?p ?event }", BadRequest),
    ],
)
def test_what_is_wrong_with_a_text_is_said(text: str, error: type[TidingsError]) -> None:
    with pytest.raises(error):
        read_clause(text, Bounds(), "http://example.org/")


# -- events -------------------------------------------------------------------------------------------------------


@asynchronous
async def test_whoever_asked_for_it_in_other_words_is_told_of_an_event(clock: Clock) -> None:
    async with in_memory(clock, POLICY) as broker:
        sarah = await subscribed(broker, SARAH)
        assert await publish(broker, VACANT, {"parking vacancy": 0}, {}) == 1
        assert rows(sarah.only) == [
            ("<http://example.org/garage1>", VACANT, 0.8, ["parking vacancy = 3"]),
        ]  # fmt: skip
        assert await publish(broker, VACANT) == 1
        assert sarah.only.sequence == 2
        assert len(rows(sarah.only)) == 2
        status = broker.status()
        assert (status.approximate, status.events, status.matches) == (1, 4, 2)


@asynchronous
async def test_sarah_is_told_of_an_update_that_touches_a_garage(clock: Clock) -> None:
    async with in_memory(clock, POLICY) as broker:
        await broker.update(f'{PREFIXES} INSERT DATA {{ <vacancy> rdfs:label "Parking vacancy"@en, "Frei"@de }}')
        sarah = await subscribed(broker, SARAH)
        await broker.update("INSERT DATA { <garage1> a <Garage> ; <vacancy> 3 }")
        await settled(broker)
        ((subject, event, degree, met),) = rows(sarah.only)
        assert (subject, degree, met) == ("<http://example.org/garage1>", 0.8, ["Parking vacancy = 3"])
        assert event == {"@id": "http://example.org/garage1", "Parking vacancy": 3, "type": "Garage"}
        await broker.update("DELETE { <garage1> <vacancy> 3 } INSERT { <garage1> <vacancy> 0 } WHERE {}")
        await broker.update("DELETE WHERE { <garage1> ?p ?o }")
        await settled(broker)
        assert sarah.only.sequence == 1


@asynchronous
async def test_one_whose_first_answer_takes_longer_than_a_slice_is_told_of_events_as_any_other() -> None:
    policy = Policy(slice_seconds=0.5, seconds=1e6, words=Words(load=knowledge))
    async with in_memory(Clock(step=1.0), policy) as broker:  # so slow that a fork finds every first answer
        sarah = await subscribed(broker, f"{SARAH} WHERE {{ ?garage a <Garage> }}")
        plain = await subscribed(broker, SARAH)
        await broker.update("INSERT DATA { <garage1> a <Garage> ; <parkingVacancy> 3 }")
        await until(lambda: sarah.only.answer and plain.only.answer)
        assert broker.matching.skipped == 0


@asynchronous
async def test_a_pattern_has_to_hold_exactly(clock: Clock) -> None:
    async with in_memory(clock, POLICY) as broker:
        client = await subscribed(broker, f"{SARAH} WHERE {{ ?garage <in> <Galway> ; <name> ?name }}")
        await broker.update(
            'INSERT DATA { <g1> <in> <Galway> ; <name> "Quay" ; <parkingVacancy> 2 . <g2> <in> <Cork> ; <name> "Lee" ; '
            "<parkingVacancy> 9 }"
        )
        await settled(broker)
        ((subject, name, _, _, met),) = rows(client.only)
        assert (subject, name, met) == ("<http://example.org/g1>", '"Quay"', ["parkingVacancy = 2"])
        assert await publish(broker, VACANT, {"parking vacancy": 3}) == 0
        assert await publish(broker, {"parking vacancy": 7, "@id": "http://example.org/g1"}) == 1


@asynchronous
async def test_exact_subscriptions_are_told_as_ever_and_nothing_is_loaded_for_them(clock: Clock) -> None:
    async with in_memory(clock, Policy(slice_seconds=5.0)) as broker:
        exact = await subscribed(broker, "SELECT ?o { <s> <p> ?o }")
        await broker.update("INSERT DATA { <s> <p> 1 }")
        assert await publish(broker, VACANT) == 0
        await settled(broker)
        assert (exact.only.sequence, broker.matching.is_ready) == (1, False)
        refused = await subscribed(broker, SARAH)
        assert isinstance(refused.errors[0], ExtraMissing)


@asynchronous
async def test_a_subscription_that_ended_is_told_nothing(clock: Clock) -> None:
    async with in_memory(clock, POLICY) as broker:
        sarah = await subscribed(broker, SARAH)
        sarah.unsubscribe(sarah.only.spuid)
        assert await publish(broker, VACANT) == 0
        assert len(broker.matching) == 0


@asynchronous
async def test_a_plan_says_what_is_matched(clock: Clock) -> None:
    async with in_memory(clock, POLICY) as broker:
        await subscribed(broker, f"{SARAH} WHERE {{ ?garage <in> <Galway> }}")
        (subscriber,) = broker.subscribers()
        told = broker.explain(subscriber).to_text()
        assert "Matching: {empty parking slot~ > 0}, degree at least 0.5, by told" in told
        assert "Pattern: " in told


# -- rights -------------------------------------------------------------------------------------------------------


def graphs(*names: str) -> Graphs:
    return Graphs(names=frozenset(f"<http://example.org/{name}>" for name in names))


@asynchronous
async def test_nobody_is_told_of_what_they_may_not_see(clock: Clock) -> None:
    async with in_memory(clock, POLICY) as broker:
        mine = graphs("mine")
        somebody = await subscribed(broker, SARAH, Rights(read=mine, subscribe=mine))
        await broker.update("INSERT DATA { GRAPH <other> { <g> <parkingVacancy> 3 } <g> <parkingVacancy> 4 }")
        assert await publish(broker, VACANT) == 0
        assert await publish(broker, VACANT, graph="<http://example.org/mine>") == 1
        await broker.update("INSERT DATA { GRAPH <mine> { <g> <parkingVacancy> 5 } }")
        await settled(broker)
        assert [met for *_, met in rows(somebody.only)] == [["parking vacancy = 3"], ["parkingVacancy = 5"]]
        both = graphs("mine", "other")
        broker.rights_changed("somebody", Rights(read=both, subscribe=both), "more")
        await settled(broker)
        assert await publish(broker, VACANT, graph="<http://example.org/other>") == 1


@asynchronous
async def test_nobody_publishes_where_they_may_not_write(clock: Clock) -> None:
    async with in_memory(clock, POLICY) as broker:
        with pytest.raises(GraphNotWritable):
            await broker.matching.publish([event_of(VACANT)], rights=Rights(read=Graphs.ALL, subscribe=Graphs.ALL))


# -- durability ---------------------------------------------------------------------------------------------------


@asynchronous
async def test_a_client_that_comes_back_is_told_what_it_missed(clock: Clock) -> None:
    async with in_memory(clock, POLICY) as broker:
        sarah = await subscribed(broker, SARAH)
        await publish(broker, VACANT)
        sarah.lose()
        await publish(broker, VACANT)
        sarah.come_back()
        sarah.resume(sarah.only.spuid)
        await settled(broker)
        assert sarah.only.resumed == [True]
        assert len(rows(sarah.only)) == 2


@asynchronous
async def test_a_slow_client_is_told_all_of_it_at_once(clock: Clock) -> None:
    async with in_memory(clock, POLICY) as broker:
        sarah = await subscribed(broker, SARAH)
        sarah.fill()
        for _ in range(3):
            await publish(broker, VACANT)
        sarah.drain()
        await settled(broker)
        assert (sarah.only.sequence, len(rows(sarah.only))) == (1, 3)


@asynchronous
@pytest.mark.parametrize(("backend", "matched"), [("vectors", 0), ("minilm", 1)])
async def test_a_broker_has_the_backend_of_its_settings(
    clock: Clock, tmp_path: Path, backend: str, matched: int
) -> None:
    async with opened(clock, tmp_path, matching=backend) as broker:
        await subscribed(broker, "MATCHING {device = ventilator~}")
        assert await publish(broker, {"device": "breathing machine"}) == matched


@asynchronous
async def test_after_a_crash_the_numbers_go_on_whatever_is_known_about_words_by_then(
    clock: Clock, tmp_path: Path
) -> None:
    async with opened(clock, tmp_path / "a", matching="vectors") as broker:
        sarah = await subscribed(broker, SARAH)
        await publish(broker, VACANT)
        sarah.fill()
        await publish(broker, VACANT)
        await publish(broker, VACANT)
        sarah.drain()
        await broker.update("INSERT DATA { <garage1> <parkingVacancy> 3 }")
        await settled(broker)
        assert (sarah.only.sequence, len(rows(sarah.only))) == (3, 4)
        second = opened(clock, crashed(tmp_path / "a", tmp_path / "b"), matching="vectors")
    async with second:
        assert len(second.matching) == 1
        await publish(second, VACANT)
        sarah.come_back(second)
        sarah.resume(sarah.only.spuid)
        await settled(second)
        assert sarah.only.resumed == [True]
        assert (sarah.only.sequence, len(rows(sarah.only))) == (4, 5)
        assert second.snapshots
        await second.snapshots.write()
        third = opened(clock, crashed(tmp_path / "b", tmp_path / "c"), matching="off")
    async with third:
        assert len(third.matching) == 0  # nobody knows words: it cannot be restored, and its client begins anew
