"""A broker that alone writes to its endpoint: what needs nothing but contexts is worked out from memory."""

import asyncio

import pytest

from broker.contexts import BASE, check, in_context
from broker.making import Client, Clock, Replies
from broker.test_context import holding, subscribed
from endpoint.in_process import InProcess
from tidings.broker.updates.accepted import Done
from tidings.engine.updates.executor import Core
from tidings.model.access import Graphs, Rights
from tidings.model.errors import GraphNotWritable, NotAllowed, TimeLimitExceeded
from waiting import asynchronous, until

DATA = "<s1> <p> 1 . <s2> <p> 2 . <s1> <q> 7 GRAPH <g> { <s1> <p> 4 }"
P, ALL_P = "SELECT ?s ?o { ?s <p> ?o }", "SELECT ?g ?s ?o { GRAPH ?g { ?s <p> ?o } }"

WITHIN = (
    "INSERT DATA { <s3> <p> 3 }",
    "INSERT DATA { <s3> <p> 3 }",
    "DELETE DATA { <s1> <p> 1 . <s1> <p> 99 }",
    "DELETE { ?s <p> ?o } INSERT { ?s <p> ?n } WHERE { ?s <p> ?o BIND(?o + 10 AS ?n) }",
    "DELETE WHERE { <s2> <p> ?o } ; INSERT { <s2> <p> 5 } WHERE { FILTER NOT EXISTS { <s2> <p> ?o } }",
    "INSERT { GRAPH ?g { ?s <p> 8 } } WHERE { GRAPH ?g { ?s <p> ?o } }",
)
BEYOND = (
    "INSERT DATA { <s1> <q> 7 }",
    "INSERT { ?s <q> ?o } WHERE { ?s <p> ?o }",
    "DELETE { ?s <p> ?o } WHERE { ?s <p> ?o ; <q> 7 }",
    "DELETE { ?s <p> ?o } WHERE { ?s <p> ?o FILTER EXISTS { ?s <q> 7 } }",
    "CLEAR GRAPH <g>",
)


def counts(naive: Core, text: str) -> tuple[int, int]:
    delta = naive.update(text, now=0)
    return len(list(delta.added())), len(list(delta.removed()))


@asynchronous
async def test_nothing_is_asked_for_updates_within_contexts_and_all_else_is(clock: Clock) -> None:
    connection = holding(DATA)
    naive = Core(connection.whole(), base=BASE)
    async with in_context(clock, connection, sole_writer=True) as (broker, _):
        client = Client(broker)
        await subscribed(client, P, ALL_P)
        for text in WITHIN:
            before = len(connection.queries)
            done = await broker.update(text)
            assert (done.added, done.removed) == counts(naive, text), text
            assert len(connection.queries) == before, text
        for text in BEYOND:
            before = len(connection.queries)
            done = await broker.update(text)
            assert (done.added, done.removed) == counts(naive, text), text
            assert len(connection.queries) > before, text
        assert connection.quads() == set(naive.store)
        check(client, connection)


@asynchronous
async def test_updates_that_wait_see_one_another_though_the_endpoint_has_none_of_them(clock: Clock) -> None:
    connection = holding(DATA)
    naive = Core(connection.whole(), base=BASE)
    async with in_context(clock, connection, sole_writer=True) as (broker, _):
        await subscribed(Client(broker), P, ALL_P)
        connection.turn.clear()
        before, replies = len(connection.queries), Replies(broker)
        for text in WITHIN:
            replies.submit(text)
        await until(lambda: len(broker.commit_log.delivery or ()) >= len(WITHIN) - 1)
        connection.turn.set()
        await until(lambda: len(replies.outcomes) == len(WITHIN))
        done = [outcome for _, outcome in sorted(replies.outcomes) if isinstance(outcome, Done)]
        assert [(each.added, each.removed) for each in done] == [counts(naive, text) for text in WITHIN]
        assert len(connection.queries) == before
        assert connection.quads() == set(naive.store)


@asynchronous
async def test_a_context_that_is_still_being_fetched_is_not_relied_on(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = holding(DATA)
    begun, go_on = asyncio.Event(), asyncio.Event()
    rows = InProcess.rows

    async def slow(self: InProcess, text: str, most: int | None = None) -> object:
        found = await rows(self, text, most)
        if not begun.is_set():
            begun.set()
            await go_on.wait()
        return found

    async with in_context(clock, connection, sole_writer=True) as (broker, _):
        monkeypatch.setattr(InProcess, "rows", slow)
        client = Client(broker)
        client.subscribe(P)
        await begun.wait()
        assert (await broker.update("DELETE DATA { <s1> <p> 1 }")).removed == 1
        go_on.set()
        await until(lambda: client.known)
        check(client, connection)


@asynchronous
async def test_what_fails_or_takes_long_leaves_memory_as_it_was(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = holding(DATA)
    async with in_context(clock, connection, sole_writer=True) as (broker, _):
        client = Client(broker)
        await subscribed(client, P, ALL_P)
        rights = Rights(write=Graphs(names=frozenset({f"<{BASE}g>"})))
        with pytest.raises(GraphNotWritable):
            await broker.update("INSERT DATA { <s3> <p> 3 }", rights=rights)
        check(client, connection)

        def tired(*_: object, **__: object) -> None:
            raise TimeLimitExceeded(0.0)

        monkeypatch.setattr(Core, "execute", tired)
        before = len(connection.queries)
        assert (await broker.update("INSERT DATA { <s3> <p> 3 }")).added == 1
        assert len(connection.queries) > before, "it is asked then"
        check(client, connection)


@asynchronous
async def test_a_service_is_refused_as_by_any_broker_in_context_mode(clock: Clock) -> None:
    async with in_context(clock, holding(DATA), sole_writer=True) as (broker, _):
        await subscribed(Client(broker), P)
        nobody = "SERVICE SILENT <http://127.0.0.1:9/> { ?s <p> ?o }"
        with pytest.raises(NotAllowed):
            await broker.update(f"INSERT {{ <s9> <p> 1 }} WHERE {{ FILTER NOT EXISTS {{ {nobody} }} }}")
