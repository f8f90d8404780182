"""Keeps the pauses of the garbage collector short, by exempting objects that live long from collections.

A million subscriptions are millions of objects that a full collection would traverse in vain, because their reference
counts free them when they end. `gc.freeze` exempts them. The broker calls it after loading, and repeatedly while
subscriptions begin and plans build their state.
"""

import gc
from collections.abc import Callable
from typing import Any

_EVERY = 5_000


class Pauses:
    """Keeps collections short, and records the longest one."""

    __slots__ = ("_clock", "_count", "_started", "longest")

    def __init__(self) -> None:
        self._clock: Callable[[], float] | None = None
        self._count = 0
        self._started = 0.0
        self.longest = 0.0

    def settle(self) -> None:
        """Collect garbage, and exempt all other objects from later collections: they will stay."""
        gc.collect()
        gc.freeze()

    def count(self, made: int = 1) -> None:
        """Count new long-lived objects; after every so many, exempt them from collections."""
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
