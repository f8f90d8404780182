"""The forms of a document that readers accept and writers return: bytes, a binary file, or chunks of bytes."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Protocol, TypeAlias

CHUNK = 1 << 18
"""Bytes read at a time."""

_PIECES = 1024
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Readable(Protocol):
    """A binary file, or any object with its `read`."""

    def read(self, size: int, /) -> bytes: ...


Source: TypeAlias = bytes | Readable | Iterable[bytes]


def chunks_of(source: Source) -> Iterator[bytes]:
    """The source in chunks that are not empty, without a byte order mark."""
    chunks = _raw_chunks(source)
    first = b""
    for chunk in chunks:
        first += chunk
        if len(first) >= len(_BYTE_ORDER_MARK):
            break
    if first := first.removeprefix(_BYTE_ORDER_MARK):
        yield first
    yield from filter(None, chunks)


def _raw_chunks(source: Source) -> Iterator[bytes]:
    if isinstance(source, bytes | bytearray | memoryview):
        for start in range(0, len(source), CHUNK):
            yield bytes(source[start : start + CHUNK])
    elif hasattr(source, "read"):
        while chunk := source.read(CHUNK):
            yield chunk
    else:
        yield from source


def whole_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes, cut after line feeds; only the last piece may lack one."""
    begun: list[bytes] = []
    for chunk in chunks:
        end = chunk.rfind(b"\n") + 1
        if end:
            yield b"".join([*begun, chunk[:end]])
            begun = []
        if end < len(chunk):
            begun.append(chunk[end:])
    if begun:
        yield b"".join(begun)


def encoded(pieces: Iterable[str]) -> Iterator[bytes]:
    """Pieces of text as chunks of UTF-8, some hundreds of pieces at a time."""
    source = iter(pieces)
    while batch := list(islice(source, _PIECES)):
        yield "".join(batch).encode()


class ChunkReader:
    """A file object over chunks, for pyoxigraph. With `by_lines`, it counts lines, so that an error has its line."""

    def __init__(self, chunks: Iterable[bytes], *, by_lines: bool = False) -> None:
        self._chunks = iter(chunks)
        self._by_lines = by_lines
        self._chunk = b""
        self._position = 0
        self._line_over = False
        self.line = 1

    def read(self, size: int, /) -> bytes:
        if self._position == len(self._chunk):
            self._chunk = next(self._chunks, b"")
            self._position = 0
        end = self._position + size
        if self._by_lines:
            end = self._chunk.find(b"\n", self._position, end) + 1 or end
        piece = self._chunk[self._position : end]
        self._position += len(piece)
        self.line += self._line_over
        self._line_over = self._by_lines and piece.endswith(b"\n")
        return piece
