"""Facts that are no quads: applied once they are durable, by the same method as after a restart, and never half."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from broker.making import Clock, crashed, full_disk, in_memory, insert, opened, settled
from tidings.broker.broker import Broker
from tidings.log.errors import LogWriteFailed
from tidings.protocol.entries import Note
from waiting import asynchronous


class Book:
    """Keeps titles, in order."""

    KINDS = ("written", "torn")

    def __init__(self) -> None:
        self.titles: list[str] = []

    def restore(self, note: Note) -> None:
        title = note.content["title"]
        if note.kind == "torn":
            self.titles = [each for each in self.titles if each != title]
        elif title not in self.titles:
            self.titles.append(title)

    def notes(self) -> Iterable[Note]:
        return [written(title) for title in self.titles]


def written(title: str) -> Note:
    return Note("written", {"title": title})


def torn(title: str) -> Note:
    return Note("torn", {"title": title})


def keeping(broker: Broker) -> Book:
    book = Book()
    broker.facts.keep(Book.KINDS, book)
    return book


@asynchronous
async def test_a_fact_holds_once_it_is_durable_and_after_a_crash(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path / "a") as broker:
        book = keeping(broker)
        await broker.facts.write(written("one"), written("two"))
        await broker.update(insert(1))
        await broker.facts.write(torn("one"))
        await broker.facts.write(written("three"))
        assert book.titles == ["two", "three"]
        second = opened(clock, crashed(tmp_path / "a", tmp_path / "b"))
    async with second:
        assert keeping(second).titles == ["two", "three"]
        assert second.last_commit == 1, "facts take no commit number"


@asynchronous
async def test_facts_are_part_of_snapshots(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path / "a") as broker:
        keeping(broker)
        await broker.update(insert(1))
        await broker.facts.write(written("one"), written("two"), torn("one"))
        assert broker.snapshots
        await broker.snapshots.write()
        await broker.facts.write(written("three"))
        second = opened(clock, crashed(tmp_path / "a", tmp_path / "b"))
    async with second:
        assert keeping(second).titles == ["two", "three"]


@asynchronous
async def test_facts_that_nobody_keeps_wait_for_somebody_who_does(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path / "a") as broker:
        keeping(broker)
        await broker.facts.write(written("one"), written("two"), torn("one"))
    async with opened(clock, tmp_path / "a") as without:
        await without.update(insert(1))
        assert without.snapshots
        await without.snapshots.write()
    async with opened(clock, tmp_path / "a") as again:
        assert keeping(again).titles == ["two"]


@asynchronous
async def test_a_fact_that_cannot_be_written_does_not_hold(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path) as broker:
        book = keeping(broker)
        with full_disk(), pytest.raises(LogWriteFailed):
            await broker.facts.write(written("one"), written("two"))
        assert book.titles == []
        await broker.facts.write(written("three"))
        assert book.titles == ["three"]
    async with opened(clock, tmp_path) as second:
        assert keeping(second).titles == ["three"]


@asynchronous
async def test_facts_that_are_written_together_survive_together(clock: Clock, tmp_path: Path) -> None:
    """The log is cut at every byte, as a crash may cut it."""
    async with opened(clock, tmp_path / "a") as broker:
        keeping(broker)
        await broker.facts.write(written("one"), written("two"))
        await broker.facts.write(written("three"), written("four"))
        await settled(broker)
        (segment,) = (tmp_path / "a" / "log").iterdir()
        whole = segment.read_bytes()
    seen: set[int] = set()
    for cut in range(0, len(whole) + 1, 3):
        copy = crashed(tmp_path / "a", tmp_path / f"cut-{cut}")
        (copy / "log" / segment.name).write_bytes(whole[:cut])
        async with opened(clock, copy) as second:
            seen.add(len(keeping(second).titles))
    assert seen >= {0, 2}
    assert seen <= {0, 2, 4}


@asynchronous
async def test_without_a_disk_facts_hold_as_long_as_the_process(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        book = keeping(broker)
        await broker.facts.write(written("one"))
        assert book.titles == ["one"]


@asynchronous
async def test_a_kind_has_one_keeper(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        keeping(broker)
        with pytest.raises(AssertionError):
            keeping(broker)
