"""Reads the answers of the Subscribe language from bytes, in a client."""

from typing import Any

import msgspec

from tidings.model.formats.results.json import Bindings, Head, ResultsDocument
from tidings.protocol.answers import (
    Answer,
    Cancelled,
    DelayedAccepted,
    Notification,
    Prepared,
    QueryAnswer,
    Unsubscribed,
    UpdateDone,
)
from tidings.protocol.echo import Alias
from tidings.protocol.errors import BadMessage, error_of


class _Response(msgspec.Struct):
    """An answer of any kind: its members tell which."""

    sequence: int | None = None
    time: int = 0
    added: int = 0
    removed: int = 0
    delayed: str | None = None
    cancelled: str | None = None
    prepared: str | None = None
    variables: tuple[str, ...] = ()
    head: Head | None = None
    results: Bindings | None = None
    boolean: bool | None = None
    alias: Alias = None


class _Message(msgspec.Struct):
    notification: Notification | None = None
    unsubscribed: Unsubscribed | None = None
    response: _Response | None = None
    error: Any = None


_DECODER = msgspec.json.Decoder(_Message)


def decode_answer(document: bytes | memoryview) -> Answer | None:
    """Read an answer. Returns None if its kind is newer than this client. Raises BadMessage."""
    try:
        message = _DECODER.decode(document)
        if message.error is not None:
            return error_of(msgspec.json.decode(document, type=dict[str, Any]))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadMessage(f"the answer cannot be read: {error}") from error
    if message.notification is not None:
        return message.notification
    if message.response is not None:
        return _response(message.response)
    return message.unsubscribed


def _response(told: _Response) -> Answer | None:
    match told:
        case _Response(head=Head() as head):
            return QueryAnswer(ResultsDocument(head, told.results, told.boolean), told.alias)
        case _Response(boolean=bool(truth)):
            return QueryAnswer(ResultsDocument(boolean=truth), told.alias)
        case _Response(prepared=str(name)):
            return Prepared(name, told.variables, told.alias)
        case _Response(delayed=str(name)):
            return DelayedAccepted(name, told.time, told.alias)
        case _Response(cancelled=str(name)):
            return Cancelled(name, told.alias)
        case _Response(sequence=int(sequence)):
            return UpdateDone(sequence, told.time, told.added, told.removed, told.alias)
        case _:
            return None
