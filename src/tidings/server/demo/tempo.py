"""How fast the street's time passes: so many times as fast as ours, and at any moment otherwise.

street time = street time at the last change + factor · our time since then
"""

import asyncio
from collections.abc import Callable

SLOWEST, FASTEST = 0.1, 200.0


class Tempo:
    """`clock` counts our seconds."""

    def __init__(self, factor: float, clock: Callable[[], float]) -> None:
        self.factor = factor
        self._clock = clock
        self._street = 0.0
        self._since = clock()
        self._changed = asyncio.Event()

    def begin(self) -> None:
        """The street's time is 0 now."""
        self._street, self._since = 0.0, self._clock()

    @property
    def now(self) -> float:
        """Seconds of the street."""
        return self._street + self.factor * (self._clock() - self._since)

    def set(self, text: str) -> None:
        """From now on. What is no number, or one that nobody could watch, changes nothing."""
        try:
            factor = float(text)
        except ValueError:
            return
        if not SLOWEST <= factor <= FASTEST:
            return
        self._street, self._since = self.now, self._clock()
        self.factor = factor
        self._changed.set()

    async def until(self, at: float) -> None:
        """Until the street's time has come, whatever the tempo meanwhile."""
        while (left := at - self.now) > 0:
            self._changed.clear()
            pause = None if left == float("inf") else left / self.factor
            try:
                async with asyncio.timeout(pause):
                    await self._changed.wait()
            except TimeoutError:
                return
