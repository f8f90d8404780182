"""What the log is a sequence of, and a place in that sequence.

An entry with a delta is a commit, and has the number after that of the commit before it. An entry of notes only has
the number of the last commit (0 before the first). Times are microseconds since 1970 and never go backwards.
"""

from typing import Any

import msgspec

from tidings.model.terms import Quad
from tidings.model.zset import ZSet

_PUBLISHER = "publisher"


class Note(msgspec.Struct, frozen=True):
    """A durable fact of the broker that is no quad: a subscription, a delayed update, who published a commit."""

    kind: str
    content: dict[str, Any]


class Entry(msgspec.Struct, frozen=True):
    """What becomes durable at once: whole, or not there."""

    commit: int
    """Its number, or that of the last commit before."""
    time: int
    delta: ZSet[Quad]
    notes: tuple[Note, ...] = ()

    @property
    def publisher(self) -> str | None:
        """Who published the commit, if that was said."""
        return next((note.content["name"] for note in self.notes if note.kind == _PUBLISHER), None)


class Place(msgspec.Struct, frozen=True):
    """A place between two entries: the end of one, where the next is written."""

    commit: int = msgspec.field(default=0, name="seq")
    """The last commit before this place."""
    time: int = 0
    segment: int = 0
    """The first commit of the segment, which names it; 0 where there is none yet."""
    offset: int = 0
    crc: int = 0
    """Of the line that ends here: what the next line's is chained to."""
    opened: int = 0
    """The time of the segment's first entry, by which it grows old."""


START = Place()


def published_by(name: str) -> Note:
    """For the entry of a commit: who published it. It is history, and no part of a snapshot."""
    return Note(_PUBLISHER, {"name": name})
