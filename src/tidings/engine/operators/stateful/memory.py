"""The memory of a stateful operator: one state for each member.

A fork can pack a state into portions of bytes, and the broker unpacks them, a portion at a time. A state means the same
in every plan of the same query, so a plan can take it over from another one.
"""

import marshal
import pickle
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, Generic, TypeVar

from tidings.sparql.evaluate.layout import Row

S = TypeVar("S")

PORTION = 250
"""Items in a portion: to take it up must not hold anybody up."""


def _leave(_: Any) -> None:
    """Nothing has to be done to a state that is whole."""


class Memory(Generic[S]):
    """States by member. `plain` items are rows and numbers; their terms are shared with the store again."""

    __slots__ = ("_complete", "_extend", "_items", "_new", "_plain", "states")

    def __init__(
        self,
        new: Callable[[], S],
        items: Callable[[S], Iterable[Any]],
        extend: Callable[[S, list[Any]], None],
        complete: Callable[[S], None] = _leave,
        *,
        plain: bool = True,
    ) -> None:
        self.states: dict[Row, S] = {}
        self._new = new
        self._items = items
        self._extend = extend
        self._complete = complete
        self._plain = plain

    def packed(self, member: Row) -> list[bytes]:
        """The state of a member, in portions."""
        items = iter(self._items(self.states[member]))
        dumps: Callable[[Any], bytes] = marshal.dumps if self._plain else pickle.dumps  # marshal keeps terms interned
        return [dumps(portion) for portion in iter(lambda: list(islice(items, PORTION)), [])]

    def begin(self, member: Row) -> None:
        """A member whose state comes in portions."""
        self.states[member] = self._new()

    def take(self, member: Row, portion: bytes) -> int:
        """The next portion, which was written by a copy of ourselves; how many items it had."""
        items: list[Any] = marshal.loads(portion) if self._plain else pickle.loads(portion)
        self._extend(self.states[member], items)
        return len(items)

    def complete(self, member: Row) -> None:
        """That was the last portion."""
        self._complete(self.states[member])

    def hand_over(self, member: Row, other: "Memory[S]") -> None:
        """Give another memory what this one knows of a member, unless it knows that itself."""
        state = self.states.pop(member)
        other.states.setdefault(member, state)


def counts() -> Memory[dict[Row, int]]:
    """The memory of whoever counts rows."""
    return Memory(dict, dict.items, dict.update)
