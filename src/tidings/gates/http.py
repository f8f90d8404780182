"""The SPARQL 1.1 Protocol over HTTP: `/query`, `/update`, and `/sparql` for both.

    bytes -> Asked (protocol) -> SharedCore -> Spool -> bytes

Every error is the JSON envelope of `TidingsError.to_json`, with its status.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from tidings import __version__
from tidings.gates import page
from tidings.gates.admission import Admission, read_body
from tidings.gates.describe import PREFIXES, describe
from tidings.gates.envelope import Envelope, refusal
from tidings.gates.errors import ClientLeft, MethodNotAllowed
from tidings.gates.protocol import Asked, Kind, read_get, read_post
from tidings.gates.shared import SharedCore
from tidings.gates.spool import Spool, SpoolResponse
from tidings.model.errors import BadRequest, NotAllowed, NotFound, TidingsError
from tidings.model.formats.grammar import ABSOLUTE_IRI
from tidings.model.formats.media import F, Media, by_media_type, by_name, negotiate
from tidings.model.formats.rdf import RdfFormat, serialize_rdf
from tidings.model.formats.results import ResultFormat, write_results
from tidings.model.iris import resolve
from tidings.model.results import Boolean, Result, Solutions, Triples

T = TypeVar("T")
Handler = Callable[[Request], Awaitable[Response]]

_EITHER: tuple[Kind, ...] = ("query", "update")


@dataclass(frozen=True, slots=True)
class Terms:
    """On what terms requests are taken."""

    base: str
    max_body: int
    max_requests: int
    read_only: bool
    loads: bool
    cors: tuple[str, ...]


class HttpGate:
    """The handlers, on one shared core."""

    def __init__(self, shared: SharedCore, terms: Terms) -> None:
        self._shared = shared
        self._terms = terms

    def app(self) -> Starlette:
        routes = [
            Route("/", _with_options(self._root, "GET", "HEAD"), methods=["GET", "HEAD", "OPTIONS"]),
            Route("/healthz", _with_options(_health, "GET", "HEAD"), methods=["GET", "HEAD", "OPTIONS"]),
            self._route("/query", ("query",), "GET", "HEAD", "POST"),
            self._route("/update", ("update",), "POST"),
            self._route("/sparql", _EITHER, "GET", "HEAD", "POST"),
        ]
        middleware = [
            Middleware(CORSMiddleware, allow_origins=self._terms.cors, allow_methods=["*"], allow_headers=["*"]),
            Middleware(Admission, most=self._terms.max_requests, open_paths=("/healthz",)),
            Middleware(GZipMiddleware, minimum_size=1024, compresslevel=4),
        ]
        handlers = {TidingsError: _refusal, HTTPException: _not_routed, Exception: _accident}
        return Starlette(routes=routes, middleware=middleware, exception_handlers=handlers)

    def _route(self, path: str, kinds: tuple[Kind, ...], *methods: str) -> Route:
        async def handle(request: Request) -> Response:
            asked = await self._read(request)
            if asked.text is None:
                return self._introduce(request, asked.format)
            if asked.kind not in kinds:
                raise BadRequest(f"{path} takes no {asked.kind}; /{asked.kind} does")
            if asked.kind == "query":
                return await self._query(request, asked, asked.text)
            return await self._update(asked, asked.text)

        return Route(path, _with_options(handle, *methods), methods=[*methods, "OPTIONS"])

    async def _read(self, request: Request) -> Asked:
        query_string = request.scope["query_string"]
        if request.method != "POST":
            return read_get(query_string, self._terms.base)
        body = await read_body(request, self._terms.max_body)
        return read_post(request.headers.get("content-type", ""), query_string, body, self._terms.base)

    async def _query(self, request: Request, asked: Asked, text: str) -> Response:
        accept = _accept(request)

        def write(result: Result) -> Spool:
            return _spool(result, accept, asked.format)

        spool = await _while_present(request, self._shared.query(text, asked.dataset, write))
        return SpoolResponse(spool)

    async def _update(self, asked: Asked, text: str) -> Response:
        if self._terms.read_only:
            raise NotAllowed("this endpoint is read-only")
        done = await self._shared.update(text, asked.dataset)
        return Envelope({"response": {"added": done.added, "removed": done.removed, "time": done.time}})

    async def _root(self, request: Request) -> Response:
        return self._introduce(request, request.query_params.get("format"))

    def _introduce(self, request: Request, wanted: str | None) -> Response:
        """The page for browsers, the service description for programs."""
        accept = _accept(request)
        if wanted is None and "text/html" in (accept or ""):
            return HTMLResponse(page.HTML, headers={"content-security-policy": page.POLICY, "vary": "accept"})
        format_ = _chosen(tuple(RdfFormat), accept, wanted)
        triples = describe(
            _address(request, self._terms.base),
            self._shared.core.store,
            updates=not self._terms.read_only,
            loads=self._terms.loads,
        )
        document = b"".join(serialize_rdf(triples, format_, PREFIXES))
        return Response(document, media_type=_content_type(format_.media), headers={"vary": "accept"})


# -- answers ----------------------------------------------------------------------------------------------------


def _spool(result: Result, accept: str | None, wanted: str | None) -> Spool:
    match result:
        case Solutions() | Boolean():
            results = _chosen(tuple(ResultFormat), accept, wanted)
            return Spool.of(_content_type(results.media), write_results(result, results))
        case Triples(triples):
            rdf = _chosen(tuple(RdfFormat), accept, wanted)
            return Spool.of(_content_type(rdf.media), serialize_rdf(triples, rdf))


def _chosen(formats: Sequence[F], accept: str | None, wanted: str | None) -> F:
    """The format by name or media type, if one was asked for with `?format=`, else by the Accept header."""
    if not wanted:
        return negotiate(accept, formats)
    return by_media_type(formats, wanted) if "/" in wanted else by_name(formats, wanted)


def _content_type(media: Media) -> str:
    name = media.types[0]
    return f"{name}; charset=utf-8" if name.startswith("text/") else name


def _accept(request: Request) -> str | None:
    return ", ".join(request.headers.getlist("accept")) or None


async def _while_present(request: Request, work: Awaitable[T]) -> T:
    """The outcome of the work; if the client leaves meanwhile, the work is given up."""
    try:
        async with asyncio.TaskGroup() as group:
            leaving = group.create_task(_departure(request))
            outcome = await work
            leaving.cancel()
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return outcome


async def _departure(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    raise ClientLeft("the client left before its answer was complete")


def _address(request: Request, base: str) -> str:
    """Where the client found the endpoint; its Host header is not to be trusted with more than an IRI."""
    address = f"{request.url.scheme}://{request.url.netloc}/sparql"
    return address if ABSOLUTE_IRI.fullmatch(address) else resolve(base, "/sparql")


# -- every path -------------------------------------------------------------------------------------------------


def _with_options(handler: Handler, *methods: str) -> Handler:
    allow = ", ".join((*methods, "OPTIONS"))

    async def answer(request: Request) -> Response:
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"allow": allow})
        return await handler(request)

    return answer


async def _health(_: Request) -> Response:
    return Envelope({"status": "ok", "version": __version__})


async def _refusal(_: Request, error: Exception) -> Response:
    assert isinstance(error, TidingsError)
    return refusal(error)


async def _not_routed(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    path = request.url.path
    if error.status_code == 405:
        return refusal(MethodNotAllowed(f"{path} does not take {request.method}"), error.headers)
    return refusal(NotFound(f"nothing lives at {path}; try /query, /update or /sparql"), error.headers)


async def _accident(_: Request, __: Exception) -> Response:
    """Whatever nobody foresaw: the server logs it, and the client learns nothing of our insides."""
    return refusal(TidingsError("something went wrong here; it is in the log"))
