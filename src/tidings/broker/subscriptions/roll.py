"""Lists subscriptions in the order in which they began, page by page: a page costs as much as it shows.

Each beginning and each end of a subscription gets the next number. A position is the run of the broker and the number
that a client saw last. With a position, the client can ask which subscriptions have begun and ended since.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import TypeAlias
from uuid import uuid4

from tidings.broker.errors import UnknownSubscription
from tidings.broker.subscriptions.subscriber import Spuid, Subscriber

REMEMBERED = 10_000
"""How many ended subscriptions are remembered. A client that asks for older ones gets the whole list."""


Sees: TypeAlias = Callable[[str | None], bool]
"""Tells whether the reader of the list may see the subscriptions of an owner."""


def everybody(_: str | None) -> bool:
    return True


class Roll:
    """The list. An ended subscription leaves a hole in it; the holes are closed when they are half of the list."""

    def __init__(self, remembered: int = REMEMBERED) -> None:
        self._run = uuid4().hex[:12]
        self._last = 0
        self._number_of: dict[Spuid, int] = {}
        self._by_owner: Counter[str | None] = Counter()
        self._numbers: list[int] = []
        self._subscribers: list[Subscriber | None] = []
        self._holes = 0
        self._ended: deque[tuple[int, Spuid, str | None]] = deque(maxlen=remembered)
        self._forgotten = 0
        """The number of the last end of a subscription that is no longer remembered."""

    def __len__(self) -> int:
        return len(self._number_of)

    def enter(self, subscriber: Subscriber) -> None:
        self._last += 1
        self._number_of[subscriber.spuid] = self._last
        self._numbers.append(self._last)
        self._subscribers.append(subscriber)
        self._by_owner[subscriber.owner] += 1

    def leave(self, subscriber: Subscriber) -> None:
        """A subscription has ended. Does nothing if it is not in the list."""
        spuid, owner = subscriber.spuid, subscriber.owner
        number = self._number_of.pop(spuid, None)
        if number is None:
            return
        self._by_owner[owner] -= 1
        if not self._by_owner[owner]:
            del self._by_owner[owner]
        self._subscribers[bisect_left(self._numbers, number)] = None
        self._holes += 1
        if 2 * self._holes > len(self._numbers):
            self._close_holes()
        self._last += 1
        if len(self._ended) == self._ended.maxlen:
            self._forgotten = self._ended[0][0]
        self._ended.append((self._last, spuid, owner))

    def move(self, subscriber: Subscriber) -> None:
        """The rights of a subscription have changed: readers see that it ended, and that it began anew."""
        if subscriber.spuid in self._number_of:
            self.leave(subscriber)
            self.enter(subscriber)

    def _close_holes(self) -> None:
        kept = [
            (number, each) for number, each in zip(self._numbers, self._subscribers, strict=True) if each is not None
        ]
        self._numbers = [number for number, _ in kept]
        self._subscribers = [each for _, each in kept]
        self._holes = 0

    # -- for readers of the list ----------------------------------------------------------------------------------

    @property
    def end(self) -> str:
        """The position behind everything that has happened."""
        return f"{self._run}-{self._last}"

    def position(self, subscriber: Subscriber) -> str:
        return f"{self._run}-{self._number_of[subscriber.spuid]}"

    def count(self, sees: Sees = everybody) -> int:
        """How many subscriptions the reader may see."""
        return sum(number for owner, number in self._by_owner.items() if sees(owner))

    def after(self, position: str, sees: Sees = everybody) -> Iterator[Subscriber]:
        """The subscriptions that began after a position and have not ended. Raises UnknownSubscription for a position
        of another run."""
        number = self._number_at(position)
        if number is None:
            raise UnknownSubscription(
                f"the list has no place {position}: it is of another run; begin with the first page"
            )
        return self._behind(number, sees)

    def all(self, sees: Sees = everybody) -> Iterator[Subscriber]:
        return self._behind(0, sees)

    def _behind(self, number: int, sees: Sees) -> Iterator[Subscriber]:
        for index in range(bisect_right(self._numbers, number), len(self._subscribers)):
            subscriber = self._subscribers[index]
            if subscriber is not None and sees(subscriber.owner):
                yield subscriber

    def ended_since(self, position: str, sees: Sees = everybody) -> list[Spuid] | None:
        """The subscriptions that ended after a position; None if they are not remembered, or the run is another one."""
        since = self._number_at(position)
        if since is None or since < self._forgotten:
            return None
        found: list[Spuid] = []
        for number, spuid, owner in reversed(self._ended):
            if number <= since:
                break
            if sees(owner):
                found.append(spuid)
        return found[::-1]

    def _number_at(self, position: str) -> int | None:
        run, _, number = position.partition("-")
        return int(number) if run == self._run and number.isdecimal() and len(number) < 20 else None
