"""Who has something to do next, and when: the earliest instant is found at once, whoever else waits."""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Generic, TypeVar

K = TypeVar("K")

_SLACK = 64
"""Places of those who have changed their mind that are tolerated."""


class DueTimes(Generic[K]):
    """Instants, each of somebody."""

    __slots__ = ("_at", "_heap", "_numbers")

    def __init__(self) -> None:
        self._at: dict[K, tuple[int, int]] = {}
        """The instant of each, and the number of its place in the heap; its other places are void."""
        self._heap: list[tuple[int, int, K]] = []
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._at)

    def items(self) -> Iterator[tuple[K, int]]:
        """Each, with its instant, in no order."""
        return ((key, at) for key, (at, _) in self._at.items())

    def at(self, key: K) -> int | None:
        """When it is somebody's turn."""
        found = self._at.get(key)
        return None if found is None else found[0]

    def put(self, key: K, at: int | None) -> None:
        """Somebody has something to do at an instant, whatever was said before; or nothing any more."""
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
        """The earliest instant."""
        heap = self._heap
        while heap and self._at.get(heap[0][2]) != heap[0][:2]:
            heappop(heap)
        return heap[0][0] if heap else None

    def due(self, now: int) -> Iterator[tuple[K, int]]:
        """Those whose turn has come, in order, with their instants; each is taken off as it is read."""
        while (at := self.next()) is not None and at <= now:
            key = heappop(self._heap)[2]
            del self._at[key]
            yield key, at
