"""Targets in memory, for tests of the suite itself: one that is right, and some that are wrong in a way that is known.

    right()            every subscriber is told every change, once, in order
    losing(3)          notifications 3, 6, 9, … of a subscription never come
    duplicating(3)     they come twice
    swapping(3)        they come after the one that follows them
    haunted()          every subscription is told an old value before whatever an update changes
    dying(5)           the fifth update finds it dead; so does everything after that

The first notification, number 0, is always right. Nothing here depends on the clock or on chance but `Arrival.at`.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from time import perf_counter

import pyoxigraph as ox

from tidings.bench.targets import Arrival, Description, Listening, Offers
from tidings.bench.targets.errors import TargetFailed
from tidings.bench.targets.wire.inbox import Inbox
from tidings.bench.targets.wire.rows import Row, boolean_row, insert_data
from tidings.model.terms import Triple

Fault = Callable[[int], list[int]]
"""What is told when it is the turn of a notification: the numbers of none, one or several, of those there were."""


def told_right(number: int) -> list[int]:
    return [number]


class Double:
    """A target whose store is pyoxigraph's, and whose subscriptions are evaluated anew after every update."""

    def __init__(
        self,
        name: str = "double",
        fault: Fault = told_right,
        *,
        dies_at: int | None = None,
        numbered: bool = True,
        old: tuple[Row, ...] = (),
    ) -> None:
        self._description = Description(name, "double", "memory:", "1", {"fault": name})
        self._fault = fault
        self._dies_at = dies_at
        self._numbered = numbered
        self._old = old
        self._store = ox.Store()
        self._followers: list[_Follower] = []
        self.updates = 0
        self.notified = 0
        self.opened = 0
        self.closed = 0
        self.cleared = 0

    @property
    def offers(self) -> Offers:
        return Offers(components=True)

    @property
    def description(self) -> Description:
        return self._description

    @property
    def dead(self) -> bool:
        return self._dies_at is not None and self.updates >= self._dies_at

    async def open(self) -> None:
        self.opened += 1

    async def close(self) -> None:
        self.closed += 1
        for follower in self._followers:
            follower.inbox.finish()
        self._followers.clear()

    async def clear(self) -> None:
        self._check()
        self.cleared += 1
        self._store.clear()
        self._tell()

    async def insert(self, triples: Iterable[Triple]) -> None:
        await self.update(insert_data(triples))

    async def update(self, text: str) -> None:
        self._check()
        self.updates += 1
        if self.dead:
            for follower in self._followers:
                follower.inbox.fail(self._death())
            raise self._death()
        self._store.update(text)
        self._tell()

    async def query(self, text: str) -> list[Row]:
        self._check()
        return _rows(self._store, text)

    async def subscribe(self, text: str) -> Listening:
        self._check()
        follower = _Follower(text, self._fault, self._numbered, self._followers.remove)
        self._followers.append(follower)
        self.notified += follower.tell(_rows(self._store, text))
        return follower.inbox

    async def components(self) -> dict[str, float]:
        """One millisecond for every update, and for every notification that was sent."""
        self._check()
        return {
            "T_UPDATE": float(self.updates),
            "T_LUTT": 0.0,
            "T_BOOSTER": 0.0,
            "T_NOTIFY": float(self.notified),
            "requests": float(self.updates),
        }

    async def memory(self) -> int | None:
        return None if self.dead else 1_000_000 + 100 * len(self._store)

    def _tell(self) -> None:
        for follower in self._followers:
            if self._old:
                follower.inbox.put(Arrival(perf_counter(), None, self._old, ()))
            self.notified += follower.tell(_rows(self._store, follower.text))

    def _check(self) -> None:
        if self.dead:
            raise self._death()

    def _death(self) -> TargetFailed:
        return TargetFailed(f"{self._description.name} has ended by signal SIGKILL", "the last words")


class _Follower:
    """A subscription: all that it should have been told, and what it was."""

    def __init__(self, text: str, fault: Fault, numbered: bool, ended: "Callable[[_Follower], None]") -> None:
        self.text = text
        self._fault = fault
        self._numbered = numbered
        self._ended = ended
        self._answer: Counter[Row] = Counter()
        self._history: list[tuple[tuple[Row, ...], tuple[Row, ...]]] = []
        self.inbox = Inbox(self._end)

    def tell(self, rows: list[Row]) -> int:
        answer = Counter(rows)
        added, removed = answer - self._answer, self._answer - answer
        if self._history and not added and not removed:
            return 0
        self._answer = answer
        number = len(self._history)
        self._history.append((tuple(added.elements()), tuple(removed.elements())))
        numbers = self._fault(number) if number else [0]
        for each in numbers:
            self.inbox.put(Arrival(perf_counter(), each if self._numbered else None, *self._history[each]))
        return len(numbers)

    async def _end(self) -> None:
        self._ended(self)


def _rows(store: ox.Store, text: str) -> list[Row]:
    """Sorted, so that every run tells the same."""
    answer = store.query(text)
    if isinstance(answer, ox.QueryBoolean):
        return [boolean_row(bool(answer))]
    rows = [tuple(None if cell is None else str(cell) for cell in row) for row in answer]
    return sorted(rows, key=lambda row: [cell or "" for cell in row])


def right(name: str = "right", *, numbered: bool = True) -> Double:
    return Double(name, numbered=numbered)


def losing(every: int = 3) -> Double:
    return Double(f"losing {every}", lambda number: [] if number % every == 0 else [number])


def duplicating(every: int = 3) -> Double:
    return Double(f"duplicating {every}", lambda number: [number] * (2 if number % every == 0 else 1))


def swapping(every: int = 3) -> Double:
    """`every` is at least 2. A last notification whose turn it is to be late never comes."""

    def fault(number: int) -> list[int]:
        if number % every == 0:
            return []
        return [number, number - 1] if number % every == 1 and number > 1 else [number]

    return Double(f"swapping {every}", fault)


def haunted() -> Double:
    return Double("haunted", old=(('"a value from before"',),))


def dying(at: int = 5) -> Double:
    return Double(f"dying {at}", dies_at=at)
