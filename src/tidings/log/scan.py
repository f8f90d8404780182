"""Reads one segment from a place on, entry by entry, and tells why it stopped.

What a crash may leave at the end of the last segment is *torn*, and may be cut off: a part of a line or of an entry, a
line of garbage with no complete line behind it, or sectors of zeros where the file grew but its bytes were not written.
Everything else is damage, which cannot come from a crash.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn
from zlib import crc32

import msgspec

from tidings.log.entry import Position
from tidings.log.errors import LogDamaged
from tidings.log.layout import segment_path
from tidings.log.lines import SEAL, is_sealed, seed, stated
from tidings.protocol.entries import Entry
from tidings.protocol.entry_lines import ForeignLine, IncompleteEntry, Line, assemble, read_line

CHUNK = 1 << 20
SECTOR = 512
_ZEROS = re.compile(rb"\0+")
_LINE_END = re.compile(rb'\n|(?<="\}).(?=\{"seq":)', re.DOTALL)  # also one that was altered


class Flaw(msgspec.Struct, frozen=True):
    """What is wrong behind the last sound entry."""

    offset: int
    """The beginning of the line with the flaw."""
    what: str
    torn: bool
    """Whether a crash can have caused it, if this is the last segment."""
    behind: bool = False
    """Whether complete lines follow it."""


class _Wrong(Exception):
    """A line with the right checksum that cannot follow the line before it."""


class Scan:
    """The entries of a segment; iterate once. Then `place` is the end of the last, and `flaw` what stopped the scan."""

    def __init__(self, folder: Path, place: Position) -> None:
        self.folder = folder
        self.path = segment_path(folder, place.segment)
        self._end = place.commit, place.time, place.segment, place.offset, place.crc, place.opened
        self._line = place.offset, place.offset, place.crc
        self.flaw: Flaw | None = None

    def __iter__(self) -> Iterator[Entry]:
        try:
            with self.path.open("rb", buffering=0) as file:
                yield from self._entries(file.fileno())
        except FileNotFoundError:
            raise
        except OSError as error:
            raise LogDamaged(self.folder, self.path, f"it cannot be read: {error.strerror}") from error

    def _entries(self, file: int) -> Iterator[Entry]:
        begun = self.place
        commit, time = begun.commit, begun.time
        opened = begun.opened if begun.offset else None
        try:
            for entry in assemble(self._lines(file, begun.offset, begun.crc)):
                if entry.commit != commit + bool(entry.delta) or entry.time < time:
                    _refuse(f"commit {entry.commit} at {entry.time} follows commit {commit} at {time}")
                commit, time = entry.commit, entry.time
                if opened is None:
                    opened = time
                _, offset, crc = self._line
                self._end = commit, time, begun.segment, offset, crc, opened
                yield entry
        except (_Wrong, ForeignLine, KeyError, msgspec.DecodeError, UnicodeDecodeError) as error:
            self.flaw = Flaw(self._line[0], f"not a line of the log: {error}", torn=False)
        except IncompleteEntry:
            if self.flaw is None:
                self.flaw = Flaw(self._line[1], "an incomplete entry", torn=True)

    def _lines(self, file: int, offset: int, crc: int) -> Iterator[Line]:
        """The lines with right checksums. `_line` has the beginning, the end and the checksum of the last one."""
        rest = b""
        while chunk := os.pread(file, CHUNK, offset + len(rest)):
            texts = (rest + chunk).split(b"\n")
            rest = texts.pop()
            for text in texts:
                chained = crc32(text[:-SEAL], crc)
                if text[-SEAL:] != b',"crc":"%08x"}' % chained:
                    self.flaw = _flaw(file, offset, crc)
                    return
                crc = chained
                begin, offset = offset, offset + len(text) + 1
                self._line = begin, offset, crc
                yield read_line(text)
        if rest:
            self.flaw = Flaw(offset, "an incomplete line", torn=True)

    @property
    def place(self) -> Position:
        return Position(*self._end)

    def damaged(self) -> LogDamaged:
        """The flaw as an error."""
        assert self.flaw
        with self.path.open("rb") as file:
            line = file.read(self.flaw.offset).count(b"\n") + 1
        return LogDamaged(self.folder, self.path, self.flaw.what, line=line)


def beginning(first: int, time: int = 0) -> Position:
    """The place before the first entry of a segment."""
    return Position(commit=first - 1, time=time, segment=first, crc=seed(first))


def _refuse(what: str) -> NoReturn:
    raise _Wrong(what)


def _flaw(file: int, offset: int, crc: int) -> Flaw:
    """Judge a line with a wrong checksum by its content and by what follows it."""
    size = os.fstat(file).st_size
    # If a broker is writing the segment, the rest may have changed since it was read: then a reader scans again.
    texts = _LINE_END.split(b"".join(_pieces(file, offset, size)))
    behind = _any_whole(texts, crc)
    if _is_hole(texts[0], offset, size):
        return Flaw(offset, "zeros where lines should be", torn=True, behind=behind)
    return Flaw(offset, "the checksum is wrong", torn=not behind, behind=behind)


def _pieces(file: int, offset: int, size: int) -> Iterator[bytes]:
    while offset < size and (piece := os.pread(file, CHUNK, offset)):
        yield piece
        offset += len(piece)


def _any_whole(texts: list[bytes], crc: int) -> bool:
    """Whether lines follow the first, and one is sealed by what the line before it states or should have stated."""
    if len(texts) > 1 and is_sealed(texts[0], crc):
        return True  # only the end of the line was altered
    before: set[int | None] = {crc32(texts[0][:-SEAL], crc)}
    for text, former in zip(texts[1:], texts, strict=False):
        before.add(stated(former))
        if any(is_sealed(text, known) for known in before if known is not None):
            return True
        before = set()
    return False


def _is_hole(text: bytes, offset: int, size: int) -> bool:
    """Whether a line has zeros from its start, or a sector's, to the end of a sector or of the file: blocks that were
    never written."""
    for run in _ZEROS.finditer(text):
        start, end = offset + run.start(), offset + run.end()
        if (start == offset or start % SECTOR == 0) and (end % SECTOR == 0 or end == size):
            return True
    return False
