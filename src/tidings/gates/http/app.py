"""The HTTP application: the SPARQL 1.1 Protocol at `/query`, `/update` and `/sparql` (both), and all other routes.

    bytes -> HttpRequest (protocol) -> Broker -> Spool -> bytes

Every error is the JSON envelope of `TidingsError.to_json`, with its status.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route

from tidings.broker.broker import Broker
from tidings.gates.asking import OPEN, Guard
from tidings.gates.errors import MethodNotAllowed
from tidings.gates.figures import Figures, no_figures
from tidings.gates.gate import Gate
from tidings.gates.http.events import Events
from tidings.gates.http.forwarded import PROXIED
from tidings.gates.http.graph_store import GraphStore
from tidings.gates.http.limits import Admission, read_aside, read_body, share_of
from tidings.gates.http.monitoring.admin import Operations
from tidings.gates.http.page import Dashboard
from tidings.gates.http.responses import Envelope, refusal
from tidings.gates.http.results import chosen, content_type, document
from tidings.gates.http.routing import accept_of, route, while_present
from tidings.gates.http.security.identification import asker_now, asker_of, judged
from tidings.gates.http.sending import SpoolResponse
from tidings.gates.http.service_description import LDP_INBOX, PREFIXES, describe
from tidings.gates.http.streaming.event_stream import EventStreams
from tidings.gates.http.streaming.feed import Feeds
from tidings.gates.http.streaming.streams import Streams
from tidings.gates.http.updates import publish
from tidings.gates.quotas import Quota, Quotas
from tidings.gates.visitors import OF_SECURITY, SECURE, SECURE_IS_OFF, Visitors
from tidings.model.access import Graphs
from tidings.model.errors import BadRequest, NotFound, RequestTooComplex, TidingsError, internal_error
from tidings.model.formats.grammar import ABSOLUTE_IRI
from tidings.model.formats.rdf import RdfFormat, serialize_rdf
from tidings.model.iris import resolve
from tidings.protocol.sparql_http import (
    DelayedUpdateRequest,
    DescriptionRequest,
    HttpRequest,
    Kind,
    QueryRequest,
    RehearsalRequest,
    UpdateRequest,
    read_get,
)

_OPEN = ("/healthz", "/metrics", "/subscribe", "/log")
"""Paths that the limit on concurrent requests does not refuse: monitoring, and streams, which count as connections."""
_EITHER: tuple[Kind, ...] = ("query", "update")


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """The limits of the gate: sizes, numbers, allowed hosts and origins, and whether it takes updates."""

    base: str
    max_body: int
    max_requests: int
    read_only: bool
    loads: bool
    cors: tuple[str, ...]
    visitors: Visitors
    max_connections: int = 20_000
    high_water: int = 1 << 18
    """Unsent bytes of an event stream above which it counts as slow."""
    ping: float = 20.0
    ws_port: int | None = None
    """The port of the WebSocket gate, if there is one."""
    wss_port: int | None = None
    """The port of the WebSocket gate for clients with TLS."""
    inbox: str | None = None
    """The path of the inbox for Linked Data Notifications, if there is one."""
    figures: Figures = no_figures
    """Figures of other parts, for /metrics."""


class HttpGate:
    """The handlers and routes for one broker."""

    def __init__(
        self,
        broker: Broker,
        settings: HttpSettings,
        guard: Guard = OPEN,
        routes: Iterable[BaseRoute] = (),
        quotas: Quotas | None = None,
        gates: Sequence[Gate] = (),
    ) -> None:
        self._broker = broker
        self._guard = guard
        self.quotas = quotas or Quotas(Quota(), time.monotonic)
        self.visitors = settings.visitors
        self._gates = gates
        self._routes = (*routes, *(each for gate in gates for each in gate.routes()))
        self._settings = settings
        self._streams = Streams(broker, settings.max_connections)
        self._events = EventStreams(
            broker, self._streams, guard, base=settings.base, high_water=settings.high_water, ping=settings.ping
        )
        self._feeds = Feeds(broker, self._streams, guard, ping=settings.ping)
        self._graphs = GraphStore(
            broker, guard, base=settings.base, max_body=settings.max_body, read_only=settings.read_only
        )
        self._dashboard = Dashboard()
        self._posted = Events(
            broker, guard, base=settings.base, max_body=settings.max_body, read_only=settings.read_only
        )
        self._operations = Operations(
            broker, guard, self.quotas, read_only=settings.read_only, figures=settings.figures, gates=gates
        )

    def end(self) -> None:
        """End the event streams and feeds. Other requests go on."""
        self._streams.end()

    def app(self) -> Starlette:
        routes: list[BaseRoute] = [
            route("/", self._root, "GET", "HEAD", public=True),
            self._route("/query", ("query",), "GET", "HEAD", "POST"),
            self._route("/update", ("update",), "POST"),
            self._route("/sparql", _EITHER, "GET", "HEAD", "POST"),
            route("/check", self._check, "GET", "HEAD", "POST"),
            route("/subscribe", self._events.subscribe, "GET", "HEAD"),
            route("/events", self._posted.publish, "POST"),
            route("/log", self._feeds.log, "GET", "HEAD"),
            route("/openapi.json", self._openapi, "GET", "HEAD", public=True),
            *self._dashboard.routes(),
            *self._graphs.routes(),
            *self._operations.routes(),
            *self._routes,
        ]
        if self._guard.asks:
            routes.append(Mount(SECURE, routes=routes.copy()))
        middleware = [
            Middleware(CORSMiddleware, allow_origins=self._settings.cors, allow_methods=["*"], allow_headers=["*"]),
            Middleware(
                Admission,
                most=self._settings.max_requests,
                quotas=self.quotas,
                open_paths=(*_OPEN, *(SECURE + path for path in _OPEN)),
            ),
            Middleware(GZipMiddleware, minimum_size=1024, compresslevel=4),
        ]
        handlers = {TidingsError: self._refusal, HTTPException: self._not_routed, Exception: _accident}
        return Starlette(routes=routes, middleware=middleware, exception_handlers=handlers)

    def _route(self, path: str, kinds: tuple[Kind, ...], *methods: str) -> Route:
        async def handle(request: Request) -> Response:
            asked = await self._read(request)
            match asked:
                case DescriptionRequest():
                    return self._introduce(request, None)
                case QueryRequest():
                    _check_takes(path, kinds, "query")
                    return await self._query(request, asked)
                case UpdateRequest() | DelayedUpdateRequest() | RehearsalRequest():
                    _check_takes(path, kinds, "update")
                    answer = await publish(
                        self._broker, self._guard, asked, request.scope, read_only=self._settings.read_only
                    )
                    return Envelope(orjson.Fragment(answer))
                case _:
                    assert_never(asked)

        return route(path, handle, *methods)

    async def _read(self, request: Request) -> HttpRequest:
        query_string = request.scope["query_string"]
        if request.method != "POST":
            return read_get(query_string, self._settings.base)
        body = await read_body(request, self._settings.max_body)
        await asker_now(self._guard, request.scope)
        return await read_aside(request.headers.get("content-type", ""), query_string, body, self._settings.base)

    async def _query(self, request: Request, asked: QueryRequest) -> Response:
        write, rights = document(accept_of(request), asked.formats), asker_of(request.scope).rights
        asking = self._broker.query(asked.text, asked.dataset, write, rights, share_of(request.scope), asked.at)
        return SpoolResponse(await while_present(request, asking), self._broker.age)

    async def _check(self, request: Request) -> Response:
        """Check a text that a user is writing. A syntax error is a normal answer here, not an error status."""
        asked = await self._read(request)
        if isinstance(asked, DescriptionRequest):
            raise BadRequest("the parameter query or update is missing")
        kind: Kind = "query" if isinstance(asked, QueryRequest) else "update"
        try:
            warnings = await self._broker.check(kind, asked.text, asked.dataset, share_of(request.scope))
        except (BadRequest, RequestTooComplex) as error:
            return Envelope({"valid": False} | error.to_json())
        return Envelope({"valid": True, "warnings": warnings})

    async def _root(self, request: Request) -> Response:
        return self._introduce(request, request.query_params.get("format"))

    def _introduce(self, request: Request, wanted: str | None) -> Response:
        """The page for browsers, the service description for programs."""
        accept = accept_of(request)
        if wanted is None and "text/html" in (accept or ""):
            return self._dashboard.answer()
        format_ = chosen(tuple(RdfFormat), accept, wanted)
        endpoint = _address(request, self._settings.base)
        inbox = None if self._settings.inbox is None else resolve(endpoint, self._settings.inbox)
        triples = describe(
            endpoint,
            self._broker.store,
            updates=not self._settings.read_only,
            loads=self._settings.loads,
            sockets=self._sockets(request),
            inbox=inbox,
            readable=self._readable(request),
        )
        document = b"".join(serialize_rdf(triples, format_, PREFIXES))
        headers = {"vary": "accept"} | ({} if inbox is None else {"link": f'<{inbox}>; rel="{LDP_INBOX}"'})
        return Response(document, media_type=content_type(format_.media), headers=headers)

    async def _openapi(self, _: Request) -> Response:
        from tidings.gates.http.monitoring.openapi import openapi  # here, as it is large, and few clients ask for it

        more = {path: item for gate in self._gates for path, item in gate.paths().items()}
        return Envelope(openapi(secured=self._guard.asks, more=more))

    def _readable(self, request: Request) -> Graphs:
        """The graphs that the service description may list: those that the client may read."""
        try:
            return asker_of(request.scope).rights.read
        except TidingsError:
            return Graphs.NONE

    async def _refusal(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, TidingsError)
        self.quotas.note(error)
        return refusal(judged(self._guard, request.scope, error))

    async def _not_routed(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        path = request.url.path
        if error.status_code == 405:
            return refusal(MethodNotAllowed(f"{path} does not take {request.method}"), error.headers)
        if not self._guard.asks and (path == SECURE or path.startswith(OF_SECURITY)):
            return refusal(NotFound(SECURE_IS_OFF.format(path)), error.headers)
        return refusal(NotFound(f"there is nothing at {path}; try /query, /update or /sparql"), error.headers)

    def _sockets(self, request: Request) -> str | None:
        """The address of the WebSocket gate for this client: through its proxy, or on the same host, at its port."""
        secure = request.url.scheme == "https"
        port, host = self._settings.wss_port if secure else self._settings.ws_port, request.url.hostname or "localhost"
        if port is None:
            return None
        place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        if request.scope.get("state", {}).get(PROXIED):
            place = request.url.netloc
        address = f"{'wss' if secure else 'ws'}://{place}/subscribe"
        return address if ABSOLUTE_IRI.fullmatch(address) else None


# -- where it is ------------------------------------------------------------------------------------------------


def _address(request: Request, base: str) -> str:
    """The address of the endpoint as the client sees it. The Host header is used only if it gives a valid IRI."""
    address = f"{request.url.scheme}://{request.url.netloc}/sparql"
    return address if ABSOLUTE_IRI.fullmatch(address) else resolve(base, "/sparql")


# -- every path -------------------------------------------------------------------------------------------------


def _check_takes(path: str, kinds: tuple[Kind, ...], kind: Kind) -> None:
    if kind not in kinds:
        raise BadRequest(f"{path} takes no {kind}; /{kind} does")


async def _accident(_: Request, __: Exception) -> Response:
    """The response to an unexpected exception: the server logs it, and the client learns no details."""
    return refusal(internal_error())
