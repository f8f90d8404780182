"""A commit that takes long to encode: in the writing thread, in its turn, and nothing overtakes it."""

import asyncio
import threading

import pytest

from broker.paper import Scene, turns
from tidings.broker.durability import group_commit as room
from tidings.log.journal import Durability
from waiting import asynchronous, until


@asynchronous
@pytest.mark.parametrize("durability", ["none", "os", "fsync"])
async def test_a_large_commit_is_written_aside_and_what_follows_goes_after_it(durability: Durability) -> None:
    scene = Scene(durability)
    scene.paper.busy = threading.Event()
    scene.commit("a", size=2)
    idle = asyncio.create_task(scene.group_commit.idle())
    await until(scene.paper.writing.is_set)
    scene.commit("b")
    scene.note("c")
    await turns()
    assert scene.said == (["a", "b", "c"] if durability == "none" else [])
    assert scene.sizes == []
    scene.paper.busy.set()
    await idle
    assert scene.said == ["a", "b", "c"]
    assert scene.sizes == [1, 2]
    scene.group_commit.close()


@asynchronous
@pytest.mark.parametrize("fails", [False, True])
async def test_who_reads_the_log_has_what_is_being_written_as_well(
    monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    monkeypatch.setattr(room, "LAZY_SECONDS", 0.0)
    scene = Scene("none")
    scene.paper.busy = threading.Event()
    scene.paper.failing = int(fails)
    scene.commit("a", size=2)
    await until(scene.paper.writing.is_set)
    scene.commit("b")
    scene.paper.busy.set()
    scene.group_commit.write_out()
    assert scene.sizes == ([] if fails else [1, 1])
    await scene.group_commit.idle()
    assert scene.sizes == ([] if fails else [1, 1])
    assert scene.paper.broken is fails
    scene.group_commit.close()


@asynchronous
@pytest.mark.parametrize("durability", ["os", "fsync"])
async def test_a_large_commit_that_fails_is_undone_with_what_came_after_it(durability: Durability) -> None:
    scene = Scene(durability)
    scene.paper.busy = threading.Event()
    scene.paper.failing = 1
    scene.commit("a", size=2)
    await until(scene.paper.writing.is_set)
    scene.commit("b")
    scene.paper.busy.set()
    await scene.group_commit.idle()
    assert scene.said == ["no b", "no a"]
    scene.commit("c", size=2)
    await scene.group_commit.idle()
    assert scene.said[-1] == "c"
    assert scene.log.last_commit == 1
    scene.group_commit.close()
