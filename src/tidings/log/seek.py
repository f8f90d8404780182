"""Finds the end of a commit in a segment by bisection, to read the last entries of a large segment quickly.

Commit numbers never decrease along a segment. The line before the place states its checksum, so everything after it is
checked, and everything before it is not. (The last 10 entries of 64 MiB: 0.3 ms, instead of 0.4 s from the start.)
"""

import os
import re
from pathlib import Path

from tidings.log.entry import Position
from tidings.log.layout import segment_path
from tidings.log.lines import stated
from tidings.log.scan import beginning

WINDOW = 1 << 16
_HEAD = re.compile(rb'\{"seq":(\d{1,19}),"time":(\d{1,19}),')
_HEAD_BYTES = 64
_CLOSES = re.compile(rb'"left":0,"crc":"[0-9a-f]{8}"\}$')


def seek(folder: Path, first: int, after: int, *, window: int = WINDOW) -> Position:
    """A place in a segment with no entry after commit `after` before it; its beginning if no better place is found."""
    start = beginning(first)
    try:
        with segment_path(folder, first).open("rb", buffering=0) as file:
            return _walk(file.fileno(), _bisect(file.fileno(), after, window), after, start, window)
    except OSError:
        return start  # reading from there reports the damage


def _bisect(file: int, after: int, window: int) -> int:
    """The start of a line with a commit up to `after`, less than about a window before the first later commit."""
    low, high = 0, os.fstat(file).st_size
    while high - low > window:
        middle = (low + high) // 2
        line = _line_start(file, middle, high, window)
        head = _HEAD.match(os.pread(file, _HEAD_BYTES, line)) if line is not None else None
        if line is not None and head and int(head[1]) <= after:
            low = line
        else:
            high = middle
    return low


def _line_start(file: int, offset: int, end: int, window: int) -> int | None:
    """The beginning of the first line that begins after this byte; None if there is none before the end."""
    while offset < end and (piece := os.pread(file, window, offset)):
        found = piece.find(b"\n")
        if found >= 0:
            return offset + found + 1
        offset += len(piece)
    return None


def _walk(file: int, offset: int, after: int, place: Position, window: int) -> Position:
    """The end of the last complete entry up to commit `after`, from a line of such an entry on."""
    rest = b""
    while piece := os.pread(file, window, offset + len(rest)):
        *texts, rest = (rest + piece).split(b"\n")
        for text in texts:
            head, crc = _HEAD.match(text), stated(text)
            if not head or crc is None or int(head[1]) > after:
                return place
            offset += len(text) + 1
            if _CLOSES.search(text[-_HEAD_BYTES:]):
                place = Position(int(head[1]), int(head[2]), place.segment, offset, crc)
    return place
