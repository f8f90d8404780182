"""Loads files into a store, and shows progress: a bar for large files, else one line."""

import os
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tidings.cli.input.arguments import UsageError, pair
from tidings.engine.store.store import Store
from tidings.model.errors import RdfSyntaxError
from tidings.model.formats.blanks import BlankScope
from tidings.model.formats.grammar import ABSOLUTE_IRI
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.model.formats.streams import Readable
from tidings.model.iris import DEFAULT_BASE
from tidings.model.terms import DEFAULT_GRAPH, Quad, Term, iri
from tidings.server.files import FileTrouble, open_to_read, rdf_format, unpacked

LARGE = 4 << 20
"""Bytes of a file from which on a progress bar is shown."""
_BETWEEN_LOOKS = 5000


@dataclass(frozen=True, slots=True)
class Document:
    """A file to read: its name (`-` is stdin), its format, and the graph of statements without a graph."""

    name: str
    format: RdfFormat
    graph: Term = DEFAULT_GRAPH

    @property
    def shown(self) -> str:
        return "stdin" if self.name == "-" else self.name


def documents(arguments: Namespace) -> list[Document]:
    """The documents that the options name. It checks that all of them can be opened before any is read."""
    given = arguments.data_format
    found = [_document(name, given) for name in arguments.data]
    for text in arguments.graph_data:
        graph, name = pair(text)
        found.append(_document(name, given, absolute(graph)))
    return found


def _document(name: str, given: str | None, graph: Term = DEFAULT_GRAPH) -> Document:
    if name == "-" and not given:
        raise UsageError("stdin has no name to tell its format: give --data-format")
    if name != "-" and not os.access(name, os.R_OK):
        open_to_read(Path(name)).close()
    return Document(name, rdf_format(name, given), graph)


def absolute(text: str) -> Term:
    """An IRI of the command line as a term."""
    if not ABSOLUTE_IRI.fullmatch(text):
        raise UsageError(f"{text!r} is not an absolute IRI")
    return iri(text)


def base_of(arguments: Namespace) -> str:
    return DEFAULT_BASE if arguments.base is None else absolute(arguments.base)[1:-1]


def load(store: Store, arguments: Namespace) -> None:
    """Read all documents of the data options into the store."""
    base = base_of(arguments)
    for document in documents(arguments):
        add = store.add
        for s, p, o, g in read(document, base, quiet=arguments.quiet):
            add(s, p, o, g)


def read(
    document: Document, base: str, *, quiet: bool, blanks: BlankScope | None = None, verb: str = "loaded"
) -> Iterator[Quad]:
    """The statements of a document. Raises FileTrouble, whose cause is the syntax error with its line, if any."""
    file = sys.stdin.buffer if document.name == "-" else open_to_read(Path(document.name))
    with file:
        source: Readable = unpacked(file, document.name)
        quads = parse_rdf(source, document.format, base, document.graph, blanks)
        try:
            yield from quads if quiet else watched(quads, file, document.shown, verb)
        except RdfSyntaxError as error:
            raise FileTrouble(f"{document.shown}: {error}") from located(error, document)


def located(error: RdfSyntaxError, document: Document) -> RdfSyntaxError:
    """The same error, with the text of its line."""
    if document.name == "-":
        return error
    with open_to_read(Path(document.name)) as file:
        text = _line(unpacked(file, document.name), error.line)
    source = "\n" * (error.line - 1) + text
    return RdfSyntaxError(error.message, line=error.line, column=error.column, source=source)


def _line(file: Readable, number: int) -> str:
    begun, seen = b"", 1
    while chunk := file.read(1 << 16):
        lines = (begun + chunk).split(b"\n")
        if seen + len(lines) - 1 > number:
            return lines[number - seen].decode(errors="replace")
        seen += len(lines) - 1
        begun = lines[-1]
    return begun.decode(errors="replace") if seen == number else ""


def watched(quads: Iterator[Quad], file: BinaryIO, name: str, verb: str) -> Iterator[Quad]:
    """The same quads, while stderr shows the progress."""
    start = time.monotonic()
    counted = 0
    size = os.fstat(file.fileno()).st_size if file.seekable() else 0
    if size < LARGE or not sys.stderr.isatty():
        for counted, quad in enumerate(quads, 1):  # noqa: B007 -- told below
            yield quad
    else:
        from tidings.cli.output.progress import bar

        with bar(name, size) as tell:
            for counted, quad in enumerate(quads, 1):
                yield quad
                if counted % _BETWEEN_LOOKS == 0:
                    tell(file.tell(), counted)
    took = time.monotonic() - start
    print(f"{verb} {counted:,} quads from {name} in {took:.1f} s", file=sys.stderr)
