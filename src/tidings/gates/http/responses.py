"""Small answers in JSON: what an update did, an error, the broker's health."""

from collections.abc import Mapping
from typing import Any

import orjson
from starlette.responses import Response

from tidings.model.errors import TidingsError

BUSY = (429, 503)


class Envelope(Response):
    """JSON that ends its line: people read it in a shell."""

    def __init__(self, content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        document = orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE)
        super().__init__(document, status, headers, "application/json")


def refusal(error: TidingsError, headers: Mapping[str, str] | None = None) -> Envelope:
    """An error as the client sees it; one who came at a bad moment is asked to come back."""
    later = {"retry-after": "1"} if error.status in BUSY else {}
    return Envelope(error.to_json(), error.status, {**later, **(headers or {})})
