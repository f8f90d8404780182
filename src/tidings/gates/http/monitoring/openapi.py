"""What can be asked over HTTP, as an OpenAPI 3.1 document, served at `/openapi.json`.

Every path is also served below `/secure`; the document's second server says so.
"""

from typing import Any

from tidings import __version__
from tidings.gates.http.streaming.event_stream import MEDIA_TYPE
from tidings.model.formats.rdf import RdfFormat
from tidings.model.formats.results.documents import ResultFormat
from tidings.model.publishers import HEADER, LONGEST
from tidings.protocol.commit_feed import FeedFormat
from tidings.protocol.sparql_http import DIRECT, FORM

Json = dict[str, Any]

_TEXT: Json = {"type": "string"}
_WHOLE: Json = {"type": "integer", "minimum": 0}
_IRIS: Json = {"type": "array", "items": {"type": "string", "format": "iri-reference"}}
_OBJECT: Json = {"type": "object"}
_PUBLISHER: Json = {
    "in": "header",
    "name": HEADER,
    "description": "Who publishes, for the log; UTF-8",
    "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST},
}
_RDF = [format_.media.types[0] for format_ in RdfFormat]
_RESULTS = [format_.media.types[0] for format_ in ResultFormat]


def openapi() -> Json:
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Tidings",
            "version": __version__,
            "summary": "Publish SPARQL updates, subscribe with SPARQL queries, get exactly what changed.",
            "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": {path: _path(item) for path, item in _paths().items()},
        "components": {"schemas": _schemas(), "responses": {"Error": _error_response()}},
    }


def _paths() -> dict[str, Json]:
    return {
        "/": {"get": _get("introduce", "A page for browsers, the service description for programs", _description())},
        "/query": {
            "get": _get("query", "Ask a query", _answer(), *_query_parameters(required=False)),
            "post": _post("queryByPost", "Ask a query", _answer(), "query"),
        },
        "/update": {"post": _post("update", "Carry out an update, now or in its time", _updated(), "update")},
        "/sparql": {
            "get": _get("sparql", "Ask a query", _answer(), *_query_parameters(required=False)),
            "post": _post("sparqlByPost", "Ask a query, or carry out an update", _answer(), "query", "update"),
        },
        "/subscribe": {
            "get": _get(
                "subscribe",
                "Subscribe: an event stream of notifications; the first has the whole answer",
                _content("Notifications, each with the id SPUID#SEQUENCE", {MEDIA_TYPE: _TEXT}),
                *_query_parameters(required=False, format_=False),
                _query("alias", "Echoed in every notification", _TEXT),
                _query("last-event-id", "As the header, for those who cannot set it", _TEXT),
                _parameter("header", "Last-Event-ID", "The id of the last event seen, to go on from there", _TEXT),
            )
        },
        "/rdf-graphs/service": _graph_store(
            "Graph",
            _query("graph", "The graph, by its IRI, perhaps relative", {"type": "string", "format": "iri-reference"}),
            _query("default", "The graph without a name", _TEXT) | {"allowEmptyValue": True},
        ),
        "/rdf-graphs/{name}": _graph_store("NamedByPath", _in_path("name", "The end of the graph's IRI; may have /")),
        "/log": {
            "get": _get(
                "log",
                "The commits from one on",
                _content("Changes, in the order of their commits", _feed()),
                _query("from", "The first commit", _WHOLE | {"default": 1}),
                _query("limit", "How many commits at most", _WHOLE | {"default": 10_000}),
                _query(
                    "graphs",
                    "Just these graphs, as IRIs, IRIs that end in *, or default; refused if not all of "
                    "them may be read",
                    {"type": "array", "items": _TEXT},
                ),
                _query("follow", "Whether to go on with what will be committed", {"type": "boolean"}),
                _query("format", "jsonl or patch, instead of the Accept header", _TEXT),
            )
        },
        "/healthz": {"get": _get("health", "Whether updates are welcome", _json("They are", _ref("Health")))},
        "/metrics": {
            "get": _get("metrics", "What is counted, for Prometheus", _content("Metrics", {"text/plain": _TEXT}))
        },
        "/status": {"get": _get("status", "How the broker is", _json("Counters and indicators", _OBJECT))},
        "/subscriptions": {
            "get": _get(
                "subscriptions",
                "All subscriptions, or those that began and ended since a version, a page at a time",
                _page("subscriptions", version=_TEXT, ended={"type": "array", "items": _TEXT}),
                *_paging(),
                _query("since", "The `version` of an earlier answer: only what has changed since is told", _TEXT),
            )
        },
        "/subscriptions/{spuid}": {
            "parameters": [_in_path("spuid", "Its identifier")],
            "get": _get(
                "subscription",
                "One subscription, and the plan that keeps its answer",
                _content("It", {"application/json": _ref("Subscription"), "text/plain": _TEXT}),
                _query("format", "text for the plan as a tree", _TEXT),
            ),
        },
        "/delayed": {
            "get": _get("agenda", "Delayed updates that wait, a page at a time", _page("delayed"), *_paging())
        },
        "/delayed/{id}": {
            "parameters": [_in_path("id", "Its identifier")],
            "get": _get("delayed", "One delayed update", _json("It", _ref("Delayed"))),
            "delete": _operation("cancel", "Cancel it", {"200": _json("It was, and will not happen", _OBJECT)}),
        },
        "/openapi.json": {"get": _get("openapi", "This document", _json("It", _OBJECT))},
    }


