"""Reads the requests in a file of updates, each with the line in which it begins.

A line `---` ends a request, so that SPARQL of several lines needs no quoting.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from tidings.model.errors import BadRequest, SyntaxFault, TidingsError
from tidings.server.files import open_to_read, unpacked

SEPARATOR = b"---"


class RequestFailed(BadRequest):
    """A request failed. The message says which one."""

    code = "request_failed"


@dataclass(frozen=True, slots=True)
class Request:
    """The text of an update, its number, and the number of lines before it."""

    number: int
    text: str
    skipped: int

    def located(self, error: TidingsError) -> TidingsError:
        """The same error; a place in the text becomes the place in the file."""
        if not isinstance(error, SyntaxFault):
            return error
        source = "\n" * self.skipped + self.text
        line = error.line + self.skipped
        return type(error)(error.message, line=line, column=error.column, expected=error.expected, source=source)


@contextmanager
def opened(name: str) -> Iterator[Iterable[bytes]]:
    """The lines of a file; those of stdin (`-`) as they arrive. Raises FileTrouble."""
    if name == "-":
        yield sys.stdin.buffer
        return
    with open_to_read(Path(name)) as file:
        plain = unpacked(file, name)
        yield file if plain is file else BytesIO(plain.read(-1))


def requests(lines: Iterable[bytes]) -> Iterator[Request]:
    """Each request once its separator has been read. Text after the last separator is a request unless it is blank."""
    number, skipped = 1, 0
    held: list[bytes] = []
    for seen, line in enumerate(lines, 1):
        if line.rstrip() != SEPARATOR:
            held.append(line)
            continue
        yield Request(number, _decoded(held, number), skipped)
        number, skipped = number + 1, seen
        held.clear()
    if any(map(bytes.strip, held)):
        yield Request(number, _decoded(held, number), skipped)


def _decoded(lines: list[bytes], number: int) -> str:
    try:
        return b"".join(lines).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RequestFailed(f"request {number} is not UTF-8: {error}") from error
