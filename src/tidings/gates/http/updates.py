"""An update that came over HTTP: now, or in its time."""

from collections.abc import Mapping

import orjson

from tidings.broker.broker import Broker
from tidings.model.errors import BadRequest, NotAllowed
from tidings.model.publishers import HEADER, publisher_name
from tidings.protocol.instants import Instant
from tidings.protocol.notifications import delayed_json, outcome
from tidings.protocol.sparql_http import Asked

_HEADER = HEADER.lower().encode()


async def publish(broker: Broker, asked: Asked, headers: Mapping[bytes, bytes], *, read_only: bool) -> bytes:
    """Carry an update out, or accept it for later; the answer. Raises what is wrong with it."""
    if asked.kind != "update" or asked.text is None:
        raise BadRequest(f"/update takes no {asked.kind}; /{asked.kind} does")
    if read_only:
        raise NotAllowed("this endpoint is read-only")
    publisher = publisher_of(headers)
    at = None
    if asked.at is not None or asked.delay is not None:
        at = Instant.of(asked.at, asked.delay, broker.now())
    if at is None:
        return outcome(await broker.update(asked.text, asked.dataset, publisher), None)
    return orjson.dumps({"response": delayed_json(await broker.delay(asked.text, asked.dataset, at, publisher))})


def publisher_of(headers: Mapping[bytes, bytes]) -> str | None:
    """Who sends a request, if it says so. Raises BadRequest."""
    sent = headers.get(_HEADER)
    if sent is None:
        return None
    try:
        return publisher_name(sent.decode())
    except UnicodeDecodeError as error:
        raise BadRequest(f"{HEADER} is not UTF-8: {error}") from error
