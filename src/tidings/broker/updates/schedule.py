"""Updates that wait for their time: kept in order of the instant they are due, then of arrival.

The broker's clock decides, and it may jump: nobody sleeps longer than a second before looking at it again.
"""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from itertools import count
from typing import NewType

from msgspec import Struct

from tidings.broker.errors import UnknownDelayed
from tidings.model.access import ALL_RIGHTS, Rights
from tidings.sparql.algebra import Dataset

DelayedId = NewType("DelayedId", str)
_SLACK = 64
"""Places of cancelled ones that are tolerated."""


class Delayed(Struct, frozen=True):
    """An update to be carried out at an instant, in microseconds since 1970."""

    id: DelayedId
    at: int
    text: str
    dataset: Dataset | None = None
    publisher: str | None = None
    """Who asked for it, if that was said."""
    owner: str | None = None
    """Who may cancel it: the subject that asked for it, if that was established."""
    rights: Rights = ALL_RIGHTS
    """What they might read and write then; when it is due, they must still be allowed to."""


class Schedule:
    """All updates that wait, for their time or for their turn."""

    __slots__ = ("_begun", "_by_id", "_heap", "_numbers", "_places")

    def __init__(self) -> None:
        self._by_id: dict[DelayedId, tuple[int, Delayed]] = {}
        self._heap: list[tuple[int, int, DelayedId]] = []
        self._places: dict[DelayedId, int] = {}
        """The number of each one's place in the heap; its other places are those of cancellations."""
        self._begun: set[DelayedId] = set()
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Delayed]:
        """In the order in which they will be carried out."""
        waiting = sorted(self._by_id.values(), key=lambda entry: (entry[1].at, entry[0]))
        return (delayed for _, delayed in waiting)

    def find(self, number: str) -> Delayed:
        """One by its name. Raises UnknownDelayed."""
        entry = self._by_id.get(DelayedId(number))
        if entry is None:
            raise UnknownDelayed(f"there is no delayed update {number}; it may have been carried out")
        return entry[1]

    def add(self, delayed: Delayed) -> None:
        number = next(self._numbers)
        self._by_id[delayed.id] = (number, delayed)
        self._places[delayed.id] = number
        heappush(self._heap, (delayed.at, number, delayed.id))

    def cancel(self, number: str) -> Delayed:
        """Take one off whose time has not come. Raises UnknownDelayed."""
        delayed = self.find(number)
        if delayed.id in self._begun:
            raise UnknownDelayed(f"the delayed update {number} is being carried out already")
        self.discard(delayed.id)
        return delayed

    def discard(self, number: DelayedId) -> None:
        """Take one off, if it is there."""
        self._by_id.pop(number, None)
        self._begun.discard(number)
        self._places.pop(number, None)
        if len(self._heap) > 2 * len(self._by_id) + _SLACK:
            self._heap = [entry for entry in self._heap if self._is_valid(entry)]
            heapify(self._heap)

    def postpone(self, number: DelayedId, at: int) -> None:
        """One that could not be carried out is tried again later; it keeps the instant it was meant for."""
        self._begun.discard(number)
        self._places[number] = place = next(self._numbers)
        heappush(self._heap, (at, place, number))

    def _is_valid(self, entry: tuple[int, int, DelayedId]) -> bool:
        return self._places.get(entry[2]) == entry[1]

    def next(self) -> int | None:
        """When the next one is due."""
        heap = self._heap
        while heap and not self._is_valid(heap[0]):
            heappop(heap)
        return heap[0][0] if heap else None

    def due(self, now: int) -> Iterator[Delayed]:
        """Those whose time has come, in order; they stay on the schedule until they are done."""
        while (at := self.next()) is not None and at <= now:
            number = heappop(self._heap)[2]
            self._begun.add(number)
            yield self._by_id[number][1]
