"""Small JSON responses: outcomes of updates, errors, health."""

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
    """A JSON response that ends with a newline, for people who read it in a shell."""

    def __init__(self, content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        document = orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE)
        super().__init__(document, status, headers, "application/json")


def refusal(error: TidingsError, headers: Mapping[str, str] | None = None) -> Envelope:
    """The response for an error, with headers that tell the client what to do."""
    return Envelope(error.to_json(), error.status, {**advice(error), **(headers or {})})


def advice(error: TidingsError) -> dict[str, str]:
    """Headers that tell the client what to do about an error: retry later, or show a token (RFC 6750, section 3)."""
    if isinstance(error, RateExceeded):
        return {"retry-after": str(error.seconds)}
    if error.status in BUSY:
        return {"retry-after": "1"}
    if error.status == 401 and error.code in _OF_TOKENS:
        wrong = ', error="invalid_token"' if error.code == "invalid_grant" else ""
        return {"www-authenticate": _CHALLENGE + wrong}
    return {}
