"""Delayed updates: accepted once they are durable, carried out in their time, in order, and once."""

import asyncio
import logging
from pathlib import Path

import pytest

from broker.making import (
    Clock,
    Gate,
    crashed,
    full_disk,
    in_memory,
    insert,
    long,
    opened,
    quads_of,
    settled,
    work_aside_waits_for,
)  # fmt: skip
from tidings.broker.broker import Broker
from tidings.broker.errors import ShuttingDown, TooManyDelayed, UnknownDelayed
from tidings.broker.policy import Policy
from tidings.broker.updates.schedule import Delayed, DelayedId, Schedule
from tidings.log.errors import LogWriteFailed
from tidings.model.errors import SparqlSyntaxError
from waiting import asynchronous, until

SECOND = 1_000_000


def append(n: int) -> str:
    """Note that it is this one's turn."""
    return (
        f"DELETE {{ <log> <is> ?o }} INSERT {{ <log> <is> ?n }} "
        f'WHERE {{ OPTIONAL {{ <log> <is> ?o }} BIND(CONCAT(COALESCE(?o, ""), "{n}") AS ?n) }}'
    )


def written(broker: Broker) -> str:
    """Who had a turn, in order."""
    return "".join(o.strip('"') for _, p, o, _ in quads_of(broker) if p.endswith("is>"))


async def advance(broker: Broker, clock: Clock, seconds: float) -> None:
    clock.pass_by(seconds)
    broker.run_due()
    await settled(broker)


# -- the schedule -------------------------------------------------------------------------------------------------


def delayed(name: str, at: int) -> Delayed:
    return Delayed(DelayedId(name), at, "CLEAR ALL")


def test_the_schedule_is_in_order_of_the_instant_then_of_arrival() -> None:
    schedule = Schedule()
    for name, at in (("a", 3), ("b", 1), ("c", 3), ("d", 2), ("e", 1)):
        schedule.add(delayed(name, at))
    assert [each.id for each in schedule] == ["b", "e", "d", "a", "c"]
    assert schedule.next() == 1
    assert [each.id for each in schedule.due(2)] == ["b", "e", "d"]
    assert schedule.next() == 3
    assert len(schedule) == 5  # they stay until they are done
    assert [each.id for each in schedule] == ["b", "e", "d", "a", "c"]
    schedule.discard(DelayedId("b"))
    assert [each.id for each in schedule.due(9)] == ["a", "c"]
    assert list(schedule.due(9)) == []


def test_what_was_cancelled_is_not_due() -> None:
    schedule = Schedule()
    for n in range(1000):
        schedule.add(delayed(str(n), n))
    for n in range(999):
        assert schedule.cancel(str(n)).at == n
    assert schedule.next() == 999
    assert [each.id for each in schedule.due(10_000)] == ["999"]
    with pytest.raises(UnknownDelayed):
        schedule.cancel("5")
    schedule.discard(DelayedId("5"))


def test_what_is_postponed_comes_again_at_its_new_time() -> None:
    schedule = Schedule()
    schedule.add(delayed("a", 1))
    assert [each.id for each in schedule.due(1)] == ["a"]
    schedule.postpone(DelayedId("a"), 5)
    assert list(schedule.due(4)) == []
    assert [(each.id, each.at) for each in schedule.due(5)] == [("a", 1)]


# -- the broker -------------------------------------------------------------------------------------------------


