"""Keys ordered by the instant at which each is due: a heap that finds the earliest one at once."""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Generic, TypeVar

K = TypeVar("K")

_SLACK = 64
"""How many void places the heap may have beyond as many as there are keys."""


class DueTimes(Generic[K]):
    """At most one instant for each key."""

    __slots__ = ("_at", "_heap", "_numbers")

    def __init__(self) -> None:
        self._at: dict[K, tuple[int, int]] = {}
        """The instant of each key, and the number of its place in the heap; its other places are void."""
        self._heap: list[tuple[int, int, K]] = []
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._at)

    def items(self) -> Iterator[tuple[K, int]]:
        """The keys with their instants, in no order."""
        return ((key, at) for key, (at, _) in self._at.items())

    def at(self, key: K) -> int | None:
        """The instant of a key; None if it has none."""
        found = self._at.get(key)
        return None if found is None else found[0]

    def put(self, key: K, at: int | None) -> None:
        """Set the instant of a key, in place of its former one; None removes it."""
        known = self._at.get(key)
        if known is not None and known[0] == at:
            return
        if at is None:
            if known is not None:
                del self._at[key]
        else:
            number = next(self._numbers)
            self._at[key] = at, number
            heappush(self._heap, (at, number, key))
        if len(self._heap) > 2 * len(self._at) + _SLACK:
            self._heap = [(at, number, key) for key, (at, number) in self._at.items()]
            heapify(self._heap)

    def next(self) -> int | None:
        """The earliest instant; None if there is none."""
        heap = self._heap
        while heap and self._at.get(heap[0][2]) != heap[0][:2]:
            heappop(heap)
        return heap[0][0] if heap else None

    def due(self, now: int) -> Iterator[tuple[K, int]]:
        """The keys that are due, with their instants, in order. Each is removed as it is read."""
        while (at := self.next()) is not None and at <= now:
            key = heappop(self._heap)[2]
            del self._at[key]
            yield key, at
