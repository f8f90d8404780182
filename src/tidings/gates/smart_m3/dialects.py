"""What SSAP and JSSAP have in common: making a request from parameters, by the names of SSAP.

`Dialect` is the interface of both for a conversation: it reads messages as values, and writes answers as bytes.
"""

import re
from collections.abc import Callable, Mapping
from typing import Protocol, TypeAlias

from msgspec import Struct, field

from tidings.broker.queries import Writer
from tidings.broker.subscriptions.subscriber import Parcel
from tidings.gates.smart_m3.messages import (
    ANY,
    ANY_URIS,
    BlankNode,
    Change,
    Command,
    Header,
    Join,
    Leave,
    M3Triple,
    Node,
    Query,
    RdfXml,
    Request,
    Sparql,
    Subscribe,
    Triples,
    Unsubscribe,
    Uri,
)
from tidings.gates.smart_m3.statuses import MessageIncomplete, MessageSyntaxError, QueryTypeUnknown
from tidings.model.errors import TidingsError
from tidings.sparql.parser.tokens import TOKENS

MOST_TRIPLES = 100_000
"""In one list."""
_COMMANDS = frozenset(["INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH"])
_NUMBER = re.compile(r"-?[0-9]{1,18}")

Heard: TypeAlias = tuple[Header, Request | TidingsError]
"""A message; or what is wrong with it, and how to answer it."""
Encode: TypeAlias = Callable[[Parcel], bytes]


class Parameters(Struct):
    """What a message says beside its header, by the names of SSAP."""

    texts: dict[str, str] = field(default_factory=dict)
    triples: dict[str, list[M3Triple]] = field(default_factory=dict)
    encodings: dict[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Raises MessageIncomplete."""
        if not self.texts.get(name):
            raise MessageIncomplete(f"the parameter {name} is missing")
        return self.texts[name]

    def list(self, name: str) -> Triples:
        return Triples(tuple(self.triples.get(name, ())))

    def graph(self, name: str) -> Triples | RdfXml:
        """Raises QueryTypeUnknown."""
        encoding = self.encodings.get(name, "").upper()
        if encoding == "RDF-XML":
            return RdfXml(self.text(name))
        if encoding not in {"", "RDF-M3"}:
            raise QueryTypeUnknown(f"the encoding {encoding} of {name} is not RDF-M3 or RDF-XML")
        return self.list(name)

    @property
    def confirms(self) -> bool:
        return self.texts.get("confirm", "TRUE").upper() != "FALSE"


class Dialect(Protocol):
    """How requests are read, and answers written."""

    no_results: bytes
    """What `answered` says to an update that came as a query."""

    def read(self, document: bytes, base: str) -> Heard: ...

    def writer(self, *, as_triples: bool) -> Writer:
        """For results, which `answered` puts into a message."""

    def first(self, parcel: Parcel, *, as_triples: bool) -> bytes:
        """The first answer of a subscription: results."""

    def changes(self, *, as_triples: bool) -> Encode:
        """What all indications of a change have in common; always the same function, so that it is made once."""

    def confirmed(self, header: Header, bnodes: Mapping[str, str] | None = None) -> bytes: ...

    def answered(self, header: Header, results: bytes) -> bytes: ...

    def subscribed(self, header: Header, subscription: str, results: bytes) -> bytes: ...

    def resumed(self, header: Header, subscription: str, sequence: int, changes: bytes) -> bytes: ...

    def indicated(self, header: Header, subscription: str, sequence: int, changes: bytes) -> bytes: ...

    def unsubscribed(self, header: Header, subscription: str) -> bytes: ...

    def dismissed(self, header: Header, subscription: str, status: str, reason: str) -> bytes:
        """A subscription has ended, and its KP did not ask for that."""

    def refused(self, header: Header, error: TidingsError) -> bytes: ...


def read_request(header: Header, parameters: Parameters) -> Request:
    """Raises MessageIncomplete, MessageSyntaxError, QueryTypeUnknown."""
    shown = parameters.texts.get("credentials") or None
    match header.kind:
        case "JOIN":
            return Join(header, shown)
        case "LEAVE":
            return Leave(header, shown)
        case "INSERT":
            graph = parameters.graph("insert_graph")
            return Change(header, added=graph, confirm=parameters.confirms, credentials=shown)
        case "REMOVE":
            removed = parameters.list("remove_graph")
            return Change(header, removed, confirm=parameters.confirms, credentials=shown)
        case "UPDATE":
            return _update(header, parameters, shown)
        case "QUERY":
            question = _question(parameters)
            if isinstance(question, Sparql) and is_command(question.text):
                return Command(header, question.text, parameters.confirms, shown)
            return Query(header, question, shown)
        case "SUBSCRIBE":
            return Subscribe(header, _question(parameters), _resumed(parameters), shown)
        case "UNSUBSCRIBE":
            return Unsubscribe(header, parameters.text("subscription_id"), shown)
        case "":
            raise MessageIncomplete("the type of the transaction is missing")
        case _:
            raise MessageSyntaxError(f"there is no transaction {header.kind[:40]}")


def _update(header: Header, parameters: Parameters, shown: str | None) -> Change | Command:
    """A list of triples for another, or SPARQL Update."""
    if parameters.texts.get("query"):
        return Command(header, parameters.text("query"), parameters.confirms, shown)
    removed, added = parameters.list("remove_graph"), parameters.graph("insert_graph")
    return Change(header, removed, added, parameters.confirms, shown)


def _question(parameters: Parameters) -> Triples | Sparql:
    kind = parameters.texts.get("type", "RDF-M3").upper()
    if kind in {"SPARQL", "SPARQL-SELECT", "SPARQL-UPDATE"}:
        return Sparql(parameters.text("query"))
    if kind not in {"RDF-M3", "RDF"}:
        raise QueryTypeUnknown(f"queries are of the type RDF-M3 or sparql, not {kind[:40]}")
    return parameters.list("query")


def _resumed(parameters: Parameters) -> tuple[str, int] | None:
    """An addition of ours: a subscription that is subscribed to again goes on after the indication of a number."""
    subscription = parameters.texts.get("subscription_id")
    if not subscription:
        return None
    said = parameters.texts.get("ind_sequence", "")
    if not _NUMBER.fullmatch(said):
        raise MessageSyntaxError("the parameter ind_sequence is not a number")
    return subscription, int(said)


def is_command(text: str) -> bool:
    """Whether a text is SPARQL Update: its first word after the prologue says so."""
    words = (match[1].upper() for match in TOKENS.finditer(text))
    for word in words:
        if word == "PREFIX":
            next(words, "")
            next(words, "")
        elif word == "BASE":
            next(words, "")
        else:
            return word in _COMMANDS
    return False


def node_of(kind: str, text: str) -> Node:
    """A node that is no literal. Raises MessageSyntaxError."""
    match kind.lower():
        case "bnode":
            return BlankNode(text)
        case "uri" | "uriref":
            return ANY if text in ANY_URIS else Uri(text)
        case _:
            raise MessageSyntaxError(f"a node is of the type URI, literal or bnode, not {kind[:40]}")
