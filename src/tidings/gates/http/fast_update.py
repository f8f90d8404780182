"""The short way in for the commonest request: an update by POST, from a program.

It answers as the long way does, without what such a request has no use for: routing, CORS, compression.
"""

import logging
from collections.abc import Iterable

import orjson
from starlette.types import ASGIApp, Receive, Scope, Send

from tidings.broker.broker import Broker
from tidings.gates.asking import Guard
from tidings.gates.http.limits import collect, read_aside
from tidings.gates.http.responses import advice
from tidings.gates.http.security.identification import asker_now, asker_of, judged
from tidings.gates.http.updates import publish
from tidings.gates.quotas import Quotas
from tidings.model.errors import BadRequest, TidingsError, internal_error
from tidings.protocol.sparql_http import DelayedUpdateRequest, RehearsalRequest, UpdateRequest

_JSON = (b"content-type", b"application/json")
_LONG_WAY = frozenset({b"origin", b"content-encoding"})

log = logging.getLogger("tidings")


class FastUpdate:
    """Takes `POST /update` itself, and hands everything else on."""

    def __init__(
        self, app: ASGIApp, broker: Broker, guard: Guard, quotas: Quotas, *, base: str, max_body: int, read_only: bool
    ) -> None:
        self._app = app
        self._broker = broker
        self._guard = guard
        self._quotas = quotas
        self._base = base
        self._max_body = max_body
        self._read_only = read_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != "/update" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        if not _LONG_WAY.isdisjoint(headers):
            await self._app(scope, receive, send)
            return
        try:
            asker_of(scope)
            body = await collect(headers.get(b"content-length"), receive, self._max_body)
            await asker_now(self._guard, scope)
            content_type = headers.get(b"content-type", b"").decode("latin-1")
            request = await read_aside(content_type, scope["query_string"], body, self._base)
            if not isinstance(request, UpdateRequest | DelayedUpdateRequest | RehearsalRequest):
                raise BadRequest("/update takes no query; /query does")  # noqa: TRY301 -- as every other path says it
            await _answer(
                send, 200, await publish(self._broker, self._guard, request, scope, read_only=self._read_only)
            )
        except TidingsError as error:
            self._quotas.note(error)
            await _refuse(send, judged(self._guard, scope, error))
        except Exception:
            log.exception("internal error while handling an HTTP request")
            await _refuse(send, internal_error())


async def _refuse(send: Send, error: TidingsError) -> None:
    advised = [(name.encode(), value.encode()) for name, value in advice(error).items()]
    await _answer(send, error.status, orjson.dumps(error.to_json()), advised)


async def _answer(send: Send, status: int, document: bytes, advised: Iterable[tuple[bytes, bytes]] = ()) -> None:
    headers = [_JSON, (b"content-length", b"%d" % (len(document) + 1)), *advised]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": document + b"\n"})
