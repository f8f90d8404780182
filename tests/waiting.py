"""How tests wait: for what has to happen, however long it takes, and never for time to go by.

No test says how fast anything has to be. What does not happen at all would be waited for without end, so waiting ends
after far more time than any machine needs, however busy it is.
"""

import asyncio
import functools
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import ParamSpec

PATIENCE = 120.0
"""Seconds after which whatever should have happened has not."""
WHOLE = 5 * PATIENCE
"""The same for a whole test, or a program that does many things before it ends."""
_LONGEST_PAUSE = 0.05
P = ParamSpec("P")


def asynchronous(
    test: Callable[P, Coroutine[None, None, None]],
    new_loop: Callable[[], asyncio.AbstractEventLoop] | None = None,
) -> Callable[P, None]:
    """A test that is a coroutine, as pytest can call it; it does not take for ever."""

    @functools.wraps(test)
    def run(*arguments: P.args, **named: P.kwargs) -> None:
        async def limited() -> None:
            async with asyncio.timeout(WHOLE):
                await test(*arguments, **named)

        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(limited())

    return run


async def until(holds: Callable[[], object]) -> None:
    """Let everybody else go on until something holds that nothing else tells of."""
    pauses = _pauses()
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(next(pauses))


def wait_until(holds: Callable[[], object]) -> None:
    """As `until`, for tests without a loop."""
    pauses, end = _pauses(), time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "what should have happened has not"
        time.sleep(next(pauses))


def _pauses() -> Iterator[float]:
    """Seconds between two looks: most things happen soon, and looking at the others takes its time as well."""
    pause = 0.001
    while True:
        yield pause
        pause = min(1.5 * pause, _LONGEST_PAUSE)
