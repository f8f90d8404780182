"""After a crash everything that was promised is there: quads, subscriptions with their numbers, the schedule."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given

from broker.histories import Step, histories, lived_through
from broker.making import ALL, Client, Clock, crashed, insert, opened, quads_of, settled
from waiting import asynchronous, until


@given(histories)
def test_whatever_happens_a_broker_that_dies_comes_back_as_it_was(history: list[Step]) -> None:
    lived_through(history, crashes=True)


@given(histories)
def test_whatever_happens_and_however_little_is_kept_a_broker_comes_back_as_it_was(history: list[Step]) -> None:
    lived_through(history, crashes=True, retain=1)


@asynchronous
async def test_resuming_after_a_snapshot_and_again_after_a_crash_tells_nothing_twice(
    clock: Clock, tmp_path: Path
) -> None:
    async with opened(clock, tmp_path / "a") as broker:
        client = Client(broker)
        client.subscribe(ALL)
        for n in range(3):
            await broker.update(insert(n))
        await settled(broker)
        client.lose()
        assert broker.snapshots
        await broker.snapshots.write()
        second = opened(clock, crashed(tmp_path / "a", tmp_path / "b"))
    async with second:
        client.come_back(second)
        client.resume(client.only.spuid)
        await settled(second)
        client.check()
        third = opened(clock, crashed(tmp_path / "b", tmp_path / "c"))
    async with third:
        client.come_back(third)
        client.resume(client.only.spuid)
        await settled(third)
        assert client.only.resumed == [True, True]
        client.check()


@asynchronous
async def test_a_snapshot_has_the_delayed_updates_that_are_due_and_wait_for_their_turn(
    clock: Clock, tmp_path: Path
) -> None:
    async with opened(clock, tmp_path / "a") as broker:
        await broker.delay(insert(1), None, clock.micros + 1_000_000)
        broker.updates.hold()
        clock.pass_by(2)
        broker.run_due()
        assert broker.snapshots
        await broker.snapshots.write()
        second = opened(clock, crashed(tmp_path / "a", tmp_path / "b"))
        broker.updates.resume()
    async with second:
        await settled(second)
        assert len(second.store) == 1


@asynchronous
async def test_a_subscription_made_while_a_snapshot_begins_is_there_once(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path / "a") as broker:
        client = Client(broker)
        assert broker.snapshots
        writing = asyncio.create_task(broker.snapshots.write())
        asyncio.get_running_loop().call_soon(client.subscribe, ALL)
        await writing
        await settled(broker)
        second = opened(clock, crashed(tmp_path / "a", tmp_path / "b"))
    async with second:
        assert len(second.subscriptions) == second.subscriptions.absent == len(second.engine.subscriptions) == 1


@asynchronous
async def test_a_snapshot_that_a_stopping_broker_leaves_unfinished_is_no_failure(
    clock: Clock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(clock, tmp_path) as broker:
        await broker.update(insert(1))
        assert broker.snapshots
        writing = asyncio.create_task(broker.snapshots.write())
        await until(lambda: broker.forks.running)
        broker.abort_forks()
        await writing
        assert broker.snapshots.failed == 0  # whether it was finished or not
        assert "could not be written" not in caplog.text
    async with opened(clock, tmp_path) as second:
        assert quads_of(second) == quads_of(broker)


@asynchronous
async def test_a_snapshot_without_durability_shows_what_the_log_has(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path, durability="none") as broker:
        client = Client(broker)
        client.subscribe(ALL)
        await broker.update(insert(1))
        assert broker.snapshots
        await broker.snapshots.write()
        await broker.update(insert(2))
    async with opened(clock, tmp_path) as second:
        assert len(second.subscriptions) == second.subscriptions.absent == 1
        assert second.subscriptions.find(client.only.spuid).sequence == 2
        assert second.last_commit == 2
        assert quads_of(second) == quads_of(broker)


@asynchronous
@pytest.mark.parametrize("durability", ["none", "os", "fsync"])
async def test_a_broker_that_was_closed_comes_back_whatever_its_durability(
    clock: Clock, tmp_path: Path, durability: str
) -> None:
    async with opened(clock, tmp_path, durability=durability) as broker:
        client = Client(broker)
        client.subscribe(ALL)
        for n in range(5):
            await broker.update(insert(n))
        await broker.delay(insert(9), None, clock.micros + 1)
        await settled(broker)
        client.lose()
    async with opened(clock, tmp_path, durability=durability) as second:
        assert quads_of(second) == quads_of(broker)
        assert len(second.schedule) == 1
        client.come_back(second)
        client.resume(client.only.spuid)
        await settled(second)
        assert client.only.resumed == [True]
        client.check()
