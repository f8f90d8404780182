"""Small answers in JSON: what an update did, an error, the broker's health."""

from collections.abc import Mapping
from typing import Any

import orjson
from starlette.responses import Response

from tidings.gates.errors import RateExceeded
from tidings.model.errors import TidingsError

BUSY = (429, 503)
_OF_TOKENS = frozenset({"invalid_request", "unsupported_grant_type", "invalid_grant"})
_CHALLENGE = 'Bearer realm="tidings"'


class Envelope(Response):
    """JSON that ends its line: people read it in a shell."""

    def __init__(self, content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        document = orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE)
        super().__init__(document, status, headers, "application/json")


def refusal(error: TidingsError, headers: Mapping[str, str] | None = None) -> Envelope:
    """An error as the client sees it; one who came at a bad moment is asked to come back."""
    return Envelope(error.to_json(), error.status, {**advice(error), **(headers or {})})


def advice(error: TidingsError) -> dict[str, str]:
    """What the client of an error can do about it: come back later, or show a token (RFC 6750, section 3)."""
    if isinstance(error, RateExceeded):
        return {"retry-after": str(error.seconds)}
    if error.status in BUSY:
        return {"retry-after": "1"}
    if error.status == 401 and error.code in _OF_TOKENS:
        wrong = ', error="invalid_token"' if error.code == "invalid_grant" else ""
        return {"www-authenticate": _CHALLENGE + wrong}
    return {}
