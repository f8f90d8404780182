"""Opens RDF files by name, compressed with gzip or not; and LOAD of files below one folder."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast
from urllib.parse import unquote, urlsplit

from tidings.model.errors import BadRequest, NotAllowed, RdfSyntaxError
from tidings.model.formats.media import by_file_name, by_name
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.model.terms import Triple

_GZIP_MAGIC = b"\x1f\x8b"


class FileTrouble(BadRequest):
    """A file that the user has named cannot be read or written."""

    code = "file_trouble"


def rdf_format(name: str, given: str | None = None) -> RdfFormat:
    """The format with the name `given`, or else that of the file's ending."""
    formats = tuple(RdfFormat)
    return by_name(formats, given) if given else by_file_name(formats, name)


def open_to_read(path: Path, shown: str | None = None) -> BinaryIO:
    """A file as bytes; `shown` names it in the error. Raises FileTrouble."""
    try:
        return path.open("rb")
    except OSError as error:
        raise FileTrouble(f"{shown or path}: {error.strerror}") from error


def unpacked(file: BinaryIO, name: str) -> BinaryIO:
    """The bytes of a file, decompressed if its name or its first bytes are those of gzip."""
    packed = name.lower().endswith(".gz")
    if not packed and file.seekable():
        packed = file.read(2) == _GZIP_MAGIC
        file.seek(0)
    return cast(BinaryIO, _Gunzip(gzip.GzipFile(fileobj=file), name)) if packed else file


class _Gunzip:
    """A gzip file that raises FileTrouble if it is damaged."""

    def __init__(self, file: gzip.GzipFile, name: str) -> None:
        self._file = file
        self._name = name

    def read(self, size: int, /) -> bytes:
        try:
            return self._file.read(size)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise FileTrouble(f"{self._name} is not a whole gzip file: {error}") from error


class FolderLoader:
    """LOAD, for files below one folder: relative references and `file:` IRIs."""

    def __init__(self, folder: Path, base: str) -> None:
        self._folder = folder.resolve()
        self._base = base

    def __call__(self, source: str) -> Iterator[Triple]:
        path = self._path(source)
        name = str(path.relative_to(self._folder))  # errors must not tell clients where the folder is
        with open_to_read(path, name) as file:
            try:
                for s, p, o, _ in parse_rdf(unpacked(file, name), rdf_format(name), base=source):
                    yield s, p, o
            except RdfSyntaxError as error:
                raise FileTrouble(f"{name}: {error}") from error

    def _path(self, source: str) -> Path:
        if source.startswith(self._base):
            path = self._folder / unquote(source.removeprefix(self._base))
        elif urlsplit(source).scheme == "file":
            path = Path(unquote(urlsplit(source).path))
        else:
            raise NotAllowed(f"LOAD reads files only, not <{source}>")
        path = path.resolve()
        if not path.is_relative_to(self._folder):
            raise NotAllowed(f"LOAD may not leave its folder for <{source}>")
        return path
