"""Updates that wait for their time: kept in order of the instant they are due, then of arrival.

The broker's clock decides, and it may jump: nobody sleeps longer than a second before looking at it again.
"""

from collections.abc import Iterator
from itertools import count
from typing import NewType

from msgspec import Struct

from tidings.broker.errors import UnknownDelayed
from tidings.engine.due_times import DueTimes
from tidings.model.access import ALL_RIGHTS, Rights
from tidings.sparql.algebra import Dataset

DelayedId = NewType("DelayedId", str)


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

    __slots__ = ("_begun", "_by_id", "_due_times", "_numbers")

    def __init__(self) -> None:
        self._by_id: dict[DelayedId, tuple[int, Delayed]] = {}
        self._due_times: DueTimes[DelayedId] = DueTimes()
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
        self._by_id[delayed.id] = (next(self._numbers), delayed)
        self._due_times.put(delayed.id, delayed.at)

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
        self._due_times.put(number, None)

    def postpone(self, number: DelayedId, at: int) -> None:
        """One that could not be carried out is tried again later; it keeps the instant it was meant for."""
        self._begun.discard(number)
        self._due_times.put(number, at)

    def next(self) -> int | None:
        """When the next one is due."""
        return self._due_times.next()

    def due(self, now: int) -> Iterator[Delayed]:
        """Those whose time has come, in order; they stay on the schedule until they are done."""
        for number, _ in self._due_times.due(now):
            self._begun.add(number)
            yield self._by_id[number][1]
