"""Looks again and again whether anything is due: when the next thing will be, or after a pause that is never long."""

import asyncio
from collections.abc import Callable


class Alarm:
    """Calls `work` whenever a `pause` is over; both are asked anew each time. It rings once it was rung."""

    __slots__ = ("_ended", "_pause", "_timer", "_work")

    def __init__(self, work: Callable[[], None], pause: Callable[[], float]) -> None:
        self._work = work
        self._pause = pause
        self._timer: asyncio.TimerHandle | None = None
        self._ended = False

    def ring(self) -> None:
        """Do what is due now, and whatever will be."""
        try:
            self._work()
        finally:
            self.set()

    def set(self) -> None:
        """What is due next may have changed: reckon the pause anew."""
        if self._timer is not None:
            self._timer.cancel()
        if not self._ended:
            self._timer = asyncio.get_running_loop().call_later(self._pause(), self.ring)

    def end(self) -> None:
        self._ended = True
        if self._timer is not None:
            self._timer.cancel()
