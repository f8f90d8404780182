"""A log that fails: what cannot be written is undone and an error, and clients can still leave."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
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
    insert,
    long,
    opened,
    quads_of,
    settled,
    work_aside_waits_for,
)
from tidings.engine.commit import Commit
from tidings.engine.engine import Engine
from tidings.log.errors import LogBroken, LogWriteFailed
from tidings.log.journal import Journal
from tidings.model.errors import TidingsError
from waiting import asynchronous


@asynchronous
@pytest.mark.parametrize("durability", ["os", "fsync"])
async def test_what_cannot_be_written_is_undone_for_the_store_and_for_subscribers(
    clock: Clock, tmp_path: Path, durability: str
) -> None:
    texts = [
        ALL, "ASK { <s1> <p> ?o }", "SELECT (COUNT(*) AS ?n) { ?s <p> ?o }",
        "SELECT ?s { ?s <p> ?o } ORDER BY ?o LIMIT 1",
        "SELECT ?s ?x { ?s <p> ?o OPTIONAL { ?s <q> ?x } }", "SELECT ?a ?b { ?a <p>/^<p> ?b }",
    ]  # fmt: skip
    async with opened(clock, tmp_path / "a", durability=durability) as broker:
        client = Client(broker)
        for text in texts:
            client.subscribe(text)
        await broker.update(insert(1))
        before = quads_of(broker)
        replies = Replies(broker)
        with full_disk():
            replies.submit(insert(2))
            replies.submit("DELETE { ?s <p> ?o } INSERT { ?s <p> 5 ; <q> 6 } WHERE { ?s <p> ?o }")
            replies.submit("CLEAR ALL")
            await settled(broker)
        assert replies.order == [2, 1, 0]
        assert [error.status for error in replies.errors()] == [507] * 3
        assert quads_of(broker) == before
        client.check()
        assert not client.line.closed
        assert (await broker.update(insert(3))).commit == 2
        assert (await broker.update(delete(1))).commit == 3
        await settled(broker)
        client.check()
        copy = crashed(tmp_path / "a", tmp_path / "b")
    async with opened(clock, copy) as second:
        assert second.last_commit == 3
        assert quads_of(second) == quads_of(broker)
        client.come_back(second)
        for spuid in client.known:
            client.resume(spuid)
        await settled(second)
        client.check()


@asynchronous
async def test_a_subscriber_that_asks_for_the_time_is_not_misled_by_a_commit_that_is_taken_back(
    clock: Clock, tmp_path: Path
) -> None:
    async with opened(clock, tmp_path) as broker:
        client = Client(broker)
        client.subscribe("SELECT ?s (NOW() AS ?now) { ?s <p> ?o }")
        await broker.update(insert(1))
        clock.pass_by(1)
        with full_disk():
            with pytest.raises(LogWriteFailed):
                await broker.update(insert(2))
            await settled(broker)
        if client.line.closed:
            client.lose()
            client.come_back()
            client.resume(client.only.spuid)
            await settled(broker)
        clock.pass_by(1)
        await broker.update(insert(3))
        await settled(broker)
        client.check()


@asynchronous
async def test_a_subscription_that_cannot_be_written_down_is_refused_and_leaves_nothing(
    clock: Clock, tmp_path: Path
) -> None:
    async with opened(clock, tmp_path) as broker:
        client = Client(broker)
        with full_disk():
            client.subscribe(ALL)
            await settled(broker)
        assert [type(error) for error in client.errors] == [LogWriteFailed]
        assert len(broker.subscriptions) == len(broker.engine.subscriptions) == 0
        assert not client.line.session.subscribers


def breaking(journal: Journal) -> Callable[..., Commit]:
    """The log breaks, in its thread, while an update is being carried out."""
    execute = Engine.execute

    def carry_out(*arguments: Any, **named: Any) -> Commit:
        journal.broken = True
        return execute(*arguments, **named)

    return carry_out


@asynchronous
async def test_a_log_that_breaks_meanwhile_is_an_error_and_no_commit(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        await broker.update(insert(1))
        before = quads_of(broker)
        assert broker.disk
        with mock.patch.object(Engine, "execute", breaking(broker.disk.journal)), pytest.raises(LogBroken):
            await broker.update(insert(2))
        with pytest.raises(LogBroken):
            await broker.update(insert(3))
        assert quads_of(broker) == before
        assert broker.last_commit == 1
        assert broker.updates.accepted == 0
        with pytest.raises(LogBroken):
            await broker.delay(insert(4), None, clock.micros)


@asynchronous
async def test_a_log_that_breaks_while_an_update_is_worked_out_aside_is_an_error_and_no_commit(
    clock: Clock, tmp_path: Path
) -> None:
    gate = Gate(tmp_path / "gate")
    async with opened(clock, tmp_path / "data") as broker:
        replies = Replies(broker)
        with work_aside_waits_for(gate):
            replies.submit(long(insert(1)))
            replies.submit(insert(2))
            assert broker.disk
            broker.disk.journal.broken = True
            gate.open()
            await settled(broker)
        assert [type(error) for error in replies.errors()] == [LogBroken] * 2
        assert quads_of(broker) == set()
        assert broker.last_commit == 0


@asynchronous
async def test_an_entry_that_cannot_be_written_down_is_an_error_and_the_queue_goes_on(
    clock: Clock, tmp_path: Path
) -> None:
    async with opened(clock, tmp_path) as broker:
        client = Client(broker)
        client.subscribe(ALL)
        await settled(broker)
        with mock.patch.object(Journal, "append", side_effect=TypeError("nobody can encode this")):
            with pytest.raises(TidingsError):
                await broker.update(insert(1))
            try:
                client.subscribe(ALL)
            except TidingsError as error:
                client.errors.append(error)
        assert len(client.errors) == 1
        assert len(broker.subscriptions) == len(client.line.session.subscribers) == 1
        assert quads_of(broker) == set()
        assert (await broker.update(insert(2))).commit == 1
        await settled(broker)
        client.check()


@asynchronous
async def test_with_a_broken_log_clients_can_still_leave(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        client = Client(broker)
        client.subscribe(ALL)
        client.subscribe("ASK { ?s <p> ?o }")
        await settled(broker)
        client.fill()
        await broker.update(insert(1))
        await broker.update(delete(1))
        await settled(broker)
        assert broker.disk
        broker.disk.journal.broken = True
        client.drain()
        client.lose()
        assert broker.subscriptions.absent == 2
        for spuid in client.known:
            broker.unsubscribe(None, spuid, lambda: None)
        assert len(broker.subscriptions) == 0
