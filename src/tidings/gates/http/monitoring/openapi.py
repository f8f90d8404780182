"""Describes all paths of the HTTP gate as an OpenAPI 3.1 document, served at `/openapi.json`.

With security on, every path is also served below `/secure`; the document's second server says so.
"""

from collections.abc import Mapping

from tidings import __version__
from tidings.gates.http.events import LINES
from tidings.gates.http.monitoring import openapi_security as security
from tidings.gates.http.monitoring.openapi_parts import (
    OBJECT,
    TEXT,
    WHOLE,
    Json,
    array,
    content,
    get,
    in_path,
    in_query,
    json_of,
    operation,
    page,
    paging,
    parameter,
    ref,
    struct,
)
from tidings.gates.http.page import MEDIA
from tidings.gates.http.streaming.event_stream import MEDIA_TYPE
from tidings.gates.visitors import SECURE
from tidings.model.formats.rdf import RdfFormat
from tidings.model.formats.results.documents import ResultFormat
from tidings.model.publishers import HEADER, LONGEST
from tidings.protocol.commit_feed import FeedFormat
from tidings.protocol.form_data import FORM_DATA
from tidings.protocol.sparql_http import DIRECT, FORM

_IRIS: Json = {"type": "array", "items": {"type": "string", "format": "iri-reference"}}
_PUBLISHER: Json = {
    "in": "header",
    "name": HEADER,
    "description": "Who publishes, for the log; UTF-8",
    "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST},
}
_RDF = [format_.media.types[0] for format_ in RdfFormat]
_RESULTS = [format_.media.types[0] for format_ in ResultFormat]


