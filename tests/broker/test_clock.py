"""Subscriptions that compare with NOW() are told when time changes their answers, without any commit."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from broker.making import BEGIN, Client, Clock, crashed, full_disk, in_memory, opened, settled
from tidings.broker.broker import Broker
from tidings.broker.policy import Policy
from tidings.broker.updates.accepted import Outcome
from tidings.log.errors import LogWriteFailed
from waiting import asynchronous, until

XSD = "http://www.w3.org/2001/XMLSchema#"
VALID = "SELECT ?x { ?x <until> ?t FILTER (?t > NOW()) }"


def lease(name: str, seconds: float) -> str:
    end = datetime.fromtimestamp(BEGIN / 1e6, UTC) + timedelta(seconds=seconds)
    return f'INSERT DATA {{ <{name}> <until> "{end.isoformat()}"^^<{XSD}dateTime> }}'


async def advance(broker: Broker, clock: Clock, seconds: float) -> None:
    clock.pass_by(seconds)
    broker.run_due()
    await settled(broker)


@asynchronous
async def test_what_expires_is_told_at_its_time_and_costs_no_commit(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        client = Client(broker)
        await broker.update(lease("a", 10))
        await broker.update(lease("b", 20))
        client.subscribe(VALID)
        await settled(broker)
        for seconds, left in ((9.999999, 2), (0.000001, 1), (5, 1), (5, 0)):
            await advance(broker, clock, seconds)
            assert len(client.only.answer) == left
            client.check()
        assert client.only.sequence == 2
        assert broker.last_commit == 2
        assert broker.ticks.told == 2


@asynchronous
async def test_the_broker_sleeps_until_then_and_no_longer(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        client = Client(broker)
        client.subscribe(VALID)
        await broker.update(lease("a", 0.5))
        await settled(broker)
        assert broker.ticks.pause(clock.now(), 1.0) == 0.5
        clock.pass_by(0.5)
        await until(lambda: not client.only.answer)  # the timer that the commit has set rings by itself
        client.check()


@asynchronous
async def test_a_client_that_was_away_is_told_what_time_has_changed(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        client = Client(broker)
        await broker.update(lease("a", 1))
        client.subscribe(VALID)
        await settled(broker)
        client.lose()
        await advance(broker, clock, 2)
        client.come_back()
        client.resume(client.only.spuid)
        await settled(broker)
        assert client.only.resumed == [True]
        assert not client.only.answer


@pytest.mark.parametrize("die", [lambda _: None, lambda broker: broker.snapshots.write()])
@asynchronous
async def test_after_a_restart_there_is_a_fresh_answer(
    clock: Clock, tmp_path: Path, die: Callable[..., object]
) -> None:
    async with opened(clock, tmp_path / "a") as broker:
        client = Client(broker)
        await broker.update(lease("a", 1))
        await broker.update(lease("b", 9))
        client.subscribe(VALID)
        await settled(broker)
        await advance(broker, clock, 2)
        assert (client.only.sequence, len(client.only.answer)) == (1, 1)
        if (writing := die(broker)) is not None:
            await writing  # type: ignore[misc]
        copy = crashed(tmp_path / "a", tmp_path / "b")
    clock.pass_by(1)
    async with opened(clock, copy) as second:
        client.come_back(second)
        client.resume(client.only.spuid)
        await settled(second)
        assert client.only.resumed == [False]
        client.check()
        await advance(second, clock, 9)
        assert not client.only.answer


@asynchronous
async def test_who_was_told_by_the_clock_of_a_commit_that_is_taken_back_begins_anew(
    clock: Clock, tmp_path: Path
) -> None:
    async with opened(clock, tmp_path) as broker:
        client = Client(broker)
        await broker.update(lease("a", 1))
        client.subscribe(VALID)
        await settled(broker)
        outcomes: list[Outcome] = []
        with full_disk():
            broker.submit(lease("b", 2), None, outcomes.append)
            await advance(broker, clock, 3)  # both are over before the first is durable
        assert [type(outcome) for outcome in outcomes] == [LogWriteFailed]
        assert client.line.closed
        client.lose()
        client.come_back()
        client.resume(client.only.spuid)
        await settled(broker)
        assert client.only.resumed == [False]
        client.check()


@asynchronous
async def test_many_rows_whose_time_comes_at_once_are_told_late_and_hold_nobody_up(clock: Clock) -> None:
    async with in_memory(clock, Policy(slice_seconds=0.00002)) as broker:
        client = Client(broker)
        broker.engine.stragglers.slice = None
        for n in range(60):
            await broker.update(lease(f"a{n}", 10))
        client.subscribe(VALID)
        await settled(broker)
        broker.engine.stragglers.slice = broker.policy.work
        await advance(broker, clock, 11)
        await settled(broker)
        assert not client.only.answer
        assert broker.stragglers.rounds == 1
