"""The HTTP side of an inbox: `POST /inbox/` receives, `GET /inbox/` lists, `GET /inbox/<id>` gives.

    GET /inbox/constraints   the query that a notification has to satisfy
    DELETE /inbox/<id>       removes one, for whoever may write it

The rights of the graphs decide: a client may send if it may write the container's graph and the notification's, and may
look if it may read them.
"""

import asyncio
from collections.abc import Iterable

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from tidings.gates.gate import Counts
from tidings.gates.http.limits import read_body, share_of
from tidings.gates.http.results import chosen, content_type, results_document
from tidings.gates.http.routing import accept_of, route, while_present
from tidings.gates.http.security.identification import asker_now, asker_of, deed_of
from tidings.gates.http.sending import SpoolResponse
from tidings.gates.ldn.inbox import CONSTRAINED_BY, LDP, PAGE, PATH, Inbox, Page, listing
from tidings.gates.ldn.notifications import FORMATS, Reading
from tidings.gates.premises import Premises
from tidings.model.errors import NotAllowed, NotFound, UnsupportedFormat
from tidings.model.formats.rdf import RdfFormat, serialize_rdf
from tidings.model.results import Result, Triples
from tidings.model.terms import Term
from tidings.protocol.instants import shown

ACCEPT_POST = ", ".join(format_.media.types[0] for format_ in FORMATS)
CONSTRAINTS = f"{PATH}constraints"
_CONTAINER = f'<{LDP}Container>; rel="type", <{LDP}Resource>; rel="type"'
_SLOW = 1 << 16
"""Bytes of a document from which on it is read in a thread."""


class Receiver:
    """The handlers, on one broker."""

    def __init__(self, premises: Premises, reading: Reading, counts: Counts) -> None:
        self._premises = premises
        self._broker = premises.broker
        self._guard = premises.guard
        self._reading = reading
        self._counts = counts
        self._inbox = Inbox(premises.base)
        self.received = 0

    def routes(self) -> list[BaseRoute]:
        return [
            route(PATH, self._container, "GET", "HEAD", "POST", headers=self._headers()),
            route(CONSTRAINTS, self._constraints, "GET", "HEAD", public=True),
            route(PATH + "{number}", self._notification, "GET", "HEAD", "DELETE"),
        ]

    def _headers(self) -> dict[str, str]:
        """What every answer about the inbox says of it."""
        links = _CONTAINER
        if self._reading.constraint is not None:
            links += f', <{CONSTRAINTS}>; rel="{CONSTRAINED_BY}"'
        return {"accept-post": ACCEPT_POST, "link": links}

    async def _container(self, request: Request) -> Response:
        self._counts.requests += 1
        try:
            return await (self._receive(request) if request.method == "POST" else self._list(request))
        except BaseException:
            self._counts.errors += 1
            raise

    # -- receiving ------------------------------------------------------------------------------------------------

    async def _receive(self, request: Request) -> Response:
        if self._premises.read_only:
            raise NotAllowed("this broker is read-only")
        sent = request.headers.get("content-type")
        if sent is None:
            raise UnsupportedFormat("the Content-Type is missing; a notification is application/ld+json")
        body = await read_body(request, self._premises.max_body)
        asker = await asker_now(self._guard, request.scope)
        number, now = self._inbox.fresh(), self._broker.now()
        text = await self._update(body, sent, number, now)
        done = await self._broker.update(text, None, asker.publisher(None), asker.rights)
        self.received += 1
        if self._guard.asks:
            self._guard.judge(asker, deed_of(request.scope, self._inbox.name(number), done.commit))
        return Response(status_code=201, headers={"location": _address(request) + number, **self._headers()})

    async def _update(self, body: bytes, sent: str, number: str, now: int) -> str:
        """Read a document, aside if that takes its time: it may be long, and contexts may have to be fetched."""

        def work() -> str:
            triples = self._reading.read(body, sent, self._inbox.name(number)[1:-1])
            self._reading.check(triples, now)
            return self._inbox.insert(number, triples, shown(now))

        at_once = len(body) < _SLOW and not self._reading.fetches and self._reading.constraint is None
        return work() if at_once else await asyncio.to_thread(work)

    # -- giving ---------------------------------------------------------------------------------------------------

    async def _list(self, request: Request) -> Response:
        format_ = chosen(FORMATS, accept_of(request), request.query_params.get("format"))
        page = await self._page(request)
        address = _address(request)
        headers = self._headers()
        if page.after is not None:
            headers["link"] += f', <{address}?before={page.after}>; rel="next"'
        document = b"".join(serialize_rdf(listing(address, page.ids), format_, {"ldp": LDP}))
        return Response(document, media_type=content_type(format_.media), headers={"vary": "accept", **headers})

    async def _page(self, request: Request) -> Page:
        before = request.query_params.get("before")
        rights = asker_of(request.scope).rights
        asking = self._broker.query(self._inbox.page(before), None, results_document, rights, share_of(request.scope))
        with (await while_present(request, asking)).file as file:
            rows = orjson.loads(file.read())["results"]["bindings"]
        listed = [(row["n"]["value"], row["t"]["value"]) for row in rows[:PAGE]]
        ids = tuple(self._inbox.id_of(name) for name, _ in listed if rights.read.has(f"<{name}>"))
        name, time = listed[-1] if len(rows) > PAGE else ("", "")
        return Page(ids, f"{time},{self._inbox.id_of(name)}" if name else None)

    async def _notification(self, request: Request) -> Response:
        number = request.path_params["number"]
        name = self._inbox.name(number)
        rights = asker_of(request.scope).rights
        if not self._inbox.is_id(number) or not await self._broker.has_graph(name, rights):
            raise NotFound(f"there is no notification {number} in this inbox")
        if request.method == "DELETE":
            return await self._remove(request, number)
        format_ = chosen(FORMATS, accept_of(request), request.query_params.get("format"))
        return await self._give(request, name, format_)

    async def _give(self, request: Request, name: Term, format_: RdfFormat) -> Response:
        text = f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ GRAPH {name} {{ ?s ?p ?o }} }}"
        rights = asker_of(request.scope).rights
        address = _address(request)

        def write(result: Result) -> tuple[str, Iterable[bytes]]:
            assert isinstance(result, Triples)
            return content_type(format_.media), serialize_rdf(self._inbox.reached(result.triples, address), format_)

        asking = self._broker.query(text, None, write, rights, share_of(request.scope))
        return SpoolResponse(await while_present(request, asking))

    async def _remove(self, request: Request, number: str) -> Response:
        if self._premises.read_only:
            raise NotAllowed("this broker is read-only")
        asker = await asker_now(self._guard, request.scope)
        done = await self._broker.update(self._inbox.remove(number), None, asker.publisher(None), asker.rights)
        if self._guard.asks:
            self._guard.judge(asker, deed_of(request.scope, self._inbox.name(number), done.commit))
        return Response(status_code=204)

    async def _constraints(self, _: Request) -> Response:
        if self._reading.constraint is None:
            raise NotFound("this inbox takes every notification")
        return Response(self._reading.constraint, media_type="application/sparql-query")


def _address(request: Request) -> str:
    """Where the client found the inbox."""
    return f"{request.url.scheme}://{request.url.netloc}{PATH}"
