"""Updates: in the order they came, whole or not at all, and what takes its time holds nobody up but later updates."""

import asyncio
from pathlib import Path
from unittest import mock

import pytest

from broker.making import (
    ALL,
    Client,
    Clock,
    Gate,
    Replies,
    crashed,
    delete,
    full_disk,
    in_memory,
    insert,
    long,
    opened,
    quads_of,
    settled,
    work_aside_waits_for,
)
from tidings.broker.broker import Broker
from tidings.broker.errors import ShuttingDown, TooManyRequests
from tidings.broker.policy import Policy
from tidings.broker.updates.accepted import Done
from tidings.gates.http.results import results_document
from tidings.log.errors import LogWriteFailed
from tidings.model.errors import RowLimitExceeded, SparqlSyntaxError, TidingsError, TimeLimitExceeded
from waiting import asynchronous, until

COUNT = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"


async def asked(broker: Broker, text: str) -> bytes:
    spool = await broker.query(text, None, results_document)
    with spool.file as file:
        return file.read()


@asynchronous
async def test_updates_happen_and_are_answered_in_the_order_they_came(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        replies = Replies(broker)
        for n in range(20):
            replies.submit(
                f"DELETE {{ <last> <is> ?o }} INSERT {{ <last> <is> {n} }} WHERE {{ OPTIONAL {{ <last> <is> ?o }} }}"
            )
        await settled(broker)
        assert replies.order == list(range(20))
        assert [done.commit for done in replies.done()] == list(range(1, 21))
        assert [(done.added, done.removed) for done in replies.done()] == [(1, 0)] + [(1, 1)] * 19
        assert b'"19"' in await asked(broker, "SELECT ?o { <last> <is> ?o }")


@asynchronous
async def test_one_update_too_many_is_asked_to_come_back(clock: Clock) -> None:
    async with in_memory(clock, Policy(queue=2)) as broker:
        replies = Replies(broker)
        broker.updates.hold()
        for n in range(3):
            replies.submit(insert(n))
        (error,) = replies.errors()
        assert isinstance(error, TooManyRequests)
        assert (error.status, error.code) == (429, "too_many_requests")
        assert broker.updates.refused == 1
        broker.updates.resume()
        assert replies.order == [2, 0, 1]
        assert (await broker.update(insert(3))).commit == 3


@asynchronous
async def test_an_update_without_effect_is_no_commit(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        first = await broker.update(insert(1))
        again = await broker.update(insert(1))
        undone = await broker.update(f"{insert(2)} ; {delete(2)}")
        assert (first.commit, again.commit, undone.commit) == (1, 1, 1)
        assert (again.added, again.removed, undone.added, undone.removed) == (0, 0, 0, 0)
        assert broker.last_commit == 1
    async with opened(clock, tmp_path) as second:
        assert second.last_commit == 1


@asynchronous
async def test_an_update_without_effect_is_not_answered_before_what_it_saw_is_durable(
    clock: Clock, tmp_path: Path
) -> None:
    async with opened(clock, tmp_path) as broker:
        replies = Replies(broker)
        replies.submit(insert(1))
        replies.submit(insert(1))
        assert replies.order == []
        with full_disk():
            await settled(broker)
        assert [type(error) for error in replies.errors()] == [LogWriteFailed] * 2


@asynchronous
@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("INSERT DATA", SparqlSyntaxError),
        (f"{insert(7)} ; LOAD <nowhere>", TidingsError),
        (f"{insert(7)} ; COPY <x> TO <y>", TidingsError),
        ("INSERT { ?a <r> ?d } WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }", RowLimitExceeded),
    ],
)
async def test_an_update_that_fails_leaves_no_trace(clock: Clock, text: str, error: type[TidingsError]) -> None:
    async with in_memory(clock, Policy(rows=10, slice_seconds=5.0)) as broker:
        client = Client(broker)
        client.subscribe("SELECT * { ?s ?p ?o }")
        for n in range(3):
            await broker.update(insert(n))
        before = quads_of(broker)
        with pytest.raises(error):
            await broker.update(text)
        with mock.patch("tidings.broker.updates.queue.LONG_TEXT", 1), pytest.raises(error):
            await broker.update(text)
        assert quads_of(broker) == before
        assert broker.last_commit == client.only.sequence == 3
        assert (await broker.update(insert(4))).commit == 4
        client.check()


