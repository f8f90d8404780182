"""An update that came over HTTP: now, or in its time."""

from collections.abc import Mapping
from typing import assert_never

from starlette.types import Scope

from tidings.broker.broker import Broker
from tidings.gates.answers import delayed_answer, update_answer
from tidings.gates.asking import Guard
from tidings.gates.http.security.identification import asker_of, deed_of
from tidings.model.errors import BadRequest, NotAllowed
from tidings.model.publishers import HEADER, publisher_name
from tidings.protocol.answers import encode
from tidings.protocol.sparql_http import DelayedUpdateRequest, UpdateRequest

_HEADER = HEADER.lower().encode()


async def publish(
    broker: Broker, guard: Guard, request: UpdateRequest | DelayedUpdateRequest, scope: Scope, *, read_only: bool
) -> bytes:
    """Carry an update out, or accept it for later; the answer. Raises what is wrong with it."""
    if read_only:
        raise NotAllowed("this endpoint is read-only")
    asker = asker_of(scope)
    publisher, rights = asker.publisher(publisher_of(dict(scope["headers"]))), asker.rights
    match request:
        case UpdateRequest(text, dataset):
            done = await broker.update(text, dataset, publisher, rights)
            if guard.asks:
                guard.judge(asker, deed_of(scope, commit=done.commit))
            return encode(update_answer(done))
        case DelayedUpdateRequest(text, due, dataset):
            at = due.instant(broker.now())
            delayed = await broker.delay(text, dataset, at, publisher, owner=asker.subject, rights=rights)
            if guard.asks:
                guard.judge(asker, deed_of(scope, target=delayed.id))
            return encode(delayed_answer(delayed))
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
