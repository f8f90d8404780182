"""Commits as text: JSON lines, as in the log itself, for Spark; RDF Patch for stores that keep a copy."""

from collections.abc import Callable, Iterator
from enum import Enum

import orjson

from tidings.gates.instants import shown
from tidings.model.formats.media import Media
from tidings.model.terms import XSD, Quad
from tidings.model.zset import ZSet

Text = Callable[[int, int, ZSet[Quad]], Iterator[bytes]]
"""Writes a commit: its number, its time and its delta."""


def json_lines(sequence: int, time: int, delta: ZSet[Quad]) -> Iterator[bytes]:
    """One line for each change; `left` lines of the commit follow, so that its end can be told."""
    dumps, newline = orjson.dumps, orjson.OPT_APPEND_NEWLINE
    left = len(delta)
    for (s, p, o, g), weight in delta.items():
        op = "add" if weight > 0 else "remove"
        left -= 1
        line = {"seq": sequence, "time": time, "op": op, "s": s, "p": p, "o": o, "g": g, "left": left}
        yield dumps(line, option=newline)


def rdf_patch(sequence: int, time: int, delta: ZSet[Quad]) -> Iterator[bytes]:
    """One patch for each commit, in the text form of RDF Patch."""
    yield f"H id <urn:tidings:commit:{sequence}> .\n".encode()
    if sequence > 1:
        yield f"H prev <urn:tidings:commit:{sequence - 1}> .\n".encode()
    yield f'H time "{shown(time)}"^^<{XSD}dateTime> .\nTX .\n'.encode()
    for quad, weight in delta.items():
        yield f"{'A' if weight > 0 else 'D'} {' '.join(filter(None, quad))} .\n".encode()
    yield b"TC .\n"


class FeedFormat(Enum):
    """The ways in which commits are written."""

    JSON_LINES = Media(
        "jsonl", ("application/x-ndjson", "application/jsonl", "application/json"), ("jsonl",), ("ndjson", "json")
    )
    RDF_PATCH = Media("patch", ("text/rdf-patch", "application/rdf-patch"), ("rdfp",), ("rdf-patch",))

    @property
    def media(self) -> Media:
        return self.value

    @property
    def text(self) -> Text:
        return json_lines if self is FeedFormat.JSON_LINES else rdf_patch

    @property
    def heartbeat(self) -> bytes:
        """What readers of the format skip."""
        return b"\n" if self is FeedFormat.JSON_LINES else b"#\n"
