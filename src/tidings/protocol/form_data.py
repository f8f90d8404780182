"""Several documents in one body: `multipart/form-data` (RFC 7578), as the Graph Store Protocol takes it in section 5.5.

    preamble  CRLF--boundary CRLF  headers CRLF CRLF  content  CRLF--boundary CRLF  …  CRLF--boundary--  epilogue

The format is that of RFC 2046, section 5.1. Only the Content-Type of a part counts; names of fields and files are
ignored.
"""

import re

from msgspec import Struct

from tidings.model.errors import BadRequest

FORM_DATA = "multipart/form-data"
_BOUNDARY = re.compile(r""";\s*boundary=(?:"([^"]{1,70})"|([^\s";]{1,70}))""", re.IGNORECASE)
_LINE = b"\r\n"


class Part(Struct, frozen=True):
    """One document of the body."""

    content_type: str
    """Empty if the part has no Content-Type."""
    content: bytes


def is_form_data(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == FORM_DATA


def parts_of(content_type: str, body: bytes) -> list[Part]:
    """The documents of a body, in their order. Raises BadRequest."""
    found = _BOUNDARY.search(content_type)
    if found is None:
        raise BadRequest(f"{FORM_DATA} needs a boundary, of at most 70 characters")
    boundary = (found[1] or found[2]).encode("latin-1", "replace")
    _, *pieces = (_LINE + body).split(_LINE + b"--" + boundary)
    ends = [number for number, piece in enumerate(pieces) if piece.startswith(b"--")]
    if not ends:
        raise BadRequest(f"the body does not end with the boundary --{boundary.decode('latin-1')}--")
    return [_part(piece) for piece in pieces[: ends[0]]]


def _part(piece: bytes) -> Part:
    padding, line, rest = piece.partition(_LINE)
    head, blank, content = (_LINE + rest).partition(_LINE * 2)
    if padding.strip(b" \t") or not line or not blank:
        raise BadRequest("a part of the body has no empty line after its headers")
    for header in head.decode("latin-1").split("\r\n"):
        name, _, value = header.partition(":")
        if name.strip().lower() == "content-type":
            return Part(value.strip(), content)
    return Part("", content)