def openapi(*, secured: bool = False, more: Mapping[str, Json] | None = None) -> Json:
    """The document. `secured` says that security is on; `more` are the paths of gates that are switched on."""
    document: Json = {
        "openapi": "3.1.0",
        "info": {
            "title": "Tidings",
            "version": __version__,
            "summary": "Publish SPARQL updates, subscribe with SPARQL queries, get exactly what changed.",
            "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": {path: _path(item) for path, item in (_paths() | dict(more or {})).items()},
        "components": {"schemas": _schemas(), "responses": {"Error": _error_response()}},
    }
    return _secured(document) if secured else document


def _secured(document: Json) -> Json:
    paths = document["paths"] | {path: _path(item) for path, item in security.paths().items()}
    for path in security.PUBLIC:
        paths[path] = {
            method: {"security": []} | described if isinstance(described, dict) else described
            for method, described in paths[path].items()
        }
    components = document["components"]
    return document | {
        "servers": [{"url": "/"}, {"url": SECURE}],
        "paths": paths,
        "components": components
        | {"schemas": components["schemas"] | security.schemas(), "securitySchemes": security.SCHEMES},
        "security": security.SECURITY,
    }


def _paths() -> dict[str, Json]:
    return {
        "/": {"get": get("introduce", "A page for browsers, the service description for programs", _description())},
        "/query": {
            "get": get("query", "Ask a query", _answer(), *_query_parameters(required=False)),
            "post": _post("queryByPost", "Ask a query", _answer(), "query"),
        },
        "/update": {"post": _post("update", "Carry out an update, now or in its time", _updated(), "update")},
        "/sparql": {
            "get": get("sparql", "Ask a query", _answer(), *_query_parameters(required=False)),
            "post": _post("sparqlByPost", "Ask a query, or carry out an update", _answer(), "query", "update"),
        },
        "/check": {
            "get": get("check", "Whether a query can be read", _checked(), *_query_parameters(required=False)),
            "post": _post("checkByPost", "Whether a query or an update can be read", _checked(), "query", "update"),
        },
        "/subscribe": {
            "get": get(
                "subscribe",
                "Subscribe: an event stream of notifications; the first has the whole answer",
                content("Notifications, each with the id SPUID#SEQUENCE", {MEDIA_TYPE: TEXT}),
                *_query_parameters(required=False, format_=False),
                in_query("alias", "Echoed in every notification", TEXT),
                in_query("last-event-id", "As the header, for those who cannot set it", TEXT),
                parameter("header", "Last-Event-ID", "The id of the last event seen, to go on from there", TEXT),
            )
        },
        "/events": {"post": _post_events()},
        "/rdf-graphs/service": _graph_store(
            "Graph",
            in_query("graph", "The graph, by its IRI, perhaps relative", {"type": "string", "format": "iri-reference"}),
            in_query("default", "The graph without a name", TEXT) | {"allowEmptyValue": True},
        ),
        "/rdf-graphs/{name}": _graph_store("NamedByPath", in_path("name", "The end of the graph's IRI; may have /")),
        "/log": {
            "get": get(
                "log",
                "The commits from one on",
                content("Changes, in the order of their commits", _feed()),
                in_query("from", "The first commit", WHOLE | {"default": 1}),
                in_query("limit", "How many commits at most", WHOLE | {"default": 10_000}),
                in_query(
                    "graphs",
                    "Just these graphs, as IRIs, IRIs that end in *, or default; refused if not all of "
                    "them may be read",
                    array(TEXT),
                ),
                in_query("follow", "Whether to go on with what will be committed", {"type": "boolean"}),
                in_query("format", "jsonl or patch, instead of the Accept header", TEXT),
            )
        },
        "/healthz": {"get": get("health", "Whether updates are welcome", json_of("They are", ref("Health")))},
        "/metrics": {
            "get": get("metrics", "What is counted, for Prometheus", content("Metrics", {"text/plain": TEXT}))
        },
        "/status": {"get": get("status", "How the broker is", json_of("Counters and indicators", OBJECT))},
        "/reconcile": {
            "post": operation(
                "reconcile",
                "Compare with the endpoint behind the broker, and make both equal",
                {"200": json_of("What differed, and the commit that has it", OBJECT)},
                in_query("right", "Which of the two is right", {"type": "string", "enum": ["endpoint", "broker"]}),
                in_query("dry", "Whether only to look", {"type": "boolean"}),
            )
        },
        "/connections": {
            "get": get(
                "connections",
                "Who is connected to be told, the newest first, a page at a time",
                page("connections", ref("Connection")),
                *paging(),
            )
        },
        "/subscriptions": {
            "get": get(
                "subscriptions",
                "All subscriptions, or those that began and ended since a version, or the dearest, a page at a time",
                page("subscriptions", ref("Subscription"), version=TEXT, ended=array(TEXT)),
                *paging(),
                in_query("since", "The `version` of an earlier answer: only what has changed since is told", TEXT),
                in_query(
                    "order", "`cost`: those first whose plans have cost most", {"type": "string", "enum": ["cost"]}
                ),
            )
        },
        "/subscriptions/{spuid}": {
            "parameters": [in_path("spuid", "Its identifier")],
            "get": get(
                "subscription",
                "One subscription, and the plan that keeps its answer",
                content("It", {"application/json": ref("Subscription"), "text/plain": TEXT}),
                in_query("format", "text for the plan as a tree", TEXT),
            ),
        },
        "/delayed": {
            "get": get(
                "agenda", "Delayed updates that wait, a page at a time", page("delayed", ref("Delayed")), *paging()
            )
        },
        "/delayed/{id}": {
            "parameters": [in_path("id", "Its identifier")],
            "get": get("delayed", "One delayed update", json_of("It", ref("Delayed"))),
            "delete": operation("cancel", "Cancel it", {"200": json_of("It was, and will not happen", OBJECT)}),
        },
        "/assets/{name}": {
            "parameters": [in_path("name", "Its name, as the page has it")],
            "get": get("asset", "A part of the dashboard", content("It", dict.fromkeys(MEDIA.values(), TEXT))),
        },
        "/openapi.json": {"get": get("openapi", "This document", json_of("It", OBJECT))},
    }


def _path(item: Json) -> Json:
    """Adds HEAD to each GET, and OPTIONS to every path."""
    options = {"operationId": "", "summary": "The methods of this path", "responses": {"204": {"description": "Allow"}}}
    name = next(item[method]["operationId"] for method in ("get", "post", "delete") if method in item)
    more: Json = {"options": options | {"operationId": f"{name}Options"}}
    if "get" in item:
        more["head"] = item["get"] | {"operationId": f"{name}Head"}
    return item | more


# -- operations -------------------------------------------------------------------------------------------------


def _post(name: str, summary: str, response: Json, *kinds: str) -> Json:
    """As a form or as the bare text (SPARQL 1.1 Protocol, sections 2.1.2, 2.1.3, 2.2.1 and 2.2.2)."""
    members = dict.fromkeys(kinds, TEXT) | {"format": TEXT}
    if "query" in kinds:
        members |= {"default-graph-uri": _IRIS, "named-graph-uri": _IRIS, "at": WHOLE}
    if "update" in kinds:
        members |= {"using-graph-uri": _IRIS, "using-named-graph-uri": _IRIS, "at": TEXT, "delay": TEXT}
        members |= {"dry-run": {"type": "boolean"}}
    direct = {media_type: {"schema": TEXT} for media_type, kind in DIRECT.items() if kind in kinds}
    form: Json = {"schema": {"type": "object", "properties": members}}
    body = {"requestBody": {"required": True, "content": {FORM: form, **direct}}}
    return operation(name, summary, {"200": response}, *([_PUBLISHER] if "update" in kinds else [])) | body


def _post_events() -> Json:
    body: Json = {
        "required": True,
        "content": {
            "application/json": {"schema": {"anyOf": [OBJECT, array(OBJECT)]}},
            LINES: {"schema": TEXT},
        },
    }
    graph = in_query(
        "graph", "The graph that they belong to, by its IRI", {"type": "string", "format": "iri-reference"}
    )
    answer = json_of("How many events, and to how many subscriptions they were told", OBJECT)
    summary = "Publish events: whoever has subscribed approximately to what they mean is told"
    return operation("publishEvents", summary, {"200": answer}, graph) | {"requestBody": body}


def _graph_store(name: str, *parameters: Json) -> Json:
    body = {
        "requestBody": {
            "required": True,
            "content": {media_type: {"schema": TEXT} for media_type in (*_RDF, FORM_DATA)},
        }
    }
    changed = {"200": _updated(), "201": _updated("The graph was created")}
    format_ = in_query("format", "A format, instead of the Accept header", TEXT)
    return {
        "parameters": list(parameters),
        "get": get(f"get{name}", "The triples of a graph", content("Them", dict.fromkeys(_RDF, TEXT)), format_),
        "put": operation(f"put{name}", "Replace a graph", changed, _PUBLISHER) | body,
        "post": operation(f"post{name}", "Add to a graph", changed, _PUBLISHER) | body,
        "delete": operation(f"delete{name}", "Remove a graph", {"200": _updated()}, _PUBLISHER),
    }


# -- parameters -------------------------------------------------------------------------------------------------


def _query_parameters(*, required: bool, format_: bool = True) -> list[Json]:
    parameters = [
        in_query("query", "The query", TEXT) | {"required": required},
        in_query("default-graph-uri", "A graph to ask by default; replaces FROM", _IRIS),
        in_query("named-graph-uri", "A graph that GRAPH can name; replaces FROM NAMED", _IRIS),
    ]
    if format_:
        parameters.append(in_query("format", "A format by name or media type, instead of the Accept header", TEXT))
        parameters.append(in_query("at", "A commit: the answer as it was after it", WHOLE))
    return parameters


# -- responses --------------------------------------------------------------------------------------------------


def _answer() -> Json:
    tables = dict.fromkeys(_RESULTS, TEXT) | {ResultFormat.JSON.media.types[0]: OBJECT}
    return content("The answer", tables | dict.fromkeys(_RDF, TEXT) | {"application/json": ref("Updated")})


def _checked() -> Json:
    return json_of("Whether it can, and if not, the error with its place", ref("Checked"))


def _description() -> Json:
    return content("The page or the description", {"text/html": TEXT} | dict.fromkeys(_RDF, TEXT))


def _updated(text: str = "What it did, or when it will be done") -> Json:
    return json_of(text, ref("Updated"))


def _feed() -> Json:
    lines, patch = FeedFormat.JSON_LINES.media.types[0], FeedFormat.RDF_PATCH.media.types[0]
    return {lines: ref("Changed"), patch: TEXT}


def _error_response() -> Json:
    return json_of("What went wrong", ref("Error"))


# -- schemas ----------------------------------------------------------------------------------------------------


def _schemas() -> Json:
    done = struct(sequence=WHOLE, time=WHOLE, added=WHOLE, removed=WHOLE)
    subscription = struct(
        spuid=TEXT, alias={"type": ["string", "null"]}, sparql=TEXT, sequence={"type": "integer"}, graphs=array(TEXT),
        incremental={"type": "boolean"}, connected={"type": "boolean"}, away={"type": "number"}, explain=OBJECT,
    )  # fmt: skip
    cost = struct(seconds={"type": "number"}, aside={"type": "number"}, subscribers=WHOLE)
    cost["description"] = "Seconds of the plan, estimated from a sample; those of forks; how many share it"
    subscription["properties"] |= {"cost": {"anyOf": [cost, {"type": "null"}]}}
    subscription["properties"] |= {"default-graph-uri": _IRIS, "named-graph-uri": _IRIS}
    connection = struct(
        id=WHOLE, gate=TEXT, address={"type": ["string", "null"]}, since={"type": "string", "format": "date-time"},
        subjects=array(TEXT), subscriptions=WHOLE, waiting={"type": ["integer", "null"]}, slow={"type": "boolean"},
    )  # fmt: skip
    changed = struct(
        seq=WHOLE, time=WHOLE, op={"enum": ["add", "remove"]},
        s=TEXT, p=TEXT, o=TEXT, g=TEXT, by=TEXT, left=WHOLE,
    )  # fmt: skip
    return {
        "Error": struct(error=TEXT, status_code=WHOLE, error_description=TEXT)
        | {"required": ["error", "status_code", "error_description"]},
        "Health": struct(status=TEXT, version=TEXT),
        "Updated": struct(response={"anyOf": [done, ref("Delayed")]}),
        "Delayed": struct(delayed=TEXT, at={"type": "string", "format": "date-time"}, time=WHOLE, sparql=TEXT),
        "Subscription": subscription,
        "Connection": connection,
        "Changed": changed,
        "Checked": struct(
            valid={"type": "boolean"},
            warnings=array(TEXT),
            error=TEXT,
            status_code=WHOLE,
            error_description=TEXT,
            line=WHOLE,
            column=WHOLE,
            expected=TEXT,
        ),
    }
