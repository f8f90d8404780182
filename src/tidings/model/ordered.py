"""An ordered multiset: its least item, its greatest, and those from one number to another, each at once.

It is a list of short sorted lists. To add an item moves a part of one of them, where one long list would have to move
half of everything; to count up to a number looks at their lengths.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_SHORT = 1024
"""Items of each list after a split, or when it is built. A list with twice as many is split."""


class Ordered(Generic[T]):
    """Items that can be compared with each other. Equal items are all kept."""

    __slots__ = ("_lists", "_size", "_tops")

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._lists: list[list[T]] = []
        self._tops: list[Any] = []
        """The last item of each list."""
        self._size = 0
        everything: list[Any] = sorted(items)
        self.extend(everything)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[T]:
        for each in self._lists:
            yield from each

    def backwards(self) -> Iterator[T]:
        for each in reversed(self._lists):
            yield from reversed(each)

    def extend(self, items: list[T]) -> None:
        """Add items that are in order, and not before any that are here."""
        for start in range(0, len(items), _SHORT):
            part = items[start : start + _SHORT]
            self._lists.append(part)
            self._tops.append(part[-1])
        self._size += len(items)

    def first(self) -> T:
        return self._lists[0][0]

    def last(self) -> T:
        return self._lists[-1][-1]

    def add(self, item: T) -> None:
        self._size += 1
        if not self._lists:
            self._lists.append([item])
            self._tops.append(item)
            return
        at = min(bisect_left(self._tops, item), len(self._lists) - 1)
        found: list[Any] = self._lists[at]
        insort(found, item)
        if len(found) > 2 * _SHORT:
            self._lists.insert(at + 1, found[_SHORT:])
            self._tops.insert(at + 1, found[-1])
            del found[_SHORT:]
        self._tops[at] = found[-1]

    def remove(self, item: T) -> None:
        """Take away an item that is here, once."""
        at = bisect_left(self._tops, item)
        found: list[Any] = self._lists[at]
        place = bisect_left(found, item)
        if found[place] != item:
            raise KeyError(item)
        self._size -= 1
        del found[place]
        if found:
            self._tops[at] = found[-1]
        else:
            del self._lists[at], self._tops[at]

    def index(self, item: T) -> int:
        """How many items are before this one, which is here."""
        at = bisect_left(self._tops, item)
        found: list[Any] = self._lists[at]
        return sum(map(len, self._lists[:at])) + bisect_left(found, item)

    def at(self, number: int) -> T:
        """The item that so many others are before."""
        return next(self.between(number, number + 1))

    def from_to(self, low: T | None, high: T | None) -> Iterator[T]:
        """The items that are neither less than one nor greater than another; as far as there are items, if that is
        None."""
        least: Any = low
        most: Any = high
        for at in range(0 if low is None else bisect_left(self._tops, least), len(self._lists)):
            found: list[Any] = self._lists[at]
            start = 0 if low is None else bisect_left(found, least)
            yield from found[start : None if high is None else bisect_right(found, most)]
            if high is not None and found[-1] > most:
                return

    def within(self, has_begun: Callable[[T], bool], is_over: Callable[[T], bool]) -> Iterator[T]:
        """The items from the first for which something holds to before the first for which something else does. Each
        has to hold for all items behind one for which it holds."""
        for at in range(bisect_left(self._tops, True, key=has_begun), len(self._lists)):
            found: list[Any] = self._lists[at]
            stop = bisect_left(found, True, key=is_over)
            yield from found[bisect_left(found, True, key=has_begun) : stop]
            if stop < len(found):
                return

    def between(self, start: int, stop: int | None) -> Iterator[T]:
        """The items from one number to before another."""
        left = None if stop is None else stop - start
        for each in self._lists:
            if start >= len(each):
                start -= len(each)
                continue
            found = each[start:] if left is None else each[start : start + left]
            yield from found
            start = 0
            if left is not None:
                left -= len(found)
                if left <= 0:
                    return
