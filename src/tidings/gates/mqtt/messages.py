"""Incoming and outgoing MQTT messages as values, and reading a message as a request.

    <prefix>/update, /query, /subscribe, /unsubscribe     {"sparql": …, "alias": …, "reply": …}, or bare SPARQL
    <prefix>/events                                       an event or a list of such, as JSON

The answer goes to the response topic of MQTT 5, or to the topic in the member `reply`, for clients with MQTT 3.1.1.
"""

from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from tidings.model.errors import BadRequest
from tidings.protocol.echo import NO_ECHO, Echo
from tidings.protocol.errors import BadMessage
from tidings.protocol.message_reading import decode, echo_of
from tidings.protocol.messages import Publish, Request

Kind: TypeAlias = Literal["update", "query", "subscribe", "unsubscribe", "events"]
KINDS: tuple[Kind, ...] = ("update", "query", "subscribe", "unsubscribe", "events")


class Message(Struct, frozen=True):
    """A message that came. `token` is what the link acknowledges it by."""

    topic: str
    payload: bytes
    reply: str | None = None
    correlation: bytes | None = None
    token: int = 0
    """0 needs no acknowledgement."""
    retained: bool = False
    """Whether the MQTT broker had kept it."""


class Publication(Struct, frozen=True):
    """A message to be sent."""

    topic: str
    payload: bytes
    qos: int = 1
    retain: bool = False
    correlation: bytes | None = None


class Extras(Struct, frozen=True):
    """Members of a request that are MQTT's own."""

    reply: str | None = None
    retain: bool = False
    lease: float | None = None


NO_EXTRAS = Extras()
_EXTRAS = msgspec.json.Decoder(Extras)


def read_extras(payload: bytes) -> Extras:
    """What a payload says beside its request. Raises BadMessage."""
    if payload[:1] != b"{":
        return NO_EXTRAS
    try:
        return _EXTRAS.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadMessage(f"the message cannot be read: {error}") from error


def read_request(kind: Kind, payload: bytes) -> Request:
    """What a message asks for. Raises BadMessage, BadRequest."""
    if kind == "events":
        return _events(payload)
    return decode(_wrapped(kind, payload))


def echo_in(kind: Kind, payload: bytes) -> Echo:
    """What an error can repeat of a message that is not understood."""
    return NO_ECHO if kind == "events" else echo_of(_wrapped(kind, payload))


def _wrapped(kind: Kind, payload: bytes) -> bytes:
    """The message of the Subscribe language. A text is no JSON object, and no SPARQL begins with a brace."""
    if payload[:1] != b"{":
        try:
            payload = msgspec.json.encode({"sparql": payload.decode()})
        except UnicodeDecodeError:
            payload = b'""'  # which is refused as what it is: no object
    return b'{"%b":%b}' % (kind.encode(), payload)


def _events(payload: bytes) -> Publish:
    try:
        document: Any = msgspec.json.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"the events are not JSON: {error}") from error
    return Publish(tuple(document) if isinstance(document, list) else (document,))
