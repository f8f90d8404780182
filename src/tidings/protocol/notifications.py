"""Answers of the Subscribe language as bytes. Only here does a Z-set become `addedResults` and `removedResults`.

A notification is encoded once for all subscribers with the same answer; what differs, its beginning, is put in front.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec
import orjson

from tidings.broker.subscriptions.subscriber import Alias, Parcel, Subscriber
from tidings.broker.updates.accepted import Done, Outcome
from tidings.broker.updates.schedule import Delayed
from tidings.model.errors import TidingsError
from tidings.model.formats.results_json import bindings_json
from tidings.protocol.instants import shown

_WHOLE_TEXT = 0x81
_LONG = 1 << 16


def notification(subscriber: Subscriber, sequence: int, parcel: Parcel, resumed: bool | None = None) -> bytes:
    """A notification; `resumed` is said in the answer to one who came back."""
    head = subscriber.head
    if head is None:
        head = subscriber.head = _head(subscriber)
    body = parcel.body
    if body is None:
        body = parcel.body = encoded(parcel)
    if resumed is not None:
        return b'%b%d,"resumed":%b%b' % (head, sequence, b"true" if resumed else b"false", body)
    return b"%b%d%b" % (head, sequence, body)


@cache
def _short_frame(size: int) -> bytes:
    return bytes((_WHOLE_TEXT, size)) if size < 126 else bytes((_WHOLE_TEXT, 126)) + size.to_bytes(2, "big")


def frame(size: int) -> bytes:
    """The header of a WebSocket frame from a server: one whole text of so many bytes (RFC 6455, section 5.2)."""
    if size < _LONG:
        return _short_frame(size)
    return bytes((_WHOLE_TEXT, 127)) + size.to_bytes(8, "big")


def _head(subscriber: Subscriber) -> bytes:
    alias = b"" if subscriber.alias is None else b',"alias":' + msgspec.json.encode(subscriber.alias)
    return b'{"notification":{"spuid":%b%b,"sequence":' % (orjson.dumps(subscriber.spuid), alias)


def encoded(parcel: Parcel) -> bytes:
    """What all notifications of a change have in common."""
    variables = parcel.variables
    head = f'{{"head":{{"vars":{orjson.dumps(variables).decode()}}},"results":{{"bindings":['
    changes = parcel.changes
    return (
        f',"addedResults":{head}{bindings_json(variables, changes.added())}]}}}}'
        f',"removedResults":{head}{bindings_json(variables, changes.removed())}]}}}}'
        f',"commit":{parcel.commit},"time":{parcel.time}}}}}'
    ).encode()


def response(content: Mapping[str, Any], alias: Alias) -> bytes:
    return msgspec.json.encode({"response": content if alias is None else {**content, "alias": alias}})


def outcome(result: Outcome, alias: Alias) -> bytes:
    """The answer to an update."""
    if not isinstance(result, Done):
        return refusal(result, alias)
    echo = b"" if alias is None else b',"alias":' + msgspec.json.encode(alias)
    return b'{"response":{"sequence":%d,"time":%d,"added":%d,"removed":%d%b}}' % (
        result.commit, result.time, result.added, result.removed, echo,
    )  # fmt: skip


def refusal(error: TidingsError, alias: Alias, spuid: str | None = None) -> bytes:
    """An error; without its alias nobody on a shared socket would know whose it is."""
    content = error.to_json()
    if alias is not None:
        content["alias"] = alias
    if spuid is not None:
        content["spuid"] = spuid
    return msgspec.json.encode(content)  # an alias may be a number that is larger than orjson can write


def delayed_json(delayed: Delayed) -> dict[str, Any]:
    """A delayed update as clients see it."""
    return {"delayed": delayed.id, "at": shown(delayed.at), "time": delayed.at}
