"""The Subscribe language: messages in JSON, one request or one answer each.

    {"subscribe": {"sparql": …, "alias": …, "default-graph-uri": …, "resume": {"spuid": …, "sequence": …}}}
    {"unsubscribe": {"spuid": …}}
    {"update": {"sparql": …, "at" | "delay": …, "publisher": …}}            {"cancel": {"delayed": …}}
    {"query": {"sparql": …}}
    {"prepare": {"sparql": …}}  then  {"update": {"prepared": …, "bindings": {…}}}

Members nobody knows are ignored: clients leak all sorts of things into their requests.
"""

from typing import Any

import msgspec

from tidings.broker.subscriptions.subscriber import Alias
from tidings.gates.errors import BadMessage
from tidings.model.errors import ResultsSyntaxError
from tidings.model.formats.results.json import term_of_value
from tidings.model.iris import resolve
from tidings.model.publishers import publisher_name
from tidings.model.terms import Term
from tidings.protocol.instants import Instant
from tidings.protocol.sparql_http import graph
from tidings.sparql.algebra import Dataset

Graphs = str | list[str] | None


class Resume(msgspec.Struct, frozen=True):
    spuid: str
    sequence: int


class Request(msgspec.Struct, frozen=True, rename={
    "default_graphs": "default-graph-uri", "named_graphs": "named-graph-uri",
    "default_alike": "default_graph_uri", "named_alike": "named_graph_uri",
}):  # fmt: skip
    """What any request may say; each kind looks at what it needs."""

    sparql: str | None = None
    alias: Alias = None
    spuid: str | None = None
    authorization: str | None = None
    default_graphs: Graphs = None
    named_graphs: Graphs = None
    default_alike: Graphs = None
    named_alike: Graphs = None
    resume: Resume | None = None
    at: str | int | None = None
    delay: str | float | None = None
    prepared: str | None = None
    bindings: dict[str, Any] | None = None
    delayed: str | None = None
    publisher: str | None = None

    @property
    def text(self) -> str:
        if self.sparql is None:
            raise BadMessage("the member sparql is missing")
        return self.sparql

    def dataset(self, base: str) -> Dataset | None:
        default = _graphs(self.default_graphs, self.default_alike, "default-graph-uri", base)
        named = _graphs(self.named_graphs, self.named_alike, "named-graph-uri", base)
        return Dataset(default, named) if default or named else None

    @property
    def named_publisher(self) -> str | None:
        """Who sends it, if it says so. Raises BadRequest."""
        return None if self.publisher is None else publisher_name(self.publisher)

    def instant(self, now: int) -> int | None:
        """When it is to happen; None if at once."""
        return Instant.of(self.at, self.delay, now)

    def bound(self, base: str) -> dict[str, Term]:
        """The bindings as terms."""
        return {name.lstrip("?$"): _term(name, value, base) for name, value in (self.bindings or {}).items()}


class Message(msgspec.Struct, frozen=True):
    """A message of a client: exactly one of the kinds."""

    subscribe: Request | None = None
    unsubscribe: Request | None = None
    update: Request | None = None
    query: Request | None = None
    prepare: Request | None = None
    cancel: Request | None = None
    authorization: str | None = None
    publisher: str | None = None


KINDS = ("subscribe", "unsubscribe", "update", "query", "prepare", "cancel")
_DECODER = msgspec.json.Decoder(Message)


def read(document: bytes | memoryview) -> tuple[str, Request]:
    """The kind of a message, and what it says. Raises BadMessage."""
    try:
        message = _DECODER.decode(document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadMessage(f"the message cannot be read: {error}") from error
    found = [(kind, request) for kind in KINDS if (request := getattr(message, kind)) is not None]
    if len(found) != 1:
        raise BadMessage(f"a message has exactly one of the members {', '.join(KINDS)}; this has {len(found)}")
    kind, request = found[0]
    if message.authorization is not None or message.publisher is not None:
        authorization = message.authorization if request.authorization is None else request.authorization
        publisher = message.publisher if request.publisher is None else request.publisher
        request = msgspec.structs.replace(request, authorization=authorization, publisher=publisher)
    return kind, request


def alias_of(document: bytes) -> dict[str, Any]:
    """What an error about an unreadable message can still echo: its alias and its spuid, if it has any."""
    try:
        message = msgspec.json.decode(document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    parts = message.values() if isinstance(message, dict) else ()
    found: dict[str, Any] = {}
    for part in parts:
        if isinstance(part, dict):
            found |= {name: part[name] for name in ("alias", "spuid") if isinstance(part.get(name), str | int | float)}
    return found


def _graphs(given: Graphs, alike: Graphs, name: str, base: str) -> tuple[Term, ...]:
    values = given if given is not None else alike
    if values is None:
        return ()
    return tuple(dict.fromkeys(graph(value, name, base) for value in ([values] if isinstance(values, str) else values)))


def _term(name: str, value: Any, base: str) -> Term:
    # JSAP says "uri", as SPARQL results do; a plain JSON text or number is taken for the literal it looks like.
    try:
        term = term_of_value(value if isinstance(value, dict) else {"type": "literal", "value": value})
    except ResultsSyntaxError as error:
        raise BadMessage(f"the binding of {name} is not a term: {error}") from error
    return f"<{resolve(base, term[1:-1])}>" if term[0] == "<" else term
