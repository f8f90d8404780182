"""Entries: the elements of the log, and of the feed of commits.

An entry with a delta is a commit; its number is one more than that of the commit before it. An entry with only notes
has the number of the last commit (0 before the first). Times are microseconds since 1970, and never go backwards.
"""

from typing import Any

import msgspec

from tidings.model.access import Graphs
from tidings.model.terms import Quad
from tidings.model.zset import ZSet

PUBLISHER = "publisher"


class Note(msgspec.Struct, frozen=True):
    """A durable fact that is no quad: a subscription, a delayed update, the publisher of a commit."""

    kind: str
    content: dict[str, Any]


class Entry(msgspec.Struct, frozen=True):
    """The unit of durability: after a crash, the log has the whole entry or nothing of it."""

    commit: int
    time: int
    delta: ZSet[Quad]
    notes: tuple[Note, ...] = ()

    def seen_by(self, readable: Graphs) -> "Entry":
        """The commit for a reader of these graphs: with its number, and without the quads of other graphs.

        A reader who may see none of its quads does not learn the publisher either."""
        if readable.everything:
            return self
        delta = within(self.delta, readable)
        return Entry(self.commit, self.time, delta, self.notes if delta else ())

    @property
    def publisher(self) -> str | None:
        """The publisher of the commit, if known."""
        for note in self.notes:
            if note.kind == PUBLISHER:
                name: str = note.content["name"]
                return name
        return None


def within(delta: ZSet[Quad], graphs: Graphs) -> ZSet[Quad]:
    """The part of a delta that is in these graphs."""
    return ZSet.owning({quad: weight for quad, weight in delta.items() if graphs.has(quad[3])})


def published_by(name: str) -> Note:
    """A note for the entry of a commit that names its publisher. Snapshots do not have such notes."""
    return Note(PUBLISHER, {"name": name})
