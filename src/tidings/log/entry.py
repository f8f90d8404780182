"""Places in the log. The log is a sequence of the protocol's entries, which this module re-exports."""

import msgspec

from tidings.protocol.entries import PUBLISHER, Entry, Note, published_by

__all__ = ["PUBLISHER", "START", "Entry", "Note", "Position", "published_by"]


class Position(msgspec.Struct, frozen=True):
    """A place between two entries: the end of one, and the beginning of the next."""

    commit: int = msgspec.field(default=0, name="seq")
    """The last commit before this place."""
    time: int = 0
    segment: int = 0
    """The first commit of the segment, which is its name; 0 if there is no segment yet."""
    offset: int = 0
    crc: int = 0
    """The checksum of the line that ends here, on which that of the next line depends."""
    opened: int = 0
    """The time of the segment's first entry, for the age of the segment."""


START = Position()
