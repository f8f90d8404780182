"""Open-loop load: requests are sent at scheduled instants, even if the target has not answered earlier ones.

Latency counts from the *scheduled* instant of a request. Otherwise, a target that stalls would delay the requests that
would have measured the stall, and look better than it is (coordinated omission).
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from tidings.bench.experiments.setting import now
from tidings.model.errors import TidingsError


@dataclass(slots=True)
class Load:
    """The scheduled requests, with the times of their answers."""

    meant: list[float] = field(default_factory=list)
    """The scheduled instant of each request."""
    answered: dict[int, float] = field(default_factory=dict)
    """The time of the answer to each request, by number."""
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
    """Send requests at a rate for so many seconds, with at most so many in flight, and wait for all answers."""
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
