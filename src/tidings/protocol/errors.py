"""Writes and reads errors on the wire: the same JSON envelope over HTTP and over WebSocket.

    {"error": code, "status_code": status, "error_description": text, …data…, "alias": …, "spuid": …}

The data of an error are separate members, such as `"oldest": 7`, for programs, which should not parse the text.

BadRequest
└── BadMessage           bad_message           400   a message of the Subscribe language is invalid
"""

from typing import Any

import msgspec

from tidings.model.errors import BadRequest, TidingsError
from tidings.protocol.echo import NO_ECHO, Alias, Echo

_ENVELOPE = frozenset({"error", "status_code", "error_description", "alias", "spuid"})
UNNAMED = "refused"
"""The code of an error that has none of its own, for example from an endpoint."""


_LONGEST_TEXT = 2_000
"""The most characters of a foreign error text that a message quotes: some servers send a whole page."""


def brief(text: str) -> str:
    """A foreign text to be quoted in a message of ours: shortened to its beginning and its end if it is too long."""
    if len(text) <= _LONGEST_TEXT:
        return text
    cut = len(text) - _LONGEST_TEXT
    return f"{text[: _LONGEST_TEXT * 3 // 4]} … {cut:,} characters left out … {text[-_LONGEST_TEXT // 4 :]}"


class BadMessage(BadRequest):
    code = "bad_message"


class Refusal(msgspec.Struct, frozen=True):
    """An error as the client gets it."""

    code: str
    status: int
    description: str
    data: dict[str, Any] = {}
    alias: Alias = None
    spuid: str | None = None

    @classmethod
    def of(cls, error: TidingsError, echo: Echo = NO_ECHO) -> "Refusal":
        """An error as the answer to a request."""
        content = error.to_json()
        data = {name: value for name, value in content.items() if name not in _ENVELOPE}
        return cls(content["error"], content["status_code"], content["error_description"], data, echo.alias, echo.spuid)

    def to_json(self) -> dict[str, Any]:
        content = {"error": self.code, "status_code": self.status, "error_description": self.description, **self.data}
        if self.alias is not None:
            content["alias"] = self.alias
        if self.spuid is not None:
            content["spuid"] = self.spuid
        return content


def decode_error(document: bytes, status: int = 500) -> Refusal | None:
    """Read an error from a document; None if the document is none. `status` is that of the HTTP response."""
    try:
        content = msgspec.json.decode(document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return error_of(content, status) if isinstance(content, dict) and content.get("error") is not None else None


def error_of(content: dict[str, Any], status: int = 500) -> Refusal:
    """The same for a document that is parsed already."""
    error, told, text = content["error"], content.get("status_code"), content.get("error_description")
    if isinstance(error, dict):  # the first brokers wrote {"error": {"body": text, "code": status}}
        told, text = error.get("code"), error.get("body")
    alias, spuid = content.get("alias"), content.get("spuid")
    return Refusal(
        error if isinstance(error, str) else UNNAMED,
        told if isinstance(told, int) else status,
        str(error if text is None else text),
        {name: value for name, value in content.items() if name not in _ENVELOPE},
        alias if isinstance(alias, str | int | float) else None,
        spuid if isinstance(spuid, str) else None,
    )
