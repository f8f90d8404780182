"""Nothing is answered before it is durable: what waits, in which order, and what happens when the disk fails."""

import asyncio
import threading

import pytest

from broker.paper import Scene, turns
from tidings.broker.durability import group_commit as room
from tidings.broker.durability.commit_log import CommitLog
from tidings.log.errors import LogBroken, LogWriteFailed
from tidings.log.journal import Durability
from tidings.model.access import Graphs
from waiting import asynchronous, until


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
