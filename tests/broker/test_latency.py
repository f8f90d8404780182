"""How long things took, as an operator sees it: updates, batches of the log, and how far snapshots are behind."""

from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.making import Clock, Replies, full_disk, in_memory, insert, opened, settled
from tidings.broker.durability import snapshots as room
from tidings.broker.errors import WorkLost
from tidings.broker.latency import BOUNDS, Latency
from tidings.log.journal import Journal, WriteBatch
from waiting import asynchronous


def latency_of(*durations: float) -> Latency:
    latency = Latency()
    for seconds in durations:
        latency.count(seconds)
    return latency


@given(st.lists(st.floats(0, 100) | st.sampled_from(BOUNDS)))
def test_a_bucket_has_all_that_took_at_most_as_long_as_its_bound(durations: list[float]) -> None:
    latency = latency_of(*durations)
    expected = [(bound, sum(each <= bound for each in durations)) for bound in (*BOUNDS, float("inf"))]
    assert list(latency.buckets()) == expected
    assert latency.seconds == pytest.approx(sum(durations))


@asynchronous
async def test_an_update_took_from_being_accepted_to_being_answered(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        broker.updates.hold()
        replies = Replies(broker)
        replies.submit(insert(1))
        clock.pass_by(2)
        replies.submit("nonsense")
        clock.pass_by(1)
        broker.updates.resume()
        assert replies.order == [0, 1]
        assert list(broker.updates.latency.buckets()) == list(latency_of(3, 1).buckets())
        assert broker.updates.latency.seconds == 4


@asynchronous
async def test_an_update_that_is_refused_took_no_time(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        broker.end()
        Replies(broker).submit(insert(1))
        assert list(broker.updates.latency.buckets()) == list(Latency().buckets())


@asynchronous
async def test_a_batch_took_as_long_as_the_disk_did(clock: Clock, tmp_path: Path) -> None:
    write = Journal.write

    def slowly(journal: Journal, batch: WriteBatch) -> None:
        clock.pass_by(7)
        write(journal, batch)

    for durability in ("os", "fsync"):
        async with opened(clock, tmp_path / durability, durability=durability) as broker:
            with mock.patch.object(Journal, "write", slowly):
                await broker.update(insert(1))
            latency = broker.commit_log.group_commit.latency
            assert list(latency.buckets()) == list(latency_of(7).buckets())
            assert latency.seconds == 7


@asynchronous
async def test_a_batch_that_could_not_be_written_is_no_measure_of_the_disk(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        with full_disk():
            Replies(broker).submit(insert(1))
            await settled(broker)
        assert broker.commit_log.group_commit.failures == 1
        assert list(broker.commit_log.group_commit.latency.buckets()) == list(Latency().buckets())


@asynchronous
async def test_a_snapshot_is_behind_by_what_was_logged_since(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        snapshots = broker.snapshots
        assert snapshots is not None
        await broker.update(insert(1))
        before = snapshots.behind
        assert before == sum(file.stat().st_size for file in (tmp_path / "log").iterdir())
        with mock.patch.object(room, "write_snapshot", side_effect=WorkLost("there is no room for it")):
            await snapshots.write()
        assert (snapshots.failed, snapshots.behind) == (1, before)
        await snapshots.write()
        assert (snapshots.written, snapshots.behind) == (1, 0)
    again = opened(clock, tmp_path)
    async with again:
        assert again.snapshots is not None
        assert again.snapshots.behind == 0
