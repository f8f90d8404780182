"""Carries out, delays or rehearses an update that came over HTTP."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias, assert_never

import orjson
from starlette.types import Scope

from tidings.broker.broker import Broker
from tidings.broker.updates.rehearsal import Rehearsal
from tidings.gates.answers import delayed_answer, update_answer
from tidings.gates.asking import Guard
from tidings.gates.http.limits import share_of
from tidings.gates.http.security.identification import asker_of, deed_of
from tidings.model.errors import BadRequest, NotAllowed
from tidings.model.publishers import HEADER, publisher_name
from tidings.model.terms import Quad
from tidings.protocol.answers import encode
from tidings.protocol.sparql_http import DelayedUpdateRequest, RehearsalRequest, UpdateRequest

Published: TypeAlias = UpdateRequest | DelayedUpdateRequest | RehearsalRequest

_HEADER = HEADER.lower().encode()


async def publish(broker: Broker, guard: Guard, request: Published, scope: Scope, *, read_only: bool) -> bytes:
    """Carry out, delay or rehearse an update. Returns the answer; raises what is wrong with the update."""
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
        case RehearsalRequest(text, dataset):
            return _rehearsed(await broker.rehearse(text, dataset, rights, share_of(scope)))
        case _:
            assert_never(request)


def _rehearsed(rehearsal: Rehearsal) -> bytes:
    """A rehearsal as JSON, with quads as in the feed of commits."""
    counts = {"dry_run": True, "added": rehearsal.added, "removed": rehearsal.removed}
    quads = {"add": _written(rehearsal.add), "remove": _written(rehearsal.remove)}
    return orjson.dumps({"response": counts | quads})


def _written(quads: Iterable[Quad]) -> list[dict[str, str]]:
    return [{"s": s, "p": p, "o": o, "g": g} for s, p, o, g in quads]


def publisher_of(headers: Mapping[bytes, bytes]) -> str | None:
    """The publisher that the headers of a request name, if any. Raises BadRequest."""
    sent = headers.get(_HEADER)
    if sent is None:
        return None
    try:
        return publisher_name(sent.decode())
    except UnicodeDecodeError as error:
        raise BadRequest(f"{HEADER} is not UTF-8: {error}") from error
