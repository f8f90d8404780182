"""Answers of the Subscribe language from bytes: the client's side of `answers`."""

from typing import Any

import msgspec

from tidings.protocol.answers import (
    Answer,
    Cancelled,
    DelayedAccepted,
    Notification,
    Prepared,
    QueryAnswer,
    Table,
    Unsubscribed,
    UpdateDone,
)
from tidings.protocol.echo import Alias
from tidings.protocol.errors import BadMessage, error_of


class _Head(msgspec.Struct):
    vars: tuple[str, ...] = ()


class _Bindings(msgspec.Struct):
    bindings: tuple[dict[str, dict[str, Any]], ...] = ()


class _Results(msgspec.Struct):
    head: _Head = msgspec.field(default_factory=_Head)
    results: _Bindings = msgspec.field(default_factory=_Bindings)

    @property
    def table(self) -> Table:
        return Table(self.head.vars, self.results.bindings)


class _Notification(msgspec.Struct):
    spuid: str
    sequence: int
    added: _Results = msgspec.field(name="addedResults", default_factory=_Results)
    removed: _Results = msgspec.field(name="removedResults", default_factory=_Results)
    commit: int | None = None
    time: int | None = None
    resumed: bool | None = None
    alias: Alias = None


class _Response(msgspec.Struct):
    """Which kind of answer it is shows in what it has."""

    sequence: int | None = None
    time: int = 0
    added: int = 0
    removed: int = 0
    delayed: str | None = None
    cancelled: str | None = None
    prepared: str | None = None
    variables: tuple[str, ...] = ()
    head: _Head | None = None
    results: _Bindings = msgspec.field(default_factory=_Bindings)
    boolean: bool | None = None
    alias: Alias = None


class _Message(msgspec.Struct):
    notification: _Notification | None = None
    unsubscribed: Unsubscribed | None = None
    response: _Response | None = None
    error: Any = None


_DECODER = msgspec.json.Decoder(_Message)


def decode_answer(document: bytes | memoryview) -> Answer | None:
    """What a broker says; None if it is something that only newer clients know. Raises BadMessage."""
    try:
        message = _DECODER.decode(document)
        if message.error is not None:
            return error_of(msgspec.json.decode(document, type=dict[str, Any]))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadMessage(f"the answer cannot be read: {error}") from error
    if message.notification is not None:
        return _notification(message.notification)
    if message.response is not None:
        return _response(message.response)
    return message.unsubscribed


def _notification(told: _Notification) -> Notification:
    return Notification(
        told.spuid, told.sequence, told.added.table, told.removed.table,
        told.commit, told.time, told.resumed, told.alias,
    )  # fmt: skip


def _response(told: _Response) -> Answer | None:
    match told:
        case _Response(boolean=bool(truth)):
            return QueryAnswer(truth, told.alias)
        case _Response(head=_Head(vars=variables)):
            return QueryAnswer(Table(variables, told.results.bindings), told.alias)
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
