"""An answer that is complete before its first byte is sent: in memory while it is small, otherwise in a file.

So a client that reads slowly occupies nothing but a file, an error in the last row can still set the status of the
response, and the length is known.
"""

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO, cast

from tidings.model.errors import AnswerTooLarge

IN_MEMORY = 4 << 20


@dataclass(frozen=True, slots=True)
class Spool:
    """A complete document."""

    media_type: str
    file: BinaryIO
    size: int
    warnings: tuple[str, ...] = ()
    """Warnings about the text of the query."""

    @classmethod
    def of(cls, media_type: str, chunks: Iterable[bytes], most: int | None = None) -> "Spool":
        """Write down all chunks. Raises AnswerTooLarge."""
        file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 -- whoever sends it closes it
        try:
            size = fill(cast(BinaryIO, file), chunks, most)
        except BaseException:
            file.close()
            raise
        return cls(media_type, cast(BinaryIO, file), size)


def fill(file: BinaryIO, chunks: Iterable[bytes], most: int | None = None) -> int:
    """Write down all chunks, and go back to the start; the size. Raises AnswerTooLarge."""
    size = 0
    for chunk in chunks:
        size += len(chunk)
        check_size(size, most)
        file.write(chunk)
    file.seek(0)
    return size


def check_size(size: int, most: int | None) -> None:
    """Raises AnswerTooLarge."""
    if most is not None and size > most:
        said = f"the answer has more than {most:,} bytes, the limit of max_answer; ask for less, or use LIMIT"
        raise AnswerTooLarge(said, most)
