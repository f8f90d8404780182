"""Who published a commit is in the log, over restarts; it is history, and no part of what is true now."""

from pathlib import Path

import pytest

from broker.making import Clock, crashed, full_disk, insert, opened, quads_of, settled
from tidings.log.errors import LogWriteFailed
from tidings.log.reading import read
from tidings.log.snapshot import read_snapshot
from waiting import asynchronous

SECOND = 1_000_000


def publishers(folder: Path) -> list[str | None]:
    return [entry.publisher for entry in read(folder) if entry.delta]


@asynchronous
async def test_a_broker_that_dies_comes_back_and_knows_what_everybody_published(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path / "a") as broker:
        await broker.update(insert(1), publisher="alice")
        await broker.update(insert(2))
        assert broker.snapshots
        await broker.snapshots.write()
        await broker.update(insert(3), publisher="bob")
        second = opened(clock, crashed(tmp_path / "a", tmp_path / "b"))
        assert quads_of(second) == quads_of(broker)
    async with second:
        await second.update(insert(4), publisher="alice")
    assert publishers(tmp_path / "b") == ["alice", None, "bob", "alice"]


@asynchronous
async def test_a_snapshot_has_the_publisher_of_what_waits_and_of_nothing_else(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path / "a") as broker:
        await broker.update(insert(1), publisher="alice")
        await broker.delay(insert(2), None, clock.micros + SECOND, publisher="bob")
        await broker.delay(insert(3), None, clock.micros + SECOND)
        assert broker.snapshots
        await broker.snapshots.write()
    taken = read_snapshot(tmp_path / "a")
    assert taken is not None
    assert [(note.kind, note.content.get("publisher")) for note in taken.notes] == [("delay", "bob"), ("delay", None)]
    clock.pass_by(2)
    async with opened(clock, tmp_path / "a") as broker:
        await settled(broker)
    assert publishers(tmp_path / "a") == ["alice", "bob", None]
    delayed = [entry for entry in read(tmp_path / "a") if entry.publisher == "bob"]
    assert [note.kind for note in delayed[0].notes] == ["done", "publisher"]


@asynchronous
async def test_a_delayed_update_without_effect_is_done_and_published_by_nobody(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        await broker.update(insert(1))
        await broker.delay(insert(1), None, clock.micros, publisher="alice")
        broker.run_due()
        await settled(broker)
    assert [[note.kind for note in entry.notes] for entry in read(tmp_path)] == [[], ["delay"], ["done"]]


@asynchronous
async def test_a_commit_that_was_taken_back_takes_its_publisher_with_it(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        with full_disk(), pytest.raises(LogWriteFailed):
            await broker.update(insert(1), publisher="alice")
        await broker.update(insert(2), publisher="bob")
    assert publishers(tmp_path) == ["bob"]
