"""Writes commits as text: JSON lines, as in the log, for Spark; RDF Patch for stores that keep a copy of the graph."""

from collections.abc import Callable, Iterator
from enum import Enum

import orjson

from tidings.model.formats.media import Media
from tidings.model.terms import XSD, literal
from tidings.protocol.entries import Entry
from tidings.protocol.entry_lines import change_lines, empty_line
from tidings.protocol.instants import shown

Text = Callable[[Entry], Iterator[bytes]]
"""Writes a commit."""


def json_lines(commit: Entry) -> Iterator[bytes]:
    """One line for each change; a line without a change for a commit of which the reader may see nothing."""
    if not commit.delta:
        return iter((empty_line(commit),))
    return change_lines(commit, publisher=commit.publisher, option=orjson.OPT_APPEND_NEWLINE)


def rdf_patch(commit: Entry) -> Iterator[bytes]:
    """One patch for each commit, in the text form of RDF Patch."""
    sequence, publisher = commit.commit, commit.publisher
    yield f"H id <urn:tidings:commit:{sequence}> .\n".encode()
    if sequence > 1:
        yield f"H prev <urn:tidings:commit:{sequence - 1}> .\n".encode()
    yield f'H time "{shown(commit.time)}"^^<{XSD}dateTime> .\n'.encode()
    if publisher is not None:
        yield f"H by {literal(publisher)} .\n".encode()
    yield b"TX .\n"
    for quad, weight in commit.delta.items():
        yield f"{'A' if weight > 0 else 'D'} {' '.join(filter(None, quad))} .\n".encode()
    yield b"TC .\n"


class FeedFormat(Enum):
    """The formats of the feed."""

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
        """Bytes that readers of the format skip."""
        return b"\n" if self is FeedFormat.JSON_LINES else b"#\n"
