"""An answer that is written in full before its first byte is sent: in memory while it is small, else in a file.

So a client that reads slowly holds nothing but its file, an error in the last row is still an honest status, and the
length is known.
"""

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO, cast

IN_MEMORY = 4 << 20


@dataclass(frozen=True, slots=True)
class Spool:
    """A complete document."""

    media_type: str
    file: BinaryIO
    size: int
    warnings: tuple[str, ...] = ()
    """What is doubtful about the text that it answers."""

    @classmethod
    def of(cls, media_type: str, chunks: Iterable[bytes]) -> "Spool":
        """Write down all chunks."""
        file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 -- whoever sends it closes it
        try:
            size = fill(cast(BinaryIO, file), chunks)
        except BaseException:
            file.close()
            raise
        return cls(media_type, cast(BinaryIO, file), size)


def fill(file: BinaryIO, chunks: Iterable[bytes]) -> int:
    """Write down all chunks, and go back to the start; the size."""
    for chunk in chunks:
        file.write(chunk)
    size = file.tell()
    file.seek(0)
    return size
