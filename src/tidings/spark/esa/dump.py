"""Divides a MediaWiki dump (pages-articles.xml, plain or bz2) into pieces that can be read in any order.

A piece is a range of bytes with the pages that begin in it; the last page may end beyond it. In a bz2 file, pieces
begin with a bz2 stream: a multistream dump has one for each hundred pages, other dumps have only one, and so one piece.
"""

import bz2
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from tidings.spark.esa.errors import DumpDamaged, DumpUnreadable

PLAIN_PIECE = 8 << 20
PACKED_PIECE = 2 << 20
"""Bytes of a piece; unpacking makes a packed one about four times as large."""
_BLOCK = 1 << 20
_STREAM = re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")
_STREAM_START = 10


class Piece(msgspec.Struct, frozen=True, tag="dump"):
    path: str
    start: int
    end: int
    packed: bool


class Block(NamedTuple):
    """Some text of the dump. `belongs` is false after the end of the piece, where its last page ends."""

    text: bytes
    belongs: bool


def pieces(path: Path, plain: int = PLAIN_PIECE, packed: int = PACKED_PIECE) -> list[Piece]:
    """The pieces of a dump. Raises DumpUnreadable."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(4096)
            is_packed = head.startswith(b"BZh")
            if not is_packed and b"<mediawiki" not in head:
                raise DumpUnreadable(f"{path} is no MediaWiki dump: it begins neither with <mediawiki nor as bz2 does")
            starts = [0, *_streams(file, size, packed)] if is_packed else list(range(0, size, plain))
    except OSError as error:
        raise DumpUnreadable(f"{path} cannot be read: {error.strerror}") from error
    whole = str(path.absolute())
    return [Piece(whole, start, end, is_packed) for start, end in zip(starts, [*starts[1:], size], strict=True)]


def blocks(piece: Piece) -> Iterator[Block]:
    """The text of a piece, and then the text beyond it, as far as the caller reads. Raises DumpDamaged."""
    try:
        with Path(piece.path).open("rb") as file:
            file.seek(piece.start)
            yield from _unpacked(file, piece) if piece.packed else _plain(file, piece)
    except OSError as error:
        raise DumpDamaged(f"{piece.path} cannot be read: {error.strerror or error}") from error


def _plain(file: BinaryIO, piece: Piece) -> Iterator[Block]:
    at = piece.start
    while at < piece.end:
        text = file.read(min(_BLOCK, piece.end - at))
        if not text:
            raise DumpDamaged(f"{piece.path} has become shorter: it ends at byte {at:,}")
        at += len(text)
        yield Block(text, True)
    while text := file.read(_BLOCK):
        yield Block(text, False)


def _unpacked(file: BinaryIO, piece: Piece) -> Iterator[Block]:
    """The unpacked text, stream by stream. `begun` is the offset of the present stream."""
    begun, rest = piece.start, b""
    while rest or (rest := file.read(_BLOCK)):
        stream, belongs = bz2.BZ2Decompressor(), begun < piece.end
        while not stream.eof:
            if stream.needs_input and not rest and not (rest := file.read(_BLOCK)):
                raise DumpDamaged(f"{piece.path} is cut off: the stream that begins at byte {begun:,} does not end")
            try:
                text = stream.decompress(rest, _BLOCK)
            except OSError as error:
                raise DumpDamaged(f"{piece.path} is damaged in the stream that begins at byte {begun:,}") from error
            rest = b""
            if text:
                yield Block(text, belongs)
        rest = stream.unused_data
        begun = file.tell() - len(rest)


def _streams(file: BinaryIO, size: int, every: int) -> Iterator[int]:
    """The offsets at which further pieces begin: those of streams, about `every` bytes apart."""
    at = every
    while at < size and (found := _next_stream(file, at)) is not None:
        yield found
        at = max(at + every, found + 1)


def _next_stream(file: BinaryIO, at: int) -> int | None:
    file.seek(at)
    before = b""
    while block := file.read(_BLOCK):
        text = before + block
        if found := _STREAM.search(text):
            return at - len(before) + found.start()
        at += len(block)
        before = text[-_STREAM_START:]
    return None
