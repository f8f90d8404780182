"""Publishing events: POST /events with a JSON object, a list of objects, or an object on each line."""

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from tidings.broker.broker import Broker
from tidings.gates.answers import publish_events
from tidings.gates.asking import Guard
from tidings.gates.http.limits import read_body
from tidings.gates.http.security.identification import asker_now, deed_of
from tidings.model.errors import BadRequest, NotAllowed
from tidings.model.terms import DEFAULT_GRAPH
from tidings.protocol.answers import encode
from tidings.protocol.sparql_http import Parameters, graph

LINES = "application/x-ndjson"


class Events:
    """The handler, on one broker."""

    def __init__(self, broker: Broker, guard: Guard, *, base: str, max_body: int, read_only: bool) -> None:
        self._broker = broker
        self._guard = guard
        self._base = base
        self._max_body = max_body
        self._read_only = read_only

    async def publish(self, request: Request) -> Response:
        if self._read_only:
            raise NotAllowed("this endpoint is read-only")
        named = Parameters(request.scope["query_string"]).one("graph")
        place = DEFAULT_GRAPH if named is None else graph(named, "graph", self._base)
        documents = _documents(await read_body(request, self._max_body), request.headers.get("content-type", ""))
        asker = await asker_now(self._guard, request.scope)
        answer = await publish_events(self._broker, documents, place, asker.rights)
        if self._guard.asks:
            self._guard.judge(asker, deed_of(request.scope, place))
        return Response(encode(answer) + b"\n", media_type="application/json")


def _documents(body: bytes, content_type: str) -> list[Any]:
    try:
        if content_type.partition(";")[0].strip().lower() == LINES:
            return [msgspec.json.decode(line) for line in body.splitlines() if line.strip()]
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"the body is not JSON: {error}") from error
    return document if isinstance(document, list) else [document]
