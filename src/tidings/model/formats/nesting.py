"""Refuses documents that are nested too deeply before a parser reads them: it would overflow the stack and crash the
process, or take a time that grows with the square of the depth."""

import re
from collections.abc import Iterable, Iterator
from xml.parsers import expat

from tidings.model.errors import RdfSyntaxError

DEEPEST_JSON = 100
DEEPEST_XML = 1_000
DEEPEST_TERM = 5_000
"""Unclosed `<<`. Strings may contain `<<`, too, hence so many."""
_BRACKET = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_TERM = re.compile(rb"<<|>>")


def shallow_json(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same document in one piece. Raises RdfSyntaxError if it is nested too deeply."""
    document = b"".join(chunks)
    if document.count(b"{") + document.count(b"[") > DEEPEST_JSON:
        depth = 0
        for found in _BRACKET.finditer(document):
            sign = found[0]
            depth += 1 if sign in b"{[" else -1 if sign in b"]}" else 0
            if depth > DEEPEST_JSON:
                raise RdfSyntaxError(f"objects and lists are nested more than {DEEPEST_JSON} deep")
    yield document


def shallow_terms(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same chunks. Raises RdfSyntaxError if triples are nested too deeply in triples."""
    depth = 0
    for chunk in chunks:
        for sign in _TERM.findall(chunk):
            depth = depth + 1 if sign == b"<<" else max(depth - 1, 0)
            if depth > DEEPEST_TERM:
                raise RdfSyntaxError(f"triples are nested in each other more than {DEEPEST_TERM:,} deep")
        yield chunk


def check_xml(document: bytes) -> None:
    """Check a document whose parsing must not block others for long. Raises RdfSyntaxError if elements are nested too
    deeply, or if it is no XML."""
    depth = 0

    def begin(_: str, __: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST_XML:
            raise RdfSyntaxError(f"elements are nested more than {DEEPEST_XML:,} deep")

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    try:
        parser.Parse(document, True)
    except expat.ExpatError as error:
        raise RdfSyntaxError(f"this is no XML: {expat.ErrorString(error.code)}", line=error.lineno) from error
