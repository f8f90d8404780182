"""Lines of the log: those of `protocol/entry_lines.py`, each sealed by a checksum.

    {"seq":7,"time":1794732833718878,"op":"add","s":"<…>","p":"<…>","o":"\\"100\\"","g":"","left":0,"crc":"9f3a01c2"}
    {"seq":7,"time":1794732833718878,"op":"subscribed","note":{…},"left":0,"crc":"1b0c77e5"}

The checksum chains the lines of a segment, so that a line that is altered, removed, moved or inserted is detected:

    crc(n) = crc32(line n up to its crc member, crc(n - 1))      crc(0) = crc32(the segment's name)
"""

from collections.abc import Iterable
from itertools import chain
from zlib import crc32

from tidings.protocol.entries import Entry
from tidings.protocol.entry_lines import change_lines, note_lines

SEAL = len(',"crc":"00000000"}')
"""How many bytes the checksum takes at the end of a line."""


def seed(first: int) -> int:
    """The checksum before the first line of a segment: that of its name, so that a renamed segment is detected."""
    return crc32(b"%020d" % first)


def encode(entry: Entry, crc: int) -> tuple[bytes, int]:
    """The lines of an entry that follows a line of this checksum, and the checksum of the last of them."""
    lines = []
    for line in _unsealed(entry):
        body = line[:-1]
        crc = crc32(body, crc)
        lines.append(b'%b,"crc":"%08x"}\n' % (body, crc))
    return b"".join(lines), crc


def _unsealed(entry: Entry) -> Iterable[bytes]:
    """The lines of an entry, without checksums. If its only note is the publisher, each change names it instead."""
    notes = entry.notes
    if not notes:
        return change_lines(entry)
    if len(notes) == 1 and entry.delta and (publisher := entry.publisher) is not None:
        return change_lines(entry, publisher=publisher)
    return chain(change_lines(entry, len(notes)), note_lines(entry))


def sealed(body: bytes, crc: int = 0) -> bytes:
    """A JSON object with its checksum as the last member."""
    return b'%b,"crc":"%08x"}\n' % (body[:-1], crc32(body[:-1], crc))


def is_sealed(line: bytes, crc: int = 0) -> bool:
    """Whether a line, without its end, has the right checksum after a line with this checksum."""
    return len(line) > SEAL and line.endswith(b',"crc":"%08x"}' % crc32(line[:-SEAL], crc))


def stated(line: bytes) -> int | None:
    """The checksum that a line claims to have."""
    try:
        return int(line[-10:-2], 16)
    except ValueError:
        return None
