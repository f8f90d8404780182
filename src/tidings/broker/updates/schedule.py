"""The schedule of delayed updates, ordered by the instant at which they are due, and then by arrival.

The broker's clock decides. Because it may jump, the broker looks at it at least once a second.
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
    """The publisher, if known."""
    owner: str | None = None
    """The subject of the publisher's token, which may cancel the update; None with security off."""
    rights: Rights = ALL_RIGHTS
    """The owner's rights when the broker accepted the update. When it is due, the owner must still have them."""


class Schedule:
    """All delayed updates that are not done: those that are not due yet, and those that wait for their turn."""

    __slots__ = ("_begun", "_by_id", "_due_times", "_numbers")

    def __init__(self) -> None:
        self._by_id: dict[DelayedId, tuple[int, Delayed]] = {}
        self._due_times: DueTimes[DelayedId] = DueTimes()
        self._begun: set[DelayedId] = set()
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Delayed]:
        """The delayed updates in the order in which they will be carried out."""
        waiting = sorted(self._by_id.values(), key=lambda entry: (entry[1].at, entry[0]))
        return (delayed for _, delayed in waiting)

    def find(self, number: str) -> Delayed:
        """A delayed update by its id. Raises UnknownDelayed."""
        entry = self._by_id.get(DelayedId(number))
        if entry is None:
            raise UnknownDelayed(f"there is no delayed update {number}; it may have been carried out")
        return entry[1]

    def add(self, delayed: Delayed) -> None:
        self._by_id[delayed.id] = (next(self._numbers), delayed)
        self._due_times.put(delayed.id, delayed.at)

    def cancel(self, number: str) -> Delayed:
        """Remove a delayed update that is not being carried out yet. Raises UnknownDelayed."""
        delayed = self.find(number)
        if delayed.id in self._begun:
            raise UnknownDelayed(f"the delayed update {number} is being carried out already")
        self.discard(delayed.id)
        return delayed

    def discard(self, number: DelayedId) -> None:
        """Remove a delayed update, if it is there."""
        self._by_id.pop(number, None)
        self._begun.discard(number)
        self._due_times.put(number, None)

    def postpone(self, number: DelayedId, at: int) -> None:
        """Try a delayed update again at `at`. Its own instant stays as it is."""
        self._begun.discard(number)
        self._due_times.put(number, at)

    def next(self) -> int | None:
        """The instant at which the next one is due; None if there is none."""
        return self._due_times.next()

    def due(self, now: int) -> Iterator[Delayed]:
        """The delayed updates that are due, in order. They stay on the schedule until they are done."""
        for number, _ in self._due_times.due(now):
            self._begun.add(number)
            yield self._by_id[number][1]
