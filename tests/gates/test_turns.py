"""Readers together, writers alone, first come, first served."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tidings.gates.errors import TooManyRequests
from tidings.gates.turns import Turns


class Play:
    """Actors that go in and stay until they are told to leave; the diary says who was in with whom."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self.inside: set[str] = set()
        self._exits: dict[str, asyncio.Event] = {}

    async def act(self, name: str) -> None:
        self._exits[name] = asyncio.Event()
        async with self._turns.writing() if name[0] == "w" else self._turns.reading():
            self.inside.add(name)
            try:
                await self._exits[name].wait()
            finally:
                self.inside.discard(name)

    async def enter(self, group: asyncio.TaskGroup, *names: str) -> list[asyncio.Task[None]]:
        tasks = []
        for name in names:
            tasks.append(group.create_task(self.act(name)))
            await settle()
        return tasks

    async def leave(self, *names: str) -> None:
        for name in names:
            self._exits[name].set()
            await settle()


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def play(script: Callable[[Play, asyncio.TaskGroup], Awaitable[None]], turns: Turns | None = None) -> None:
    async def perform() -> None:
        async with asyncio.TaskGroup() as group:
            await script(Play(turns or Turns(readers=3)), group)

    asyncio.run(perform())


def test_readers_go_in_together_and_no_more_than_there_is_room_for() -> None:
    async def script(scene: Play, group: asyncio.TaskGroup) -> None:
        await scene.enter(group, "r1", "r2", "r3", "r4")
        assert scene.inside == {"r1", "r2", "r3"}
        await scene.leave("r2")
        assert scene.inside == {"r1", "r3", "r4"}
        await scene.leave("r1", "r3", "r4")

    play(script)


def test_a_writer_is_alone_and_readers_who_come_later_wait_for_it() -> None:
    async def script(scene: Play, group: asyncio.TaskGroup) -> None:
        await scene.enter(group, "r1", "w1", "r2", "w2")
        assert scene.inside == {"r1"}
        await scene.leave("r1")
        assert scene.inside == {"w1"}
        await scene.leave("w1")
        assert scene.inside == {"r2"}
        await scene.leave("r2")
        assert scene.inside == {"w2"}
        await scene.leave("w2")

    play(script)


def test_a_waiting_writer_that_gives_up_lets_the_readers_behind_it_in() -> None:
    async def script(scene: Play, group: asyncio.TaskGroup) -> None:
        _, writer, _ = await scene.enter(group, "r1", "w1", "r2")
        writer.cancel()
        await settle()
        assert scene.inside == {"r1", "r2"}
        await scene.leave("r1", "r2")

    play(script)


def test_a_turn_that_comes_in_the_moment_of_the_cancellation_is_passed_on() -> None:
    async def script(scene: Play, group: asyncio.TaskGroup) -> None:
        _, writer, _ = await scene.enter(group, "w1", "w2", "w3")
        scene._exits["w1"].set()
        await asyncio.sleep(0)
        writer.cancel()
        await settle()
        assert scene.inside == {"w3"}
        await scene.leave("w3")

    play(script)


def test_nobody_waits_longer_than_the_limit() -> None:
    async def script(scene: Play, group: asyncio.TaskGroup) -> None:
        await scene.enter(group, "w1")
        with pytest.raises(TooManyRequests):
            await scene.act("r1")
        await scene.leave("w1")
        await scene.enter(group, "r2")
        assert scene.inside == {"r2"}
        await scene.leave("r2")

    play(script, Turns(readers=1, seconds=0.01))
