"""Who is subscribed, in the order in which they came, for those who list them: a page costs what it shows.

Every coming and every going gets the next number. A position is the number of the last one that was seen, and the run
of the broker that it is of; by the same positions it can be asked who came and who went since.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import TypeAlias
from uuid import uuid4

from tidings.broker.errors import UnknownSubscription
from tidings.broker.subscriptions.subscriber import Spuid, Subscriber

REMEMBERED = 10_000
"""Departures that are remembered: whoever asks for older ones gets the whole list."""


Sees: TypeAlias = Callable[[str | None], bool]
"""Whether those who list subscriptions may see the ones of an owner."""


def everybody(_: str | None) -> bool:
    return True


class Roll:
    """Those who left leave a hole, until half of the list is holes."""

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
        """The number of the last departure that is no longer remembered."""

    def __len__(self) -> int:
        return len(self._number_of)

    def enter(self, subscriber: Subscriber) -> None:
        self._last += 1
        self._number_of[subscriber.spuid] = self._last
        self._numbers.append(self._last)
        self._subscribers.append(subscriber)
        self._by_owner[subscriber.owner] += 1

    def leave(self, subscriber: Subscriber) -> None:
        """Does nothing if it is not there."""
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
        """It is another one for those who look at what it sees: they hear that it left, and that it came."""
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

    # -- for those who list them ----------------------------------------------------------------------------------

    @property
    def end(self) -> str:
        """The position behind everything that has happened."""
        return f"{self._run}-{self._last}"

    def position(self, subscriber: Subscriber) -> str:
        return f"{self._run}-{self._number_of[subscriber.spuid]}"

    def count(self, sees: Sees = everybody) -> int:
        """How many are there."""
        return sum(number for owner, number in self._by_owner.items() if sees(owner))

    def after(self, position: str, sees: Sees = everybody) -> Iterator[Subscriber]:
        """Who came later, and is still there. Raises UnknownSubscription for a position of another run."""
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
        """Who left since; None if that is not known any more, or the position is of another run."""
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
