"""What the log is a sequence of, and the feed of commits as well.

An entry with a delta is a commit, and has the number after that of the commit before it. An entry of notes only has
the number of the last commit (0 before the first). Times are microseconds since 1970 and never go backwards.
"""

from typing import Any

import msgspec

from tidings.model.access import Graphs
from tidings.model.terms import Quad
from tidings.model.zset import ZSet

PUBLISHER = "publisher"


class Note(msgspec.Struct, frozen=True):
    """A durable fact of the broker that is no quad: a subscription, a delayed update, who published a commit."""

    kind: str
    content: dict[str, Any]


class Entry(msgspec.Struct, frozen=True):
    """What becomes durable at once: whole, or not there."""

    commit: int
    time: int
    delta: ZSet[Quad]
    notes: tuple[Note, ...] = ()

    def seen_by(self, readable: Graphs) -> "Entry":
        """The same commit to one who may read these graphs: it has its number, and none of the other quads.

        Who published it is nobody's business who sees nothing of it."""
        if readable.everything:
            return self
        delta = within(self.delta, readable)
        return Entry(self.commit, self.time, delta, self.notes if delta else ())

    @property
    def publisher(self) -> str | None:
        """Who published the commit, if that was said."""
        for note in self.notes:
            if note.kind == PUBLISHER:
                name: str = note.content["name"]
                return name
        return None


def within(delta: ZSet[Quad], graphs: Graphs) -> ZSet[Quad]:
    """What of a delta is in these graphs."""
    return ZSet.owning({quad: weight for quad, weight in delta.items() if graphs.has(quad[3])})


def published_by(name: str) -> Note:
    """For the entry of a commit: who published it. It is history, and no part of a snapshot."""
    return Note(PUBLISHER, {"name": name})