def _path(item: Json) -> Json:
    """What can be asked by GET can be asked by HEAD, and every path names its methods."""
    options = {"operationId": "", "summary": "The methods of this path", "responses": {"204": {"description": "Allow"}}}
    name = item["get" if "get" in item else "post"]["operationId"]
    more: Json = {"options": options | {"operationId": f"{name}Options"}}
    if "get" in item:
        more["head"] = item["get"] | {"operationId": f"{name}Head"}
    return item | more


# -- operations -------------------------------------------------------------------------------------------------


def _operation(name: str, summary: str, responses: Json, *parameters: Json) -> Json:
    return {
        "operationId": name,
        "summary": summary,
        "parameters": list(parameters),
        "responses": responses | {"default": {"$ref": "#/components/responses/Error"}},
    }


def _get(name: str, summary: str, response: Json, *parameters: Json) -> Json:
    return _operation(name, summary, {"200": response}, *parameters)


def _post(name: str, summary: str, response: Json, *kinds: str) -> Json:
    """As a form or as the bare text (SPARQL 1.1 Protocol, sections 2.1.2, 2.1.3, 2.2.1 and 2.2.2)."""
    members = dict.fromkeys(kinds, _TEXT) | {"format": _TEXT}
    if "query" in kinds:
        members |= {"default-graph-uri": _IRIS, "named-graph-uri": _IRIS}
    if "update" in kinds:
        members |= {"using-graph-uri": _IRIS, "using-named-graph-uri": _IRIS, "at": _TEXT, "delay": _TEXT}
    direct = {media_type: {"schema": _TEXT} for media_type, kind in DIRECT.items() if kind in kinds}
    form: Json = {"schema": {"type": "object", "properties": members}}
    body = {"requestBody": {"required": True, "content": {FORM: form, **direct}}}
    return _operation(name, summary, {"200": response}, *([_PUBLISHER] if "update" in kinds else [])) | body


def _graph_store(name: str, *parameters: Json) -> Json:
    body = {"requestBody": {"required": True, "content": {media_type: {"schema": _TEXT} for media_type in _RDF}}}
    changed = {"200": _updated(), "201": _updated("The graph was created")}
    format_ = _query("format", "A format, instead of the Accept header", _TEXT)
    return {
        "parameters": list(parameters),
        "get": _get(f"get{name}", "The triples of a graph", _content("Them", dict.fromkeys(_RDF, _TEXT)), format_),
        "put": _operation(f"put{name}", "Replace a graph", changed, _PUBLISHER) | body,
        "post": _operation(f"post{name}", "Add to a graph", changed, _PUBLISHER) | body,
        "delete": _operation(f"delete{name}", "Remove a graph", {"200": _updated()}, _PUBLISHER),
    }


