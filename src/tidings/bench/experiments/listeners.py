"""The subscribers of a test: they record their notifications with times, and a tally compares them with the expected
ones."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from tidings.bench.targets import Arrival, Listening, Target


@dataclass(slots=True)
class Listener:
    """One subscriber. `marks` are its notifications after the first answer: the mark of each, and its time."""

    listening: Listening
    marks: list[tuple[str, float]] = field(default_factory=list)
    first: asyncio.Event = field(default_factory=asyncio.Event)
    _task: "asyncio.Task[None] | None" = None
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    told: int = 0

    def start(self, mark: Callable[[Arrival], str | None]) -> None:
        """Start to record. `mark` returns the mark of a notification; None if it does not count."""
        self._task = asyncio.create_task(self._listen(mark))

    async def _listen(self, mark: Callable[[Arrival], str | None]) -> None:
        async for arrival in self.listening:
            self.told += 1
            if not self.first.is_set():
                self.first.set()
                continue
            found = mark(arrival)
            if found is not None:
                self.marks.append((found, arrival.at))
            self._news.set()

    async def heard(self, mark: str, seconds: float) -> float | None:
        """When the notification with a mark came; None if it does not come within so many seconds."""
        found = await self._found(lambda told: told == mark, seconds)
        return None if found is None else found[1]

    async def anything_but(self, known: set[str], seconds: float) -> tuple[str, float] | None:
        """The next mark that is not among the known ones, with its time; None if none comes within so many seconds."""
        return await self._found(lambda told: told not in known, seconds)

    async def _found(self, wanted: Callable[[str], bool], seconds: float) -> tuple[str, float] | None:
        try:
            async with asyncio.timeout(seconds):
                while True:
                    for told in reversed(self.marks):
                        if wanted(told[0]):
                            return told
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            return None

    async def end(self) -> None:
        await self.listening.end()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


async def listen(target: Target, query: str, mark: Callable[[Arrival], str | None], seconds: float) -> Listener:
    """Subscribe, and wait for the first answer. Raises TimeoutError."""
    listener = Listener(await target.subscribe(query))
    listener.start(mark)
    async with asyncio.timeout(seconds):
        await listener.first.wait()
    return listener


def added_value(arrival: Arrival) -> str | None:
    """The last cell of the last added row, which is the value that an update has written."""
    cells = [cell for row in arrival.added for cell in row[-1:] if cell is not None]
    return cells[-1] if cells else None


def added_text(arrival: Arrival) -> str | None:
    """The same without quotes, if it is a literal."""
    value = added_value(arrival)
    return value.split('"')[1] if value is not None and value[0] == '"' else value


@dataclass(frozen=True, slots=True)
class Tally:
    """How many notifications were expected, and how many were received, lost, duplicate, out of order, or stale."""

    expected: int
    received: int
    lost: int
    duplicates: int
    disordered: int
    stale: int
    """Notifications that do not belong to this test, such as values from before its beginning."""

    def values(self) -> dict[str, float]:
        return {
            "expected": self.expected,
            "received": self.received,
            "lost": self.lost,
            "duplicates": self.duplicates,
            "disordered": self.disordered,
            "stale": self.stale,
            "loss_ratio": self.lost / self.expected if self.expected else 0.0,
        }


def tally(pairs: list[tuple[list[str], list[str]]]) -> Tally:
    """The tally of pairs, one for each subscriber: the expected marks in order, and the received ones."""
    lost = duplicates = disordered = received = expected = stale = 0
    for wanted, got in pairs:
        places = {mark: place for place, mark in enumerate(wanted)}
        seen: set[str] = set()
        last = -1
        expected += len(wanted)
        for mark in got:
            place = places.get(mark)
            if place is None:
                stale += 1
                continue
            if mark in seen:
                duplicates += 1
                continue
            seen.add(mark)
            received += 1
            disordered += place < last
            last = max(last, place)
        lost += len(wanted) - len(seen)
    return Tally(expected, received, lost, duplicates, disordered, stale)