@asynchronous
async def test_delayed_updates_are_carried_out_in_their_time_and_in_order(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        now = clock.micros
        for n, at in ((1, 3), (2, 1), (3, 3), (4, 2), (5, 1)):
            await broker.delay(append(n), None, now + at * SECOND)
        await advance(broker, clock, 0.999)
        assert written(broker) == ""
        await advance(broker, clock, 0.001)
        assert written(broker) == "25"
        await advance(broker, clock, 1)
        assert written(broker) == "254"
        await advance(broker, clock, 5)
        assert written(broker) == "25413"
        assert len(broker.schedule) == 0
        assert broker.delayed.done == 5


@asynchronous
async def test_an_instant_in_the_past_is_now(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        await broker.delay(append(1), None, 0)
        await until(lambda: written(broker))
        assert len(broker.schedule) == 0


@asynchronous
async def test_what_is_no_update_is_refused_at_once_and_one_too_many_as_well(clock: Clock) -> None:
    async with in_memory(clock, Policy(delayed=1)) as broker:
        with pytest.raises(SparqlSyntaxError):
            await broker.delay("INSERT", None, clock.micros)
        await broker.delay(append(1), None, clock.micros + SECOND)
        with pytest.raises(TooManyDelayed) as refused:
            await broker.delay(append(2), None, clock.micros + SECOND)
        assert refused.value.status == 429
        broker.end()
        with pytest.raises(ShuttingDown):
            await broker.delay(append(3), None, clock.micros)


@asynchronous
async def test_a_delayed_update_can_be_cancelled_until_its_time_has_come(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path / "a") as broker:
        first = await broker.delay(append(1), None, clock.micros + SECOND)
        await broker.delay(append(2), None, clock.micros + SECOND)
        assert await broker.cancel_delayed(first.id) == first
        with pytest.raises(UnknownDelayed):
            await broker.cancel_delayed(first.id)
        with pytest.raises(UnknownDelayed):
            await broker.cancel_delayed("nobody")
        copy = crashed(tmp_path / "a", tmp_path / "b")
        await advance(broker, clock, 2)
        assert written(broker) == "2"
    async with opened(clock, copy) as second:
        await settled(second)
        assert written(second) == "2"


@asynchronous
async def test_what_is_said_to_be_cancelled_is_not_carried_out(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        due = await broker.delay(append(1), None, clock.micros + SECOND)
        broker.updates.hold()
        await advance_held(broker, clock)
        try:
            await broker.cancel_delayed(due.id)
        except UnknownDelayed:
            expected = "1"  # too late
        else:
            expected = ""
        broker.updates.resume()
        await settled(broker)
        assert written(broker) == expected


async def advance_held(broker: Broker, clock: Clock) -> None:
    """Its time has come, but not its turn."""
    clock.pass_by(1)
    broker.run_due()
    await asyncio.sleep(0)


@asynchronous
async def test_a_cancellation_that_cannot_be_written_down_did_not_happen(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        due = await broker.delay(append(1), None, clock.micros + SECOND)
        await broker.delay(append(2), None, clock.micros + SECOND)
        with full_disk(), pytest.raises(LogWriteFailed):
            await broker.cancel_delayed(due.id)
        await advance(broker, clock, 1)
        assert sorted(written(broker)) == ["1", "2"]


@asynchronous
async def test_a_delayed_update_that_cannot_be_written_down_is_not_accepted(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        with full_disk(), pytest.raises(LogWriteFailed):
            await broker.delay(append(1), None, clock.micros)
        await advance(broker, clock, 1)
        assert written(broker) == ""
        assert len(broker.schedule) == 0


@asynchronous
async def test_a_delayed_update_that_fails_is_done_with(
    clock: Clock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(clock, tmp_path) as broker:
        await broker.delay("COPY <nowhere> TO <x>", None, clock.micros + SECOND)
        await broker.delay(append(1), None, clock.micros + SECOND)
        with caplog.at_level(logging.WARNING):
            await advance(broker, clock, 1)
        assert "failed" in caplog.text
        assert written(broker) == "1"
        assert broker.delayed.failed == 1
    async with opened(clock, tmp_path) as second:
        assert len(second.schedule) == 0


@asynchronous
async def test_when_the_disk_is_full_a_delayed_update_is_tried_again(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        await broker.delay(append(1), None, clock.micros + SECOND)
        with full_disk():
            await advance(broker, clock, 1)
            assert written(broker) == ""
            await advance(broker, clock, 1)
        await advance(broker, clock, 2)
        assert written(broker) == "1"
    async with opened(clock, tmp_path) as second:
        await settled(second)
        assert written(second) == "1"


@asynchronous
async def test_with_a_broken_log_a_delayed_update_waits_for_the_next_start(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        await broker.delay(append(1), None, clock.micros + SECOND)
        await broker.delay("COPY <nowhere> TO <x>", None, clock.micros + SECOND)
        assert broker.disk
        broker.disk.journal.broken = True
        await advance(broker, clock, 1)
        await advance(broker, clock, 5)
        assert written(broker) == ""
        assert broker.updates.accepted == 0
    async with opened(clock, tmp_path) as second:
        await settled(second)
        assert len(second.schedule) == 0
        assert written(second) == "1"


@asynchronous
async def test_those_that_fell_due_while_the_broker_was_down_are_carried_out_at_its_start(
    clock: Clock, tmp_path: Path
) -> None:
    async with opened(clock, tmp_path / "a") as broker:
        now = clock.micros
        for n, at in ((1, 30), (2, 10), (3, 30), (4, 20)):
            await broker.delay(append(n), None, now + at * SECOND)
        copy = crashed(tmp_path / "a", tmp_path / "b")
    clock.pass_by(25)
    async with opened(clock, copy) as second:
        await settled(second)
        assert written(second) == "24"
        third_copy = crashed(tmp_path / "b", tmp_path / "c")
    clock.pass_by(60)
    async with opened(clock, third_copy) as third:
        await settled(third)
        assert written(third) == "2413"
        assert third.last_commit == 4
        assert len(third.schedule) == 0


@asynchronous
async def test_a_delayed_update_that_is_killed_at_work_is_carried_out_after_the_restart(
    clock: Clock, tmp_path: Path
) -> None:
    gate = Gate(tmp_path / "gate")
    async with opened(clock, tmp_path / "data") as broker:
        with work_aside_waits_for(gate):
            await broker.delay(long(insert(1)), None, clock.micros)
            await until(lambda: broker.forks.running)
            broker.end()
            broker.abort_forks()
            await broker.finish()
    async with opened(clock, tmp_path / "data") as second:
        await settled(second)
        assert len(quads_of(second)) == 1


@asynchronous
async def test_the_clock_may_jump_and_times_still_never_go_backwards(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        times = [(await broker.update(insert(1))).time]
        for jump in (3600.0, -7200.0, 5.0, -1e6, 1e5):
            clock.pass_by(jump)
            times.append((await broker.update(insert(len(times) + 1))).time)
        assert times == sorted(times)
    async with opened(clock, tmp_path) as second:
        assert (await second.update(insert(99))).time >= times[-1]


@asynchronous
async def test_a_clock_that_jumps_forwards_brings_what_is_due_and_one_that_jumps_back_brings_it_once(
    clock: Clock,
) -> None:
    async with in_memory(clock) as broker:
        await broker.delay(append(1), None, clock.micros + 3600 * SECOND)
        await broker.delay(append(2), None, clock.micros + 7200 * SECOND)
        await advance(broker, clock, 4000)
        assert written(broker) == "1"
        await advance(broker, clock, -4000)
        await advance(broker, clock, 4000)
        assert written(broker) == "1"
        await advance(broker, clock, 4000)
        assert written(broker) == "12"


@asynchronous
async def test_after_a_jump_forwards_and_back_a_short_delay_is_short(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        await advance(broker, clock, 86_400)
        await broker.update(insert(1))
        clock.pass_by(-86_400)
        await broker.delay(append(1), None, clock.micros + 5 * SECOND)
        await advance(broker, clock, 4)
        assert written(broker) == ""
        await advance(broker, clock, 1)
        assert written(broker) == "1"