@asynchronous
async def test_who_does_not_wait_for_the_answer_has_published_all_the_same(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        broker.updates.hold()
        publishing = asyncio.create_task(broker.update(insert(1)))
        await asyncio.sleep(0)
        publishing.cancel()
        await asyncio.gather(publishing, return_exceptions=True)
        broker.updates.resume()
        assert len(quads_of(broker)) == 1


@asynchronous
async def test_a_broker_that_is_stopping_takes_no_more_and_answers_what_it_has(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        replies = Replies(broker)
        broker.updates.hold()
        replies.submit(insert(1))
        broker.end()
        replies.submit(insert(2))
        (error,) = replies.errors()
        assert isinstance(error, ShuttingDown)
        broker.updates.resume()
        await broker.finish()
        assert replies.order == [1, 0]


@asynchronous
async def test_others_go_on_while_a_long_update_is_worked_out_and_later_updates_wait(
    clock: Clock, tmp_path: Path
) -> None:
    gate = Gate(tmp_path / "gate")
    async with opened(clock, tmp_path / "data") as broker:
        client = Client(broker)
        client.subscribe(ALL)
        await broker.update(insert(1))
        replies = Replies(broker)
        with work_aside_waits_for(gate):
            replies.submit(long("DELETE { ?s <p> ?o } INSERT { ?s <p> 10 } WHERE { ?s <p> ?o }"))
            replies.submit(insert(2))
            replies.submit(long(insert(3)))
            replies.submit(delete(2))
            await until(lambda: broker.forks.running)
            assert replies.order == []
            assert b'"1"' in await asked(broker, "SELECT ?o { <s1> <p> ?o }")
            client.subscribe("SELECT ?o { <s1> <p> ?o }")
            await broker.commit_log.settled()
            assert len(client.known) == 2
            gate.open()
            await settled(broker)
        assert replies.order == [0, 1, 2, 3]
        assert [done.commit for done in replies.done()] == [2, 3, 4, 5]
        assert broker.updates.aside == 2
        assert len(quads_of(broker)) == 2
        client.check()
        copy = crashed(tmp_path / "data", tmp_path / "copy")
    async with opened(clock, copy) as second:
        assert quads_of(second) == quads_of(broker)


@asynchronous
async def test_an_update_that_takes_longer_than_its_slice_is_worked_out_aside() -> None:
    async with in_memory(Clock(step=1.0), Policy(slice_seconds=0.5, seconds=1e6)) as broker:
        client = Client(broker)
        for n in range(60):
            await broker.update(insert(n))
        done = await broker.update("INSERT { ?a <both> ?b } WHERE { ?a <p> ?x . ?b <p> ?y }")
        assert done.added == 3600
        assert broker.updates.aside == 1
        client.subscribe("SELECT ?a ?b { ?a <both> ?b }")
        await until(lambda: client.known)
        client.check()


@asynchronous
async def test_an_update_beyond_its_time_limit_is_refused_and_the_next_has_its_turn() -> None:
    endless = "INSERT { <s> <r> ?n } WHERE { SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l } }"
    async with in_memory(Clock(step=100.0), Policy(slice_seconds=50.0, seconds=1000.0)) as broker:
        for n in range(100):
            await broker.update(insert(n))
        replies = Replies(broker)
        replies.submit(endless)
        replies.submit(insert(100))
        await settled(broker)
        assert [type(outcome) for _, outcome in replies.outcomes] == [TimeLimitExceeded, Done]


@asynchronous
async def test_blank_nodes_made_aside_are_new_ones(clock: Clock) -> None:
    fresh = "INSERT { [] <made> ?n } WHERE { VALUES ?n { 1 2 3 } }"
    async with in_memory(clock) as broker:
        with mock.patch("tidings.broker.updates.queue.LONG_TEXT", 1):
            for _ in range(2):
                await broker.update(fresh)
        await broker.update(fresh)
        assert len({subject for subject, *_ in quads_of(broker)}) == 9


@asynchronous
async def test_what_was_worked_out_aside_on_a_commit_that_is_taken_back_is_worked_out_again(
    clock: Clock, tmp_path: Path
) -> None:
    gate = Gate(tmp_path / "gate")
    async with opened(clock, tmp_path / "data") as broker:
        client = Client(broker)
        client.subscribe("SELECT * { ?s ?p ?o }")
        replies = Replies(broker)
        with work_aside_waits_for(gate):
            replies.submit(insert(1))
            replies.submit(long("INSERT { ?s <seen> ?o } WHERE { ?s <p> ?o }"))
            with full_disk():
                await broker.commit_log.group_commit.idle()
            gate.open()
            await settled(broker)
        assert [type(outcome) for _, outcome in replies.outcomes] == [LogWriteFailed, Done]
        assert quads_of(broker) == set()
        client.check()
