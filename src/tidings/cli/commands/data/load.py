"""`tidings load`: loads RDF files into a running broker, in batches, several of them in flight at a time.

    file  ->  statements without blank nodes  ->  batches of INSERT DATA  ->  acknowledgement  ->  position saved

A batch has no blank nodes, so sending it again changes nothing: after a broken connection, the command goes on.
"""

import asyncio
import os
import sys
import time
from argparse import Namespace
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from tidings.cli.input.addresses import trust_of, ws_of
from tidings.cli.input.arguments import Parser, UsageError, add_broker, count
from tidings.cli.input.batches import LoadRequest, batches
from tidings.cli.input.genids import Genids, content_key, fresh_key
from tidings.cli.input.identity import shown_of
from tidings.cli.input.loading import Document, absolute, base_of, located
from tidings.cli.input.positions import Positions
from tidings.cli.output.tempo import Tempo
from tidings.client.connection import Connection, connect
from tidings.client.errors import ConnectionLost, Refused
from tidings.model.errors import LoadFailed, RdfSyntaxError, TidingsError
from tidings.model.formats.blanks import KEEP_LABELS
from tidings.model.formats.rdf import parse_rdf
from tidings.model.formats.streams import Readable
from tidings.model.terms import DEFAULT_GRAPH, Quad, iri_text
from tidings.server.files import FileTrouble, open_to_read, rdf_format, unpacked

DESCRIPTION = """\
Send RDF files of any size to the broker, in batches, each of which is one commit. How far it has come is kept in a
small file beside the first one, so that --resume can go on after a crash; loading again what is there changes nothing.
Blank nodes become IRIs (.../.well-known/genid/...) that are the same whenever the same file is loaded."""
EXAMPLES = """\
examples:
  tidings load city.nt
  tidings load city.nt --graph http://example.org/city --batch 1000 --quiet
  tidings load city.nt --resume
  cat city.nt | tidings load --format ntriples -
"""
_ATTEMPTS = 5
_PAUSE = 0.5
_PATIENCE = 60.0


def parser() -> Parser:
    result = Parser("tidings load", DESCRIPTION, EXAMPLES)
    result.add_argument("files", metavar="FILE", nargs="+", help="RDF file, also compressed; `-` is stdin")
    add_broker(result, subscribes=True)
    result.add_argument("--graph", metavar="IRI", help="graph for statements that name none")
    result.add_argument("--format", metavar="NAME", help="format of the files, if their names do not tell")
    result.add_argument("--base", metavar="IRI", help="what relative IRIs are relative to")
    result.add_argument("--batch", metavar="N", type=count, default=5000, help="statements in a request (5000)")
    result.add_argument("--in-flight", metavar="N", type=count, default=4, help="requests on their way at a time (4)")
    result.add_argument("--publisher", metavar="NAME", help="who publishes, for the log of the broker")
    result.add_argument("--resume", action="store_true", help="go on where an interrupted load has come to")
    result.add_argument("--state", metavar="FILE", help="the file that keeps the progress (FILE.load)")
    result.add_argument("--quiet", "-q", action="store_true", help="say nothing on stderr but errors")
    return result


def run(arguments: Namespace) -> int:
    base = base_of(arguments)
    graph = DEFAULT_GRAPH if arguments.graph is None else absolute(arguments.graph)
    documents = [_document(name, arguments.format, graph) for name in arguments.files]
    positions = Positions.at(_state_path(arguments), graph and iri_text(graph), base, resume=arguments.resume)
    sources = [Source(document, base, _kept(document, positions)) for document in documents]
    asyncio.run(_load(sources, positions, arguments))
    positions.done()
    return 0


def _document(name: str, given: str | None, graph: str) -> Document:
    if name == "-" and not given:
        raise UsageError("stdin has no name to tell its format: give --format")
    if name != "-":
        open_to_read(Path(name)).close()  # check that all files can be read before the first one is sent
    return Document(name, rdf_format(name, given), graph)


def _state_path(arguments: Namespace) -> Path | None:
    if "-" in arguments.files:
        if arguments.resume or arguments.state:
            raise UsageError("stdin cannot be read again, so there is nothing to resume")
        return None
    return Path(arguments.state or f"{arguments.files[0]}.load")


def _kept(document: Document, positions: Positions) -> int:
    return 0 if document.name == "-" else positions.of(Path(document.name))


