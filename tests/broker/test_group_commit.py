"""Nothing is answered before it is durable: what waits, in which order, and what happens when the disk fails."""

import asyncio
import errno
import threading
from collections.abc import Callable
from typing import TypeVar, cast

import pytest

from tidings.broker.durability import group_commit as room
from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.pending import Pending, PendingBarrier, PendingSeed, PendingUnsubscription
from tidings.engine.commit import Commit
from tidings.log.entry import Entry, Note
from tidings.log.errors import LogBroken, LogWriteFailed
from tidings.log.journal import Durability, Journal
from tidings.model.access import Graphs
from tidings.model.errors import TidingsError
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from waiting import PATIENCE, asynchronous, until

P = TypeVar("P", bound=Pending)


class Paper:
    """A journal that remembers batches, fails when it is told to, and takes the time it is given."""

    def __init__(self) -> None:
        self.seq = 0
        self.pending: list[Entry] = []
        self.batches: list[list[Entry]] = []
        self.closed = False
        self.failing = 0
        self.broken = False
        self.busy: threading.Event | None = None
        self.writing = threading.Event()
        """Whether it is at work on a batch."""

    def append(self, entry: Entry) -> None:
        if self.broken:
            raise LogBroken
        assert entry.commit == self.seq + bool(entry.delta)
        self.pending.append(entry)
        self.seq = entry.commit

    def take(self) -> list[Entry] | None:
        batch, self.pending = self.pending, []
        return batch or None

    def write(self, batch: list[Entry]) -> None:
        self.writing.set()
        if self.busy is not None:
            assert self.busy.wait(PATIENCE)
        if self.failing:
            self.failing -= 1
            raise LogWriteFailed(OSError(errno.ENOSPC, "No space left on device"))
        self.batches.append(batch)

    def discard(self) -> None:
        self.pending = []
        self.seq = max((entry.commit for batch in self.batches for entry in batch), default=0)

    def close(self) -> None:
        self.closed = True


async def turns() -> None:
    """The loop goes round some times: whatever would happen by itself has happened."""
    for _ in range(10):
        await asyncio.sleep(0)


class Scene:
    """A commit log on paper, and what was settled and undone."""

    def __init__(self, durability: Durability) -> None:
        self.paper = Paper()
        journal = cast(Journal, self.paper)
        self.log = CommitLog(lambda: 1)
        self.log.begin(self)
        self.log.attach(journal, durability)
        self.group_commit = self.log.group_commit
        self.said: list[str] = []
        self.then: dict[str, Callable[[], None]] = {}
        """What is done when something is settled."""
        self._names: dict[int, tuple[str, Pending]] = {}

    def commit(self, name: str) -> None:
        delta: ZSet[Quad] = ZSet([(("<s>", "<p>", f'"{name}"', ""), 1)])
        self.log.commit(self._named(name, PendingSeed(self.log.next_entry(delta, 1), Commit(delta, []))))

    def note(self, name: str) -> None:
        self.log.note(Note("remark", {"name": name}), self._named(name, PendingUnsubscription(None)))

    def wait(self, name: str) -> None:
        """Something that writes nothing."""
        self.log.wait(self._named(name, PendingUnsubscription(None)))

    def _named(self, name: str, pending: P) -> P:
        self._names[id(pending)] = (name, pending)
        return pending

    def settle(self, pending: Pending) -> None:
        if isinstance(pending, PendingBarrier):
            if not pending.durable.done():
                pending.durable.set_result(None)
            return
        name = self._names[id(pending)][0]
        self.said.append(name)
        if name in self.then:
            self.then[name]()
        if isinstance(pending, PendingSeed):
            self.log.publish(pending.entry)

    def undo(self, pending: Pending, error: TidingsError) -> None:
        if isinstance(pending, PendingBarrier):
            pending.durable.set_exception(error)
            return
        self.said.append(f"no {self._names[id(pending)][0]}")
        if isinstance(pending, PendingSeed):
            self.log.take_back(pending.entry)

    @property
    def sizes(self) -> list[int]:
        return [len(batch) for batch in self.paper.batches]


@asynchronous
@pytest.mark.parametrize("durability", ["os", "fsync"])
async def test_steps_of_one_turn_share_one_write_and_are_released_in_order(durability: Durability) -> None:
    scene = Scene(durability)
    scene.commit("a")
    scene.note("b")
    scene.wait("c")
    scene.commit("d")
    assert scene.said == []
    assert len(scene.group_commit) == 4
    await scene.group_commit.idle()
    assert scene.said == ["a", "b", "c", "d"]
    assert scene.sizes == [3]
    assert scene.group_commit.batches == 1
    assert scene.log.last_commit == 2
    scene.group_commit.close()


@asynchronous
async def test_what_comes_while_the_disk_is_busy_goes_together_and_waits_its_turn() -> None:
    scene = Scene("fsync")
    scene.paper.busy = threading.Event()
    scene.commit("a")
    await until(scene.paper.writing.is_set)
    for name in "bcd":
        scene.commit(name)
        await asyncio.sleep(0)
    scene.wait("e")
    await turns()
    assert scene.said == []
    scene.paper.busy.set()
    await scene.group_commit.idle()
    assert scene.said == ["a", "b", "c", "d", "e"]
    assert scene.sizes == [1, 3]
    scene.group_commit.close()


