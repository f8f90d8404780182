"""A place in the log, which is a sequence of entries; these are the protocol's, and have their name here as well."""

import msgspec

from tidings.protocol.entries import PUBLISHER, Entry, Note, published_by

__all__ = ["PUBLISHER", "START", "Entry", "Note", "Place", "published_by"]


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
