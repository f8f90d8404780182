"""Entries as lines, in the log and in the feed of commits: flat JSON objects that Spark reads as they are.

    {"seq":7,"time":1794732833718878,"op":"add","s":"<…>","p":"<…>","o":"\\"100\\"","g":"","left":0}
    {"seq":7,"time":1794732833718878,"op":"subscribed","note":{…},"left":0}

    {"seq":8,"time":1794732833718901,"op":"none","left":0}

`left` is how many more lines the entry has, so that a reader knows its end. The log adds a checksum to each line. The
feed has no notes; each of its lines has a member `by` with the publisher, if known. A feed of some graphs has a line of
the last kind for a commit that changed nothing in them, so that no number is missing.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import orjson

from tidings.model.terms import Quad, intern
from tidings.model.zset import ZSet
from tidings.protocol.entries import Entry, Note, published_by

WEIGHTS = {"add": 1, "remove": -1}
NONE = "none"
"""The operation of the line for a commit without a change that the reader may see."""
_OPS = {1: "add", -1: "remove"}  # a quad is there or not: it cannot change by more


class Line(msgspec.Struct, gc=False, rename={"commit": "seq"}):
    """A line that was read: a change has terms, a note has content."""

    commit: int
    time: int
    op: str
    left: int
    s: str = ""
    p: str = ""
    o: str = ""
    g: str = ""
    note: dict[str, Any] | None = None
    by: str | None = None


read_line = msgspec.json.Decoder(Line).decode


class IncompleteLine(ValueError):
    """The rest of a line is missing."""


class IncompleteEntry(ValueError):
    """Lines of an entry are missing."""

    def __init__(self, commit: int, left: int) -> None:
        super().__init__(f"commit {commit} comes without its last {left} changes")
        self.commit = commit
        self.left = left


class ForeignLine(IncompleteEntry):
    """A line of another entry follows, where lines of this one should be."""

    def __str__(self) -> str:
        return "it belongs to another entry than the lines before it"


# -- writing ----------------------------------------------------------------------------------------------------


def change_lines(entry: Entry, notes: int = 0, publisher: str | None = None, option: int = 0) -> Iterator[bytes]:
    """A line for each change. `notes` lines of notes will follow. `option` is for orjson."""
    dumps = orjson.dumps
    commit, time = entry.commit, entry.time
    left = len(entry.delta) + notes
    for (s, p, o, g), weight in entry.delta.items():
        left -= 1
        op = _OPS[weight]
        # The whole object in one call: 1.1 µs a line, and 1.3 if only the terms go through orjson.
        if publisher is None:
            line = {"seq": commit, "time": time, "op": op, "s": s, "p": p, "o": o, "g": g, "left": left}
        else:
            by = publisher
            line = {"seq": commit, "time": time, "op": op, "s": s, "p": p, "o": o, "g": g, "by": by, "left": left}
        yield dumps(line, None, option)


def empty_line(entry: Entry) -> bytes:
    """The line for a commit of which the reader may see nothing."""
    return orjson.dumps(
        {"seq": entry.commit, "time": entry.time, "op": NONE, "left": 0}, None, orjson.OPT_APPEND_NEWLINE
    )


def note_lines(entry: Entry) -> Iterator[bytes]:
    """A line for each note, the last lines of an entry."""
    left = len(entry.notes)
    for note in entry.notes:
        if note.kind in WEIGHTS:
            raise ValueError(f"a note cannot be of the kind {note.kind!r}, which is a change")
        left -= 1
        line = {"seq": entry.commit, "time": entry.time, "op": note.kind, "note": note.content, "left": left}
        yield orjson.dumps(line)


# -- reading ----------------------------------------------------------------------------------------------------


def assemble(lines: Iterable[Line]) -> Iterator[Entry]:
    """Assembles entries from their lines. It yields an entry before it reads a line behind it.

    Raises IncompleteEntry, ForeignLine; KeyError where a line is neither a change nor a note."""
    former: Line | None = None  # of the same entry
    delta: dict[Quad, int] = {}
    notes: list[Note] = []
    for line in lines:
        if former is not None and (
            line.left != former.left - 1 or line.commit != former.commit or line.time != former.time
        ):
            raise ForeignLine(former.commit, former.left)
        if line.note is None and line.op != NONE:
            delta[intern(line.s), intern(line.p), intern(line.o), intern(line.g)] = WEIGHTS[line.op]
        elif line.note is not None:
            notes.append(Note(line.op, line.note))
        if line.left:
            former = line
            continue
        if line.by is not None:
            notes.append(published_by(line.by))
        yield Entry(line.commit, line.time, ZSet.owning(delta), tuple(notes))
        former, delta = None, {}
        if notes:
            notes = []
    if former is not None:
        raise IncompleteEntry(former.commit, former.left)


def split_lines(pieces: Iterable[bytes]) -> Iterator[Line]:
    """The lines of a feed that comes in pieces, without its heartbeats. Raises IncompleteLine, msgspec.DecodeError."""
    rest = b""
    for piece in pieces:
        *texts, rest = (rest + piece).split(b"\n")
        for text in texts:
            if text:
                yield read_line(text)
    if rest:
        raise IncompleteLine("the feed broke off within a line")


def read_feed(pieces: Iterable[bytes]) -> Iterator[Entry]:
    """The commits of a feed in JSON lines, as `GET /log` sends it in pieces. A commit that changed only graphs outside
    the feed has an empty delta.

    Raises IncompleteEntry, IncompleteLine, msgspec.DecodeError; KeyError where a line is no change."""
    return assemble(split_lines(pieces))
