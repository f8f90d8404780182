"""An update that came over HTTP: now, or in its time."""

from collections.abc import Mapping
from typing import assert_never

from tidings.broker.broker import Broker
from tidings.gates.answers import delayed_answer, update_answer
from tidings.model.errors import BadRequest, NotAllowed
from tidings.model.publishers import HEADER, publisher_name
from tidings.protocol.answers import encode
from tidings.protocol.sparql_http import DelayedUpdateRequest, UpdateRequest

_HEADER = HEADER.lower().encode()


async def publish(
    broker: Broker, request: UpdateRequest | DelayedUpdateRequest, headers: Mapping[bytes, bytes], *, read_only: bool
) -> bytes:
    """Carry an update out, or accept it for later; the answer. Raises what is wrong with it."""
    if read_only:
        raise NotAllowed("this endpoint is read-only")
    publisher = publisher_of(headers)
    match request:
        case UpdateRequest(text, dataset):
            return encode(update_answer(await broker.update(text, dataset, publisher)))
        case DelayedUpdateRequest(text, due, dataset):
            at = due.instant(broker.chronicle.clock())
            return encode(delayed_answer(await broker.delay(text, dataset, at, publisher)))
        case _:
            assert_never(request)


def publisher_of(headers: Mapping[bytes, bytes]) -> str | None:
    """Who sends a request, if it says so. Raises BadRequest."""
    sent = headers.get(_HEADER)
    if sent is None:
        return None
    try:
        return publisher_name(sent.decode())
    except UnicodeDecodeError as error:
        raise BadRequest(f"{HEADER} is not UTF-8: {error}") from error
