"""Notifications as bytes. Only here does a Z-set become `addedResults` and `removedResults`.

A notification is encoded once for all subscribers with the same answer; what differs, its beginning, is put in front:

    SPLICE % (head, sequence, body)
"""

import msgspec
import orjson

from tidings.model.formats.results.json import bindings_json
from tidings.model.results import Row
from tidings.model.zset import ZSet
from tidings.protocol.echo import Alias

SPLICE = b"%b%d%b"
"""For whoever sends thousands: no call at all."""


def head(spuid: str, alias: Alias) -> bytes:
    """How all notifications to a subscriber begin."""
    echo = b"" if alias is None else b',"alias":' + msgspec.json.encode(alias)
    return b'{"notification":{"spuid":%b%b,"sequence":' % (orjson.dumps(spuid), echo)


def body(variables: tuple[str, ...], changes: ZSet[Row], commit: int, time: int, reason: str | None = None) -> bytes:
    """What all notifications of a change have in common; `reason` is said where it was not the data that changed."""
    why = "" if reason is None else f',"reason":{orjson.dumps(reason).decode()}'
    names = f'{{"head":{{"vars":{orjson.dumps(variables).decode()}}},"results":{{"bindings":['
    return (
        f',"addedResults":{names}{bindings_json(variables, changes.added())}]}}}}'
        f',"removedResults":{names}{bindings_json(variables, changes.removed())}]}}}}'
        f',"commit":{commit},"time":{time}{why}}}}}'
    ).encode()


def first_answer(head: bytes, sequence: int, body: bytes, resumed: bool | None) -> bytes:
    """The notification that answers a request; `resumed` is said to one who came back."""
    if resumed is None:
        return SPLICE % (head, sequence, body)
    return b'%b%d,"resumed":%b%b' % (head, sequence, b"true" if resumed else b"false", body)
