"""Errors on the wire, the same over HTTP and WebSocket, and back: the envelope that every broker and client knows.

    {"error": code, "status_code": status, "error_description": text, …data…, "alias": …, "spuid": …}

An error's data are members of their own, as in `"oldest": 7`: programs read these, and never the text.

BadRequest
└── BadMessage           bad_message           400   a message of the Subscribe language that makes no sense
"""

from typing import Any

import msgspec

from tidings.model.errors import BadRequest, TidingsError
from tidings.protocol.echo import NO_ECHO, Alias, Echo

_ENVELOPE = frozenset({"error", "status_code", "error_description", "alias", "spuid"})
UNNAMED = "refused"
"""The code of an error that came without one, as from an endpoint of another make."""


_LONGEST_TEXT = 2_000
"""Characters of what somebody else says that people are shown: some send a whole page, or the request back."""


def brief(text: str) -> str:
    """A text of others for a message of ours: its beginning, and its end if it is too long."""
    if len(text) <= _LONGEST_TEXT:
        return text
    cut = len(text) - _LONGEST_TEXT
    return f"{text[: _LONGEST_TEXT * 3 // 4]} … {cut:,} characters left out … {text[-_LONGEST_TEXT // 4 :]}"


class BadMessage(BadRequest):
    code = "bad_message"


class Refusal(msgspec.Struct, frozen=True):
    """An error as its client sees it."""

    code: str
    status: int
    description: str
    data: dict[str, Any] = {}
    alias: Alias = None
    spuid: str | None = None

    @classmethod
    def of(cls, error: TidingsError, echo: Echo = NO_ECHO) -> "Refusal":
        """What went wrong, as the answer to a request."""
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
    """The error that a document tells of, else None; `status` is that of the answer it came in."""
    try:
        content = msgspec.json.decode(document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return error_of(content, status) if isinstance(content, dict) and content.get("error") is not None else None


def error_of(content: dict[str, Any], status: int = 500) -> Refusal:
    """The same for a document that has been read already."""
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
