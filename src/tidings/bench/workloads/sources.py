"""The sources of the triples of a knowledge base: files in RDF formats, and generators with a size.

    name(blank node) = urn:tidings:blank:b + digest(source, label)

A knowledge base is loaded in many requests, and the scope of a label is one request; so blank nodes become IRIs, the
same in all requests of a source, and the same each time it is loaded (RDF 1.1 Concepts, section 3.5). The digest has
the content of a file, or the size and seed of a generator, so that nodes of different sources stay different.
"""

import gzip
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast
from urllib.parse import quote

from tidings.bench.workloads import bibliography, city, universities
from tidings.model.errors import BadRequest, UnsupportedFormat
from tidings.model.formats.blanks import KEEP_LABELS
from tidings.model.formats.media import by_file_name
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.model.terms import Quad, Term, Triple

BASE = "http://tidings.example/knowledge/"
"""The base IRI of a file is this and the file's name, so that it does not depend on the folder."""

_GENERATED = re.compile(r"(city|universities|bibliography):(.*)", re.DOTALL)
_DRAWN = re.compile(r"[0-9a-f]{1,32}")
"""The random labels that parsers make for nodes without a label; a label of a document may look like one."""
_PIECE = 1 << 15
"""Bytes read at a time: few, so that the position in the file shows how far the parser is."""
_BYTES = {RdfFormat.N_TRIPLES: 120, RdfFormat.N_QUADS: 120}
"""Bytes of a triple, for the first estimate; 50 in the other formats."""
_PACKED = 12
"""The compression ratio of gzip, for the first estimate."""


class BlankNames:
    """The IRIs for the blank nodes of one source. The IRI of a node without a label has its number, from a table."""

    def __init__(self, key: Callable[[], bytes]) -> None:
        self._make_key = key
        self._key = b""
        self._turns: dict[str, int] = {}

    def __call__(self, triples: Iterable[Triple]) -> Iterator[Triple]:
        """The same triples without blank nodes."""
        name = self.name
        for s, p, o in triples:
            yield name(s) if s[0] == "_" else s, p, name(o) if o[0] == "_" else o

    def name(self, node: Term) -> Term:
        if not self._key:
            self._key = self._make_key()  # reads the file once more, so only if it has blank nodes
        label = node[2:]
        if _DRAWN.fullmatch(label):
            label = f"#{self._turns.setdefault(label, len(self._turns))}"
        return f"<urn:tidings:blank:b{blake2b(label.encode(), key=self._key, digest_size=12).hexdigest()}>"


@dataclass(frozen=True, slots=True)
class Generated:
    """A generator of a size, such as `city:0.05`."""

    name: str
    seed: int
    about: int
    """The approximate number of its triples."""
    make: Callable[[], Iterator[Triple]]

    def triples(self) -> Iterator[Triple]:
        return BlankNames(lambda: _digest([f"{self.name}/{self.seed}".encode()]))(self.make())

    def expected(self, read: int) -> int:
        return max(read, self.about)


class File:
    """An RDF document, gzip or not. It must not have named graphs, because a knowledge base is one graph."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._path = Path(name)
        self._format = RdfFormat.TURTLE if _is_n3(name) else by_file_name(tuple(RdfFormat), name)
        self._size = self._path.stat().st_size
        self._read = 0

    def triples(self) -> Iterator[Triple]:
        """The triples of the file. Raises RdfSyntaxError, OSError, and the errors of gzip for a damaged file."""
        return BlankNames(self._key)(self._parsed())

    def _parsed(self) -> Iterator[Triple]:
        self._read = 0
        with self._path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            counted = _Counted(file, self._count)
            source = gzip.GzipFile(fileobj=cast(BinaryIO, counted)) if packed else counted
            quads = parse_rdf(source, self._format, base=BASE + quote(self._path.name), blanks=KEEP_LABELS)
            for quad in quads:
                yield _of_one_graph(quad)

    def expected(self, read: int) -> int:
        """The estimated number of triples, after so many have been read, by the share of bytes read."""
        if not self._read:
            packed = _PACKED if self.name.lower().endswith(".gz") else 1
            return max(read, self._size * packed // _BYTES.get(self._format, 50))
        return max(read, round(read * self._size / self._read))

    def _count(self, read: int) -> None:
        self._read += read

    def _key(self) -> bytes:
        with self._path.open("rb") as file:
            return _digest(_pieces(file))


Source: TypeAlias = Generated | File


def source_of(text: str, seed: int = city.SEED) -> Source:
    """The source that a text names: `city:FACTOR`, `universities:SCALE`, `bibliography:TRIPLES`, or a file.

    Raises BadRequest, UnsupportedFormat and OSError.
    """
    if not (found := _GENERATED.fullmatch(text)):
        return File(text)
    kind, size = found.groups()
    try:
        return _generated(text, kind, size, seed)
    except (ValueError, OverflowError) as error:
        raise BadRequest(f"{size!r} is no size: {error}") from error


def _generated(text: str, kind: str, size: str, seed: int) -> Generated:
    if kind == "city":
        factor = float(size)
        about = sum(5 + 35 * city.posts_of_road(road) for road in city.roads(factor)) + len(list(city.ontology()))
        return Generated(text, seed, about, lambda: city.city(factor, seed))
    if kind == "universities":
        scale = float(size)
        about = sum(universities.department_counts(scale, seed)) * universities.TRIPLES_PER_DEPARTMENT
        return Generated(text, seed, about, lambda: universities.universities(scale, seed))
    count = int(size)
    bibliography.checked(count)
    return Generated(text, seed, count, lambda: bibliography.bibliography(count, seed))


def _is_n3(name: str) -> bool:
    """Whether a file is Notation3, which is read as Turtle: formulas and rules are syntax errors."""
    return name.lower().removesuffix(".gz").endswith(".n3")


def _of_one_graph(quad: Quad) -> Triple:
    s, p, o, g = quad
    if g:
        raise UnsupportedFormat(f"a knowledge base is one graph, and has no place for {g}")
    return s, p, o


class _Counted:
    """A file that reports how many bytes were read."""

    def __init__(self, file: BinaryIO, count: Callable[[int], None]) -> None:
        self._file = file
        self._count = count

    def read(self, size: int = _PIECE, /) -> bytes:
        piece = self._file.read(min(size, _PIECE))
        self._count(len(piece))
        return piece


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(1 << 20):
        yield piece


def _digest(pieces: Iterable[bytes]) -> bytes:
    digest = blake2b(digest_size=16)
    for piece in pieces:
        digest.update(piece)
    return digest.digest()