# -- parameters -------------------------------------------------------------------------------------------------


def _parameter(where: str, name: str, text: str, schema: Json) -> Json:
    return {"in": where, "name": name, "description": text, "schema": schema}


def _query(name: str, text: str, schema: Json) -> Json:
    return _parameter("query", name, text, schema)


def _in_path(name: str, text: str) -> Json:
    return _parameter("path", name, text, _TEXT) | {"required": True}


def _query_parameters(*, required: bool, format_: bool = True) -> list[Json]:
    parameters = [
        _query("query", "The query", _TEXT) | {"required": required},
        _query("default-graph-uri", "A graph to ask by default; replaces FROM", _IRIS),
        _query("named-graph-uri", "A graph that GRAPH can name; replaces FROM NAMED", _IRIS),
    ]
    if format_:
        parameters.append(_query("format", "A format by name or media type, instead of the Accept header", _TEXT))
    return parameters


def _paging() -> list[Json]:
    limit = {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}
    return [
        _query("limit", "How many at most", limit),
        _query("after", "The `after` of the page before", _TEXT),
    ]


# -- responses --------------------------------------------------------------------------------------------------


def _content(text: str, schemas: Json) -> Json:
    content = {media_type: {"schema": schema} for media_type, schema in schemas.items()}
    return {"description": text, "content": content}


def _json(text: str, schema: Json) -> Json:
    return _content(text, {"application/json": schema})


def _answer() -> Json:
    tables = dict.fromkeys(_RESULTS, _TEXT) | {ResultFormat.JSON.media.types[0]: _OBJECT}
    return _content("The answer", tables | dict.fromkeys(_RDF, _TEXT) | {"application/json": _ref("Updated")})


def _description() -> Json:
    return _content("The page or the description", {"text/html": _TEXT} | dict.fromkeys(_RDF, _TEXT))


def _updated(text: str = "What it did, or when it will be done") -> Json:
    return _json(text, _ref("Updated"))


def _feed() -> Json:
    lines, patch = FeedFormat.JSON_LINES.media.types[0], FeedFormat.RDF_PATCH.media.types[0]
    return {lines: _ref("Changed"), patch: _TEXT}


def _page(member: str, **more: Json) -> Json:
    items = {"subscriptions": _ref("Subscription"), "delayed": _ref("Delayed")}[member]
    properties = {"total": _WHOLE, member: {"type": "array", "items": items}, "after": _TEXT, **more}
    return _json("A page; `after` is there if there are more", {"type": "object", "properties": properties})


def _error_response() -> Json:
    return _json("What went wrong", _ref("Error"))


# -- schemas ----------------------------------------------------------------------------------------------------


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _struct(**members: Json) -> Json:
    return {"type": "object", "properties": members}


def _schemas() -> Json:
    done = _struct(sequence=_WHOLE, time=_WHOLE, added=_WHOLE, removed=_WHOLE)
    subscription = _struct(
        spuid=_TEXT, alias={"type": ["string", "null"]}, sparql=_TEXT, sequence={"type": "integer"},
        graphs={"type": "array", "items": _TEXT},
        incremental={"type": "boolean"}, connected={"type": "boolean"}, away={"type": "number"}, explain=_OBJECT,
    )  # fmt: skip
    subscription["properties"] |= {"default-graph-uri": _IRIS, "named-graph-uri": _IRIS}
    changed = _struct(
        seq=_WHOLE, time=_WHOLE, op={"enum": ["add", "remove"]},
        s=_TEXT, p=_TEXT, o=_TEXT, g=_TEXT, by=_TEXT, left=_WHOLE,
    )  # fmt: skip
    return {
        "Error": _struct(error=_TEXT, status_code=_WHOLE, error_description=_TEXT)
        | {"required": ["error", "status_code", "error_description"]},
        "Health": _struct(status=_TEXT, version=_TEXT),
        "Updated": _struct(response={"anyOf": [done, _ref("Delayed")]}),
        "Delayed": _struct(delayed=_TEXT, at={"type": "string", "format": "date-time"}, time=_WHOLE, sparql=_TEXT),
        "Subscription": subscription,
        "Changed": changed,
    }
