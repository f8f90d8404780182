"""Simulated time, which passes `factor` times as fast as real time; the factor may change at any moment.

simulated time = simulated time at the last change + factor · real time since then
"""

import asyncio
from collections.abc import Callable

SLOWEST, FASTEST = 0.1, 200.0


class Tempo:
    """`clock` returns real seconds."""

    def __init__(self, factor: float, clock: Callable[[], float]) -> None:
        self.factor = factor
        self._clock = clock
        self._street = 0.0
        self._since = clock()
        self._changed = asyncio.Event()

    def begin(self) -> None:
        """Set the simulated time to 0."""
        self._street, self._since = 0.0, self._clock()

    @property
    def now(self) -> float:
        """The simulated time, in seconds."""
        return self._street + self.factor * (self._clock() - self._since)

    def set(self, text: str) -> None:
        """Set the factor from now on. A text that is no number, or a number out of range, changes nothing."""
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
        """Wait until a simulated time, even if the factor changes meanwhile."""
        while (left := at - self.now) > 0:
            self._changed.clear()
            pause = None if left == float("inf") else left / self.factor
            try:
                async with asyncio.timeout(pause):
                    await self._changed.wait()
            except TimeoutError:
                return
