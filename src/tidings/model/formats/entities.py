"""Refuses entity bombs in RDF/XML: pyoxigraph expands entities without a limit (700 bytes became 10 MB).

Ontologies use entities to abbreviate namespaces, so short ones are allowed: an entity may not refer to another one, nor
be longer than 256 bytes, and a document then grows by less than a factor of a hundred. The search for declarations
ignores the context, so a comment that quotes a bomb is refused, too.
"""

import re
from collections.abc import Iterable, Iterator

from tidings.model.errors import RdfSyntaxError

_LONGEST = 256
_BEGIN = b"<!ENTITY"
_CUT_OFF = re.compile(rb"<(?:!(?:E(?:N(?:T(?:I(?:T(?:Y[^<]*)?)?)?)?)?)?)?\Z")
_DECLARATION = re.compile(rb"<!ENTITY[^<]*")  # pyoxigraph, too, reads a declaration up to the next "<"
_REFERENCE = re.compile(rb"&(?!#|amp;|lt;|gt;|quot;|apos;)")


def without_bombs(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes, each declaration of an entity in one piece and checked. Raises RdfSyntaxError."""
    held = b""
    line = 1
    for chunk in chunks:
        window = held + chunk
        cut = _CUT_OFF.search(window)
        end = cut.start() if cut else len(window)
        if len(window) - end > 4 * _LONGEST:
            raise RdfSyntaxError("an entity is declared at great length", line=line + window.count(b"\n", 0, end))
        _check(window[:end], line)
        line += window.count(b"\n", 0, end)
        held = window[end:]
        if end:
            yield window[:end]
    if held:
        _check(held, line)
        yield held


def _check(piece: bytes, line: int) -> None:
    if _BEGIN not in piece:
        return
    for declaration in _DECLARATION.finditer(piece):
        if _REFERENCE.search(declaration[0]) or len(declaration[0].rstrip()) > _LONGEST:
            number = line + piece.count(b"\n", 0, declaration.start())
            raise RdfSyntaxError("an entity refers to another one, or is too long", line=number)
