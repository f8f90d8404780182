"""Load that does not wait for answers: requests leave when the schedule says so, however the target is doing.

Latency is counted from the instant a request was *meant* to leave. Otherwise a target that stalls would hold back the
requests that would have seen it stall, and look better than it is (coordinated omission).
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from tidings.bench.experiments.setting import now
from tidings.model.errors import TidingsError


@dataclass(slots=True)
class Load:
    """What became of a schedule."""

    meant: list[float] = field(default_factory=list)
    """When each request was to leave."""
    answered: dict[int, float] = field(default_factory=dict)
    """When it was answered, by number."""
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0


async def offer(
    send: Callable[[int], Awaitable[None]],
    rate: float,
    seconds: float,
    *,
    most: int = 1000,
    watch: Callable[[int], None] | None = None,
) -> Load:
    """Send at a rate for so many seconds, with at most so many requests under way; wait for all of them."""
    load = Load()
    room = asyncio.Semaphore(most)
    count = max(1, int(rate * seconds))
    begun = now() + 0.01
    running: set[asyncio.Task[None]] = set()

    async def one(number: int) -> None:
        try:
            await send(number)
            load.answered[number] = now()
        except TidingsError as error:
            load.failures.append(str(error))
        finally:
            room.release()

    for number in range(count):
        due = begun + number / rate
        load.meant.append(due)
        if (pause := due - now()) > 0:
            await asyncio.sleep(pause)
        await room.acquire()
        task = asyncio.create_task(one(number))
        running.add(task)
        task.add_done_callback(running.discard)
        if watch is not None:
            watch(number)
    if running:
        await asyncio.wait(running)
    load.seconds = now() - begun
    return load