@dataclass(slots=True)
class Source:
    """A document that is being loaded, and how much of it the broker has acknowledged."""

    document: Document
    base: str
    statements: int
    added: int = 0
    size: int = 0
    """In bytes; 0 if unknown."""
    file: BinaryIO = field(init=False)

    def quads(self) -> Iterator[Quad]:
        """All statements of the document, without blank nodes. Raises FileTrouble."""
        name = self.document.name
        self.file = sys.stdin.buffer if name == "-" else open_to_read(Path(name))
        genids = Genids(self.base, fresh_key if name == "-" else lambda: content_key(Path(name)))
        with self.file as file:
            steps = _Steps(unpacked(file, name))
            self.size = os.fstat(file.fileno()).st_size if name != "-" and file.seekable() else 0
            quads = parse_rdf(steps, self.document.format, self.base, self.document.graph, KEEP_LABELS)
            try:
                yield from genids(steps.whole(quads))
            except RdfSyntaxError as error:
                raise FileTrouble(f"{self.document.shown}: {error}") from located(error, self.document)

    def position(self) -> int:
        """The number of bytes read so far; 0 if the size is unknown."""
        return self.size if self.file.closed or not self.size else self.file.tell()


class _Steps:
    """A file that a parser reads in steps.

    A parser may report an error only after it has returned statements from behind it in the same step. So `whole` holds
    the statements of a step back until the parser reads the next one.
    """

    def __init__(self, file: Readable) -> None:
        self._file = file
        self._number = 0

    def read(self, size: int, /) -> bytes:
        self._number += 1
        return self._file.read(size)

    def whole(self, quads: Iterable[Quad]) -> Iterator[Quad]:
        """The statements of steps without errors."""
        held: list[Quad] = []
        number = self._number
        for quad in quads:
            if number != self._number:
                number = self._number
                yield from held
                held.clear()
            held.append(quad)
        yield from held


async def _load(sources: list[Source], positions: Positions, arguments: Namespace) -> None:
    url = ws_of(arguments)
    async with connect(
        url,
        timeout=_PATIENCE,
        wait=arguments.wait,
        publisher=arguments.publisher,
        trust=trust_of(arguments),
        credentials=shown_of(arguments, url),
    ) as broker:
        for source in sources:
            start = time.monotonic()
            skipped = source.statements
            with Tempo(source.document.shown, quiet=arguments.quiet) as tempo:
                await _send_all(broker, source, positions, tempo, arguments)
            if not arguments.quiet:
                print(_summary(source, skipped, time.monotonic() - start), file=sys.stderr)


def _summary(source: Source, skipped: int, took: float) -> str:
    sent = source.statements - skipped
    again = f" after the {skipped:,} that were in" if skipped else ""
    rate = f", {sent / took:,.0f} a second" if took else ""
    return f"loaded {sent:,} statements from {source.document.shown}{again} in {took:.1f} s{rate}: {source.added:,} new"


async def _send_all(
    broker: Connection, source: Source, positions: Positions, tempo: Tempo, arguments: Namespace
) -> None:
    """Send a document. Raises LoadFailed, which says how much of it the broker has acknowledged."""
    under_way: deque[tuple[LoadRequest, asyncio.Task[int]]] = deque()

    async def settle() -> None:
        batch, sending = under_way[0]
        source.added += await sending
        under_way.popleft()
        source.statements = batch.end
        if source.document.name != "-":
            positions.reached(Path(source.document.name), batch.end)
        tempo.tell(source.position(), batch.end)

    try:
        for batch in batches(source.quads(), source.statements, arguments.batch):
            if batch.text:
                tempo.begin(source.size, source.position(), source.statements)
                under_way.append((batch, asyncio.create_task(_send(broker, batch.text))))
            await asyncio.sleep(0)  # let the task send this batch before the next one is read
            if len(under_way) >= arguments.in_flight:
                await settle()
        while under_way:
            await settle()
    except FileTrouble as error:
        while under_way:
            await settle()
        raise LoadFailed(f"{error}; {_so_far(source)}") from error.__cause__
    except TidingsError as error:
        raise LoadFailed(f"{error}; {_so_far(source)}") from error
    except asyncio.CancelledError:
        print(f"stopped; {_so_far(source)}", file=sys.stderr)
        raise
    finally:
        for _, sending in under_way:
            sending.cancel()
        await asyncio.gather(*(sending for _, sending in under_way), return_exceptions=True)


def _so_far(source: Source) -> str:
    return f"{source.statements:,} statements of {source.document.shown} are in"


async def _send(broker: Connection, text: str) -> int:
    """Send a batch; the number of new quads. If its outcome is unknown, send it again."""
    for attempt in range(_ATTEMPTS):
        try:
            return (await broker.update(text)).added
        except ConnectionLost:
            if attempt == _ATTEMPTS - 1:
                raise
        except Refused as error:
            if error.status != 429 or attempt == _ATTEMPTS - 1:
                raise
        await asyncio.sleep(_PAUSE * attempt)
    raise AssertionError("the last attempt returns or raises")