@asynchronous
@pytest.mark.parametrize("durability", ["os", "fsync"])
async def test_a_write_that_fails_undoes_everything_the_last_first_and_the_next_goes_on(durability: Durability) -> None:
    scene = Scene(durability)
    scene.commit("a")
    await scene.group_commit.idle()
    scene.paper.failing = 1
    for name in "bcd":
        scene.commit(name)
    scene.note("e")
    scene.wait("f")
    await scene.group_commit.idle()
    assert scene.said == ["a", "no f", "no e", "no d", "no c", "no b"]
    assert scene.log.last_commit == 1
    assert scene.group_commit.failures == 1
    scene.commit("g")
    await scene.group_commit.idle()
    assert scene.said[-1] == "g"
    assert [entry.commit for batch in scene.paper.batches for entry in batch] == [1, 2]
    scene.group_commit.close()


@asynchronous
async def test_what_came_after_a_write_that_fails_is_undone_with_it() -> None:
    scene = Scene("fsync")
    scene.paper.busy = threading.Event()
    scene.paper.failing = 1
    scene.commit("a")
    await until(scene.paper.writing.is_set)
    scene.commit("b")
    scene.wait("c")
    scene.paper.busy.set()
    await scene.group_commit.idle()
    assert scene.said == ["no c", "no b", "no a"]
    assert scene.log.last_commit == 0
    scene.commit("d")
    await scene.group_commit.idle()
    assert scene.said[-1] == "d"
    assert scene.log.last_commit == 1
    scene.group_commit.close()


@asynchronous
async def test_a_step_taken_while_others_are_released_comes_after_them() -> None:
    scene = Scene("os")
    scene.then["first"] = lambda: scene.commit("later")
    scene.note("first")
    scene.commit("sooner")
    await scene.group_commit.idle()
    assert scene.said == ["first", "sooner", "later"]
    assert scene.sizes == [2, 1]


@asynchronous
async def test_without_durability_steps_are_released_at_once_and_written_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "LAZY_SECONDS", 0.0)
    scene = Scene("none")
    for name in "abc":
        scene.commit(name)
    assert scene.said == ["a", "b", "c"]
    assert scene.sizes == []
    await until(lambda: scene.sizes)
    assert scene.sizes == [3]


@asynchronous
async def test_without_durability_nothing_is_promised_after_a_write_that_failed() -> None:
    scene = Scene("none")
    scene.paper.failing = 1
    scene.commit("a")
    await scene.group_commit.idle()
    scene.commit("b")  # a commit on top of one that is lost would be lost as well
    assert scene.said == ["a", "no b"]
    with pytest.raises(LogBroken):
        scene.log.check()


@asynchronous
@pytest.mark.parametrize("durability", ["none", "os", "fsync"])
async def test_idle_is_when_everything_is_written(durability: Durability) -> None:
    scene = Scene(durability)
    await scene.group_commit.idle()  # at once
    scene.commit("a")
    await scene.group_commit.idle()
    assert scene.sizes == [1]
    scene.group_commit.close()


@asynchronous
@pytest.mark.parametrize("durability", ["none", "os", "fsync"])
async def test_whatever_is_left_is_written_in_the_end(durability: Durability) -> None:
    scene = Scene(durability)
    scene.commit("a")
    scene.group_commit.close()
    assert scene.sizes == [1]
    assert scene.paper.closed


@asynchronous
async def test_without_a_journal_everything_is_settled_at_once() -> None:
    scene = Scene("os")
    scene.log = CommitLog(lambda: 1)
    scene.log.begin(scene)
    scene.note("noted")
    scene.wait("waited")
    scene.commit("committed")
    await scene.log.settled()
    assert scene.said == ["noted", "waited", "committed"]
    assert scene.log.last_commit == 1


@asynchronous
async def test_settled_waits_for_what_is_on_its_way_and_for_nothing_else() -> None:
    scene = Scene("fsync")
    await scene.log.settled()  # at once
    scene.paper.busy = threading.Event()
    scene.commit("a")
    waiting = asyncio.create_task(scene.log.settled())
    await until(scene.paper.writing.is_set)
    await turns()
    assert not waiting.done()
    scene.paper.busy.set()
    await waiting
    assert scene.said == ["a"]
    scene.group_commit.close()


@asynchronous
async def test_settled_raises_what_kept_things_from_being_durable() -> None:
    scene = Scene("os")
    scene.paper.failing = 1
    scene.commit("a")
    with pytest.raises(LogWriteFailed):
        await scene.log.settled()
    assert scene.said == ["no a"]
    await scene.log.settled()


@asynchronous
async def test_who_no_longer_waits_to_be_settled_does_not_hold_up_the_others() -> None:
    scene = Scene("os")
    scene.commit("a")
    waiting = asyncio.create_task(scene.log.settled())
    await asyncio.sleep(0)
    waiting.cancel()
    scene.commit("b")
    await scene.group_commit.idle()
    assert scene.said == ["a", "b"]


@asynchronous
async def test_a_broken_log_takes_nothing_more_and_undoes_it_at_once() -> None:
    scene = Scene("os")
    scene.paper.broken = True
    scene.commit("a")
    scene.note("b")
    assert scene.said == ["no a", "no b"]
    assert scene.log.last_commit == 0
    with pytest.raises(LogBroken):
        scene.log.check()


@asynchronous
async def test_those_who_follow_hear_of_commits_that_are_durable_and_of_no_others() -> None:
    scene = Scene("os")
    heard: list[int] = []
    scene.log.followers[lambda commit: heard.append(commit.commit)] = Graphs.ALL
    scene.commit("a")
    assert heard == []
    await scene.group_commit.idle()
    scene.paper.failing = 1
    scene.commit("b")
    scene.note("c")
    await scene.group_commit.idle()
    scene.commit("d")
    await scene.group_commit.idle()
    assert heard == [1, 2]


def test_time_never_goes_backwards() -> None:
    times = iter([5, 3, 9, 1])
    log = CommitLog(lambda: next(times))
    assert [log.now() for _ in range(4)] == [5, 5, 9, 9]
