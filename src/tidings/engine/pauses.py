"""Short pauses with a large heap: what lives long is taken out of the garbage collector's sight.

A million subscriptions are millions of objects that a full collection would look at, for nothing: they are freed by
their reference counts when they end. `gc.freeze` moves them where no collection goes. The process decides when: after
loading, and now and then while subscriptions are made, or what their plans remember.
"""

import gc
from collections.abc import Callable
from typing import Any

_EVERY = 5_000


class Pauses:
    """Keeps collections short, and knows the longest one seen."""

    __slots__ = ("_clock", "_count", "_started", "longest")

    def __init__(self) -> None:
        self._clock: Callable[[], float] | None = None
        self._count = 0
        self._started = 0.0
        self.longest = 0.0

    def settle(self) -> None:
        """What is there now will stay: collect what is dead, and never look at the rest again."""
        gc.collect()
        gc.freeze()

    def count(self, made: int = 1) -> None:
        """More long-lived things were made; every so often they are put out of sight."""
        self._count += made
        if self._count >= _EVERY:
            self._count = 0
            gc.freeze()

    def watch(self, clock: Callable[[], float]) -> None:
        """Time collections from here on."""
        self._clock = clock
        gc.callbacks.append(self._note)

    def unwatch(self) -> None:
        gc.callbacks.remove(self._note)

    def _note(self, phase: str, _: dict[str, Any]) -> None:
        if self._clock is None:
            return
        if phase == "start":
            self._started = self._clock()
        else:
            self.longest = max(self.longest, self._clock() - self._started)
