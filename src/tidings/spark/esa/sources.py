"""The sources of an index: a dump of a wiki, or WordNet. A source has pieces, and a piece has documents."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, TypeAlias

import msgspec

from tidings.lexicons.wordnet.documents import Document, documents
from tidings.lexicons.wordnet.finding import PARTS
from tidings.spark.esa import dump
from tidings.spark.esa.errors import DumpUnreadable
from tidings.spark.esa.pages import Skipped, pages
from tidings.spark.esa.wikitext import spoken

_WORDNET_PARTS = 2
_SAMPLE = 1 << 16


class WordNetPart(msgspec.Struct, frozen=True, tag="wordnet"):
    """One of `parts` parts of WordNet: every `parts`th synset."""

    folder: str
    part: int
    parts: int


Piece: TypeAlias = dump.Piece | WordNetPart


class Source(Protocol):
    @property
    def name(self) -> str:
        """The name of the source in messages."""
        ...

    @property
    def identity(self) -> str:
        """A digest of the source. A build that was interrupted resumes only with the same source."""
        ...

    @property
    def shortest(self) -> int:
        """The default for the fewest different terms of a document."""
        ...

    @property
    def rarest(self) -> int:
        """The default for the fewest documents that must have a term."""
        ...

    def pieces(self) -> list[Piece]: ...


class Wiki:
    """The dump files of one wiki. Raises DumpUnreadable."""

    shortest = 50
    rarest = 3

    def __init__(self, paths: list[Path], plain: int = dump.PLAIN_PIECE, packed: int = dump.PACKED_PIECE) -> None:
        self._paths = paths
        if len({path.absolute() for path in paths}) < len(paths):
            raise DumpUnreadable("a file of the dump is named twice")
        self._pieces = [piece for path in paths for piece in dump.pieces(path, plain, packed)]

    @property
    def name(self) -> str:
        return ", ".join(path.name for path in self._paths)

    @property
    def identity(self) -> str:
        return _digest([f"{path.name} {path.stat().st_size} {_sample(path)}" for path in self._paths])

    def pieces(self) -> list[Piece]:
        return list(self._pieces)


class WordNet:
    """The folder of WordNet's database files."""

    name = "WordNet"
    shortest = 1
    rarest = 1

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def identity(self) -> str:
        return _digest([f"{part} {_sample(self._folder / f'data.{part}')}" for part in PARTS])

    def pieces(self) -> list[Piece]:
        where = str(self._folder.absolute())
        return [WordNetPart(where, part, _WORDNET_PARTS) for part in range(_WORDNET_PARTS)]


def read_documents(piece: Piece) -> Iterator[Document | Skipped]:
    """The documents of a piece. Raises DumpDamaged, WordNetDamaged."""
    if isinstance(piece, WordNetPart):
        yield from documents(Path(piece.folder), piece.part, piece.parts)
        return
    for page in pages(piece):
        yield page if isinstance(page, Skipped) else Document(page.number, page.title, spoken(page.wikitext))


def _sample(path: Path) -> str:
    """A digest of the beginning and the end of a file, which distinguishes versions of a dump."""
    with path.open("rb") as file:
        head = file.read(_SAMPLE)
        file.seek(max(0, path.stat().st_size - _SAMPLE))
        return _digest([head.hex(), file.read(_SAMPLE).hex()])


def _digest(parts: list[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
