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
"""The items in a portion. Unpacking one must not delay anything else on the event loop."""


def _leave(_: Any) -> None:
    """For states that need no completion."""


class Memory(Generic[S]):
    """States by member. `plain` items consist of rows and numbers: after unpacking, they share their terms with the
    store."""

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
        """Add a member with an empty state, which `take` fills portion by portion."""
        self.states[member] = self._new()

    def take(self, member: Row, portion: bytes) -> int:
        """Unpack the next portion, which a fork of this process has packed. Returns the number of its items."""
        items: list[Any] = marshal.loads(portion) if self._plain else pickle.loads(portion)
        self._extend(self.states[member], items)
        return len(items)

    def complete(self, member: Row) -> None:
        """Called after the last portion."""
        self._complete(self.states[member])

    def hand_over(self, member: Row, other: "Memory[S]") -> None:
        """Move the state of a member to another memory, unless that one has it already."""
        state = self.states.pop(member)
        other.states.setdefault(member, state)


def counts() -> Memory[dict[Row, int]]:
    """A memory whose states are counts of rows."""
    return Memory(dict, dict.items, dict.update)
