"""The SPARQL 1.1 Graph Store HTTP Protocol (W3C Recommendation, 21 March 2013): whole graphs, by their names.

    /rdf-graphs/service?graph=IRI    /rdf-graphs/service?default    /rdf-graphs/NAME is the graph base + that path

A POST that names no graph creates one and returns its address. Each change is one commit, with its notifications.
"""

from collections.abc import Iterator
from urllib.parse import quote
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from tidings.broker.broker import Broker
from tidings.broker.updates.graph_change import GraphChange
from tidings.gates.answers import update_answer
from tidings.gates.asking import Guard
from tidings.gates.http.limits import read_body, share_of
from tidings.gates.http.results import chosen, rdf_document
from tidings.gates.http.routing import accept_of, route, while_present
from tidings.gates.http.security.identification import asker_now, asker_of, deed_of
from tidings.gates.http.sending import SpoolResponse
from tidings.gates.http.updates import publisher_of
from tidings.model.errors import BadRequest, GraphMissing, NotAllowed, NotFound, UnsupportedFormat
from tidings.model.formats.blanks import KEEP_LABELS
from tidings.model.formats.media import by_media_type
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.model.terms import DEFAULT_GRAPH, Quad, Term, iri_text
from tidings.protocol.answers import encode
from tidings.protocol.form_data import is_form_data, parts_of
from tidings.protocol.sparql_http import Parameters, graph

PATH = "/rdf-graphs/"
_METHODS = ("GET", "HEAD", "PUT", "POST", "DELETE")


class GraphStore:
    """The handlers, on one broker."""

    def __init__(self, broker: Broker, guard: Guard, *, base: str, max_body: int, read_only: bool) -> None:
        self._broker = broker
        self._guard = guard
        self._base = base
        self._max_body = max_body
        self._read_only = read_only

    def routes(self) -> list[BaseRoute]:
        return [
            route(f"{PATH}service", self._indirect, *_METHODS),
            route(f"{PATH}{{name:path}}", self._direct, *_METHODS),
        ]

    async def _indirect(self, request: Request) -> Response:
        """Section 4.2: the graph is named by a parameter."""
        parameters = Parameters(request.scope["query_string"])
        name, default = parameters.one("graph"), parameters.one("default")
        if name is None and default is None and request.method == "POST":
            return await self._new(request)
        if (name is None) == (default is None):
            raise BadRequest("name one graph: ?graph=IRI, or ?default for the one without a name")
        return await self._handle(request, DEFAULT_GRAPH if name is None else graph(name, "graph", self._base))

    async def _direct(self, request: Request) -> Response:
        """Section 4.1: the IRI of the request names the graph; its host and scheme do not matter."""
        name = request.path_params["name"]
        if not name and request.method == "POST":
            return await self._new(request)
        if not name:
            raise NotFound(f"{PATH} needs the name of a graph behind it; {PATH}service takes any IRI")
        _, found, sent = request.scope.get("raw_path", b"").decode("latin-1").partition(PATH)
        return await self._handle(request, graph(PATH + (sent if found else quote(name)), "the path", self._base))

    async def _new(self, request: Request) -> Response:
        """Section 5.5: a POST to the store itself creates a graph. A relative Location is valid on every host."""
        location = f"{PATH}{uuid4().hex}"
        response = await self._handle(request, graph(location, "the path", self._base))
        if response.status_code == 201:
            response.headers["location"] = location
        return response

    async def _handle(self, request: Request, name: Term) -> Response:
        if request.method in {"GET", "HEAD"}:
            return await self._get(request, name)
        if self._read_only:
            raise NotAllowed("this endpoint is read-only")
        if request.method == "DELETE":
            change = GraphChange(name, replaces=True, size=0, read=tuple)
        else:
            change = await self._change(request, name)
        asker = await asker_now(self._guard, request.scope)
        publisher = asker.publisher(publisher_of(dict(request.scope["headers"])))
        done = await self._broker.change(change, publisher, asker.rights)
        if self._guard.asks:
            self._guard.judge(asker, deed_of(request.scope, name, done.commit))
        if request.method == "DELETE" and not change.existed:
            raise GraphMissing(f"there is no graph {name}" if name else "you may not see the default graph")
        created = not change.existed and done.added > 0
        return Response(encode(update_answer(done)) + b"\n", 201 if created else 200, media_type="application/json")

    async def _change(self, request: Request, name: Term) -> GraphChange:
        sent = request.headers.get("content-type", "")
        format_ = None if is_form_data(sent) else _format(sent)
        body = await read_body(request, self._max_body)
        documents = [(format_, body)] if format_ else _documents(sent, body)
        base = iri_text(name) if name else self._base
        return GraphChange(
            name, replaces=request.method == "PUT", size=len(body), read=lambda: _read(documents, base, name)
        )

    async def _get(self, request: Request, name: Term) -> Response:
        rights = asker_of(request.scope).rights
        if not await self._broker.has_graph(name, rights):
            raise GraphMissing(f"there is no graph {name}" if name else "you may not see the default graph")
        pattern = "{ ?s ?p ?o }"
        text = f"CONSTRUCT {pattern} WHERE {{ GRAPH {name} {pattern} }}" if name else f"CONSTRUCT WHERE {pattern}"
        write = rdf_document(chosen(tuple(RdfFormat), accept_of(request), request.query_params.get("format")))
        return SpoolResponse(
            await while_present(request, self._broker.query(text, None, write, rights, share_of(request.scope)))
        )


def _documents(sent: str, body: bytes) -> list[tuple[RdfFormat, bytes]]:
    return [(_format(part.content_type), part.content) for part in parts_of(sent, body)]


def _format(content_type: str) -> RdfFormat:
    if not content_type:
        raise UnsupportedFormat("the Content-Type is missing; it says which format the body is in")
    return by_media_type(tuple(RdfFormat), content_type)


def _read(documents: list[tuple[RdfFormat, bytes]], base: str, name: Term) -> Iterator[Quad]:
    """Quads of one graph. Relative IRIs are resolved against that of the graph (RFC 3986, section 5.1).

    The labels of a single document may stay, because the update replaces them. Several documents get a scope each, so
    that their blank nodes are different nodes.
    """
    blanks = KEEP_LABELS if len(documents) == 1 else None
    for format_, content in documents:
        for quad in parse_rdf(content, format_, base, name, blanks):
            if quad[3] != name:
                raise BadRequest(f"the document names the graph {quad[3]}; it may only have triples of one graph")
            yield quad
