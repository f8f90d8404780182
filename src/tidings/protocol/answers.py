"""Answers of the Subscribe language, most of them the answers over HTTP as well.

    {"notification": {"spuid": …, "alias": …, "sequence": …, "addedResults": {…}, "removedResults": {…}, …}}
    {"response": {"sequence": …, "time": …, "added": …, "removed": …, "alias": …}}          an update
    {"response": {"events": …, "matched": …, "alias": …}}                                   events
    {"response": {"delayed" | "cancelled" | "prepared" | "head": …, "alias": …}}            other requests
    {"unsubscribed": {"spuid": …}}        {"error": …}

`encode` is for answers to one client. For notifications to thousands of clients and long answers to queries, no such
value is made: `notifications` and `query_answer` join bytes that exist already.
"""

from typing import Any, TypeAlias, assert_never

import msgspec

from tidings.model.formats.results.json import ResultsDocument
from tidings.protocol.echo import Alias
from tidings.protocol.errors import Refusal
from tidings.protocol.instants import shown


class Notification(msgspec.Struct, frozen=True, rename={"added": "addedResults", "removed": "removedResults"}):
    """Rows that were added to an answer, and rows that were removed. Other brokers may send neither commit nor time."""

    spuid: str
    sequence: int
    added: ResultsDocument = msgspec.field(default_factory=ResultsDocument)
    removed: ResultsDocument = msgspec.field(default_factory=ResultsDocument)
    commit: int | None = None
    time: int | None = None
    resumed: bool | None = None
    """In the answer to a client that asked to resume: whether the subscription was resumed."""
    alias: Alias = None
    reason: str | None = None
    """Why the answer changed, if not because of the data: the rights of the subscriber have changed."""


class Unsubscribed(msgspec.Struct, frozen=True):
    """The end of a subscription. If there is a reason, the broker ended it."""

    spuid: str
    alias: Alias = None
    reason: str | None = None


class UpdateDone(msgspec.Struct, frozen=True):
    """The commit of the update, its time, and how many quads it added and removed."""

    sequence: int
    time: int
    added: int
    removed: int
    alias: Alias = None


class EventsPublished(msgspec.Struct, frozen=True):
    """How many events were published, and how many rows they added to subscriptions, in all."""

    events: int
    matched: int
    alias: Alias = None


class DelayedAccepted(msgspec.Struct, frozen=True):
    """An update that will be carried out at an instant, in microseconds since 1970."""

    delayed: str
    time: int
    alias: Alias = None

    def to_json(self) -> dict[str, Any]:
        return {"delayed": self.delayed, "at": shown(self.time), "time": self.time}


class Cancelled(msgspec.Struct, frozen=True):
    delayed: str
    alias: Alias = None


class Prepared(msgspec.Struct, frozen=True):
    """The name under which the text of an update is kept, and the variables that can be bound."""

    prepared: str
    variables: tuple[str, ...]
    alias: Alias = None


class QueryAnswer(msgspec.Struct, frozen=True):
    """Rows, or the truth of an ASK."""

    results: ResultsDocument
    alias: Alias = None


Answer: TypeAlias = (
    Notification
    | Unsubscribed
    | UpdateDone
    | DelayedAccepted
    | Cancelled
    | Prepared
    | EventsPublished
    | QueryAnswer
    | Refusal
)

_encode = msgspec.json.encode  # an alias may be a number that is larger than orjson can write


def encode(answer: Answer) -> bytes:
    match answer:
        case UpdateDone():  # the commonest first
            return _update_done(answer)
        case Notification():
            return _encode({"notification": _notification(answer)})
        case Unsubscribed(spuid, alias, reason):
            why = {} if reason is None else {"reason": reason}
            return _encode({"unsubscribed": {"spuid": spuid} | _echo(alias) | why})
        case DelayedAccepted(alias=alias):
            return _response(answer.to_json(), alias)
        case Cancelled(delayed, alias):
            return _response({"cancelled": delayed}, alias)
        case Prepared(prepared, variables, alias):
            return _response({"prepared": prepared, "variables": variables}, alias)
        case EventsPublished(events, matched, alias):
            return _response({"events": events, "matched": matched}, alias)
        case QueryAnswer(results, alias):
            return _response(msgspec.to_builtins(results), alias)
        case Refusal():
            return _encode(answer.to_json())
        case _:
            assert_never(answer)


def query_answer(document: bytes, alias: Alias) -> bytes:
    """The answer to a query, around SPARQL results that are JSON already: they may be long."""
    if alias is None:
        return b'{"response":%b}' % document
    return b"".join((b'{"response":', memoryview(document)[:-1], b',"alias":', _encode(alias), b"}}"))


def _response(content: dict[str, Any], alias: Alias) -> bytes:
    return _encode({"response": content | _echo(alias)})


def _echo(alias: Alias) -> dict[str, Any]:
    return {} if alias is None else {"alias": alias}


def _update_done(done: UpdateDone) -> bytes:
    echo = b"" if done.alias is None else b',"alias":' + _encode(done.alias)
    return b'{"response":{"sequence":%d,"time":%d,"added":%d,"removed":%d%b}}' % (
        done.sequence, done.time, done.added, done.removed, echo,
    )  # fmt: skip


def _notification(answer: Notification) -> dict[str, Any]:
    content = {"spuid": answer.spuid, **_echo(answer.alias), "sequence": answer.sequence}
    if answer.resumed is not None:
        content["resumed"] = answer.resumed
    content |= {"addedResults": answer.added, "removedResults": answer.removed}
    return content | {
        name: value for name in ("commit", "time", "reason") if (value := getattr(answer, name)) is not None
    }
