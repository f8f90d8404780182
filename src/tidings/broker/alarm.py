"""Calls work again and again, each time when the next part of it is due."""

import asyncio
from collections.abc import Callable


class Alarm:
    """Calls `work` after each pause; `pause` returns the seconds until the next call. The first call of `ring` or `set`
    starts it."""

    __slots__ = ("_ended", "_pause", "_timer", "_work")

    def __init__(self, work: Callable[[], None], pause: Callable[[], float]) -> None:
        self._work = work
        self._pause = pause
        self._timer: asyncio.TimerHandle | None = None
        self._ended = False

    def ring(self) -> None:
        """Do what is due now, and wait for what is due next."""
        try:
            self._work()
        finally:
            self.set()

    def set(self) -> None:
        """Begin a new pause, because what is due next may have changed."""
        if self._timer is not None:
            self._timer.cancel()
        if not self._ended:
            self._timer = asyncio.get_running_loop().call_later(self._pause(), self.ring)

    def end(self) -> None:
        self._ended = True
        if self._timer is not None:
            self._timer.cancel()
