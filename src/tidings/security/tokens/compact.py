"""Parses the text of a token strictly, before its signature is verified.

JSON parsers differ in how they treat duplicate names, invalid numbers and deep nesting. A token that relies on such a
difference is refused before its signature is checked.
"""

import json
from base64 import urlsafe_b64decode
from binascii import Error as NotBase64
from typing import Any

from msgspec import Struct

from tidings.security.errors import InvalidRequest

LONGEST = 16_384
"""Characters of a token. Issuers put whole lists of groups into theirs; a header of HTTP is rarely longer."""


class Unverified(Struct, frozen=True):
    """What a token says about itself."""

    text: str
    header: dict[str, Any]
    claims: dict[str, Any]


def read_token(text: str) -> Unverified:
    """The parts of a compact token. Raises InvalidRequest."""
    if len(text) > LONGEST:
        raise InvalidRequest(f"the token is longer than {LONGEST:,} characters")
    parts = text.split(".")
    if len(parts) != 3 or not all(parts) or not text.isascii():
        raise InvalidRequest("the token is no JSON Web Token that is signed")
    token = Unverified(text, _object(parts[0], "header"), _object(parts[1], "payload"))
    if "crit" in token.header or "b64" in token.header:
        raise InvalidRequest("the token has extensions that are not understood here")
    return token


def _object(part: str, name: str) -> dict[str, Any]:
    try:
        content = json.loads(
            urlsafe_b64decode(part + "=" * (-len(part) % 4)), object_pairs_hook=_distinct, parse_constant=_no_number
        )
    except (ValueError, NotBase64, RecursionError) as error:
        raise InvalidRequest(f"the {name} of the token cannot be read") from error
    if not isinstance(content, dict):
        raise InvalidRequest(f"the {name} of the token is no object")
    return content


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("a name comes twice")
    return content


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number")
