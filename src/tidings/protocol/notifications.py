"""Encodes notifications: turns the Z-set of a change into `addedResults` and `removedResults`.

The body of a notification is encoded once for all subscribers with the same answer. The head differs by subscriber:

    SPLICE % (head, sequence, body)
"""

import msgspec
import orjson

from tidings.model.formats.results.json import bindings_json
from tidings.model.results import Row
from tidings.model.zset import ZSet
from tidings.protocol.echo import Alias

SPLICE = b"%b%d%b"
"""A template, so that a gate that sends thousands of notifications needs no function call for each."""


def head(spuid: str, alias: Alias) -> bytes:
    """The beginning of all notifications to a subscriber."""
    echo = b"" if alias is None else b',"alias":' + msgspec.json.encode(alias)
    return b'{"notification":{"spuid":%b%b,"sequence":' % (orjson.dumps(spuid), echo)


def body(variables: tuple[str, ...], changes: ZSet[Row], commit: int, time: int, reason: str | None = None) -> bytes:
    """The part that all notifications of a change have in common. `reason` tells why, if the data did not change."""
    why = "" if reason is None else f',"reason":{orjson.dumps(reason).decode()}'
    names = f'{{"head":{{"vars":{orjson.dumps(variables).decode()}}},"results":{{"bindings":['
    return (
        f',"addedResults":{names}{bindings_json(variables, changes.added())}]}}}}'
        f',"removedResults":{names}{bindings_json(variables, changes.removed())}]}}}}'
        f',"commit":{commit},"time":{time}{why}}}}}'
    ).encode()


def first_answer(head: bytes, sequence: int, body: bytes, resumed: bool | None) -> bytes:
    """The notification that answers a subscribe request. `resumed` tells whether an old subscription was resumed."""
    if resumed is None:
        return SPLICE % (head, sequence, body)
    return b'%b%d,"resumed":%b%b' % (head, sequence, b"true" if resumed else b"false", body)
