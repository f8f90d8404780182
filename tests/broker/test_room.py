"""Room is shared fairly: nobody has all of it while somebody else wants some, and none of it is lost."""

import asyncio
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from tidings.broker.room import Room
from waiting import asynchronous, until


class Visitor:
    """One who comes in, and stays until told to go."""

    def __init__(self, room: Room, client: str | None) -> None:
        self.client = client
        self.inside = False
        self._go = asyncio.Event()
        self.task = asyncio.create_task(self._visit(room))

    async def _visit(self, room: Room) -> None:
        async with room.taken(self.client):
            self.inside = True
            try:
                await self._go.wait()
            finally:
                self.inside = False

    async def leave(self) -> None:
        self._go.set()
        await self.task


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@asynchronous
async def test_a_client_does_not_get_the_last_place_twice_and_another_one_does_at_once() -> None:
    room = Room(2)
    first, second, third = (Visitor(room, "greedy") for _ in range(3))
    await settle()
    assert (first.inside, second.inside, third.inside) == (True, False, False)
    other = Visitor(room, "other")
    await settle()
    assert other.inside
    await other.leave()
    await settle()
    assert not second.inside
    await first.leave()
    await until(lambda: second.inside)
    await second.leave()
    await until(lambda: third.inside)
    await third.leave()


@asynchronous
async def test_those_without_a_name_may_have_it_all() -> None:
    room = Room(2)
    first, second, third = (Visitor(room, None) for _ in range(3))
    await settle()
    assert (first.inside, second.inside, third.inside) == (True, True, False)
    for each in (first, second, third):
        await each.leave()


@asynchronous
async def test_clients_take_turns() -> None:
    room = Room(1)
    first = Visitor(room, "a")
    await settle()
    waiting = [Visitor(room, name) for name in ("a", "a", "a", "b", "c", "b")]
    order: list[str | None] = []
    current = first
    for _ in waiting:
        await current.leave()
        await until(lambda: any(each.inside for each in waiting))
        (current,) = (each for each in waiting if each.inside)
        order.append(current.client)
    await current.leave()
    assert order == ["a", "b", "c", "a", "b", "a"]


@asynchronous
async def test_who_gives_up_leaves_no_gap() -> None:
    room = Room(1)
    first = Visitor(room, "a")
    await settle()
    second, third = Visitor(room, "b"), Visitor(room, "c")
    await settle()
    second.task.cancel()
    await first.leave()
    await until(lambda: third.inside)
    await third.leave()
    last = Visitor(room, "b")
    await settle()
    assert last.inside
    await last.leave()


def steps() -> st.SearchStrategy[list[tuple[str, int]]]:
    return st.lists(st.tuples(st.sampled_from(["a", "b", "c", "", "leave", "cancel"]), st.integers(0, 20)), max_size=40)


@given(st.integers(1, 4), steps())
def test_whoever_comes_and_goes_the_room_is_never_overfull_and_never_lost(
    most: int, plan: list[tuple[str, int]]
) -> None:
    async def run() -> None:
        room = Room(most)
        visitors: list[Visitor] = []
        for word, number in plan:
            if word not in {"leave", "cancel"}:
                visitors.append(Visitor(room, word or None))
            elif visitors:
                gone = visitors.pop(number % len(visitors))
                if word == "cancel" or not gone.inside:
                    gone.task.cancel()
                    await asyncio.gather(gone.task, return_exceptions=True)
                else:
                    await gone.leave()
            await settle()
            inside = [each.client for each in visitors if each.inside]
            assert len(inside) <= most
            check_nobody_waits_in_vain(most, visitors, inside)
        for each in visitors:
            each.task.cancel()
        await asyncio.gather(*(each.task for each in visitors), return_exceptions=True)
        fresh = [Visitor(room, None) for _ in range(most)]
        await settle()
        assert all(each.inside for each in fresh)
        for each in fresh:
            await each.leave()

    asyncio.run(run())


def check_nobody_waits_in_vain(most: int, visitors: list[Visitor], inside: list[str | None]) -> None:
    free = most - len(inside)
    may: Callable[[str | None], bool] = lambda client: free > (1 if client is not None and client in inside else 0)  # noqa: E731
    assert not any(may(each.client) for each in visitors if not each.inside)
