"""Subscriptions: whoever folds in what it is told always has the answer, whatever happens to its connection."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given

from broker.histories import Step, gentle_histories, lived_through
from broker.making import ALL, Client, Clock, delete, in_memory, insert, opened, settled
from tidings.broker.broker import Broker
from tidings.broker.errors import NotYours, ShuttingDown, TooManySubscriptions, UnknownSubscription
from tidings.broker.policy import Policy
from tidings.broker.subscriptions.outbox import LOST
from tidings.engine.engine import Engine
from tidings.engine.plans.spu import Spu
from tidings.model.results import Row
from waiting import asynchronous, until


@given(gentle_histories)
def test_whatever_happens_to_connections_the_folded_answer_is_that_of_a_fresh_query(history: list[Step]) -> None:
    lived_through(history, crashes=False)


@given(gentle_histories)
def test_whatever_happens_and_however_little_is_kept_the_folded_answer_is_right(history: list[Step]) -> None:
    lived_through(history, crashes=False, retain=1)


# -- beginning and end ------------------------------------------------------------------------------------------


@asynchronous
async def test_a_first_answer_is_found_once(clock: Clock) -> None:
    enroll = Engine.enroll
    read: list[Row] = []

    def watched(*arguments: Any, **named: Any) -> Any:
        handle, rows = enroll(*arguments, **named)
        return handle, map(read.append, rows)

    async with in_memory(clock) as broker:
        await broker.update(insert(1))
        client = Client(broker)
        with (
            mock.patch.object(Engine, "enroll", watched),
            mock.patch.object(Engine, "first_answer", autospec=True, side_effect=Engine.first_answer) as found,
        ):
            client.subscribe(ALL)
        assert (found.call_count, read) == (1, [])
        client.check()
        await broker.update(insert(2))
        client.check()


@asynchronous
@pytest.mark.parametrize("text", ["SELECT (RAND() AS ?x) {}", "SELECT ?s (RAND() AS ?x) { ?s <p> ?o }"])
async def test_a_first_answer_that_depends_on_chance_is_the_one_that_later_changes_take_away(
    clock: Clock, text: str
) -> None:
    async with in_memory(clock) as broker:
        await broker.update(insert(1))
        client = Client(broker)
        client.subscribe(text)
        (first,) = client.only.answer
        await broker.update(insert(2))
        assert first not in client.only.answer


@asynchronous
async def test_the_first_answer_is_whole_and_then_every_change_has_the_next_number(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        await broker.update(insert(1))
        client = Client(broker)
        client.subscribe(ALL)
        assert client.only.sequence == 0
        assert len(client.only.answer) == 1
        await broker.update(insert(2))
        await broker.update("INSERT DATA { <other> <q> 1 }")
        await broker.update(delete(1))
        assert client.only.sequence == 2
        assert client.only.commits == [1, 2, 4]
        client.check()


@asynchronous
async def test_nobody_hears_of_a_commit_before_it_is_durable(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        client = Client(broker)
        client.subscribe(ALL)
        assert not client.known
        broker.submit(insert(1), None, lambda _: None)
        assert not client.known
        await settled(broker)
        assert client.only.sequence == 1
        client.check()


@asynchronous
async def test_a_subscription_that_cannot_be_answered_in_a_slice_is_tried_out_aside() -> None:
    async with in_memory(Clock(step=1.0), Policy(slice_seconds=0.5, seconds=1e6, rows=5000)) as broker:
        for n in range(60):
            await broker.update(insert(n))
        client = Client(broker)
        client.subscribe("SELECT ?a ?b { ?a <p> ?x . ?b <p> ?y }")
        client.subscribe("SELECT ?a ?b ?c { ?a <p> ?x . ?b <p> ?y . ?c <p> ?z }")
        await until(lambda: client.known and client.errors)
        client.check()
        assert [error.code for error in client.errors] == ["row_limit_exceeded"]
        assert len(broker.subscriptions) == len(broker.engine.subscriptions) == 1


@asynchronous
async def test_one_subscription_too_many_is_refused(clock: Clock) -> None:
    async with in_memory(clock, subscriptions=1) as broker:
        client = Client(broker)
        client.subscribe(ALL)
        with pytest.raises(TooManySubscriptions) as refused:
            client.subscribe(ALL)
        assert refused.value.status == 429
        client.unsubscribe(client.only.spuid)
        client.subscribe(ALL)
        broker.end()
        with pytest.raises(ShuttingDown):
            client.subscribe(ALL)


@asynchronous
async def test_an_end_is_an_end(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        client = Client(broker)
        client.subscribe(ALL)
        await settled(broker)
        spuid = client.only.spuid
        done: list[str] = []
        client.unsubscribe(spuid, lambda: done.append("done"))
        assert done == []
        await settled(broker)
        assert done == ["done"]
        await broker.update(insert(1))
        assert len(broker.subscriptions) == len(broker.engine.subscriptions) == 0
        with pytest.raises(UnknownSubscription):
            broker.unsubscribe(client.line.session, spuid, lambda: None)
    async with opened(clock, tmp_path) as second:
        assert len(second.subscriptions) == 0


@asynchronous
async def test_nobody_ends_what_belongs_to_another(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        client, other = Client(broker), Client(broker)
        client.subscribe(ALL)
        with pytest.raises(NotYours) as refused:
            broker.unsubscribe(other.line.session, client.only.spuid, lambda: None)
        assert refused.value.status == 403
        await broker.update(insert(1))
        client.check()


# -- plans that fail --------------------------------------------------------------------------------------------


@contextmanager
def failing(wrong: Spu) -> Iterator[None]:
    """A plan cannot be brought up to date."""
    advance = type(wrong).advance

    def fail(spu: Spu, *arguments: Any) -> Any:
        if spu is wrong:
            raise ZeroDivisionError
        return advance(spu, *arguments)

    with mock.patch.object(type(wrong), "advance", fail):
        yield


def plan_of(broker: Broker, spuid: str) -> Spu:
    return broker.subscriptions.find(spuid).handle.spu


@asynchronous
@pytest.mark.parametrize("durable", [False, True])
async def test_a_plan_that_fails_ends_its_subscribers_and_nobody_elses(
    clock: Clock, tmp_path: Path, durable: bool
) -> None:
    async with opened(clock, tmp_path) if durable else in_memory(clock) as broker:
        unlucky, other = Client(broker), Client(broker)
        unlucky.subscribe("ASK { ?s <p> ?o }")
        other.subscribe(ALL)
        await settled(broker)
        with failing(plan_of(broker, unlucky.only.spuid)):
            await broker.update(insert(1))
            await settled(broker)
        assert unlucky.line.closed == [LOST]
        assert not other.line.closed
        other.check()
        assert len(broker.subscriptions) == len(broker.engine.subscriptions) == 1
        unlucky.lose()
        unlucky.come_back()
        with pytest.raises(UnknownSubscription):
            broker.resume(unlucky.line.session, unlucky.only.spuid, 0, None, lambda *_: None, unlucky.errors.append)
        await broker.update(insert(2))
        await settled(broker)
        other.check()


@asynchronous
@pytest.mark.parametrize("what", ["unsubscribe", "resume", "leave"])
async def test_a_client_may_go_while_the_failure_of_its_plan_is_still_on_its_way(
    clock: Clock, tmp_path: Path, what: str
) -> None:
    async with opened(clock, tmp_path, grace=0.0) as broker:
        client = Client(broker)
        client.subscribe("ASK { ?s <p> ?o }")
        await settled(broker)
        spuid = client.only.spuid
        with failing(plan_of(broker, spuid)):
            broker.submit(insert(1), None, lambda _: None)
        try:
            match what:
                case "unsubscribe":
                    broker.unsubscribe(client.line.session, spuid, lambda: None)
                case "resume":
                    client.resume(spuid, 99)
                case _:
                    client.lose()
                    broker.run_due()
        except UnknownSubscription:
            pass
        await settled(broker)
        assert len(broker.subscriptions) == len(broker.engine.subscriptions) == 0
    async with opened(clock, tmp_path) as second:
        assert len(second.subscriptions) == 0
