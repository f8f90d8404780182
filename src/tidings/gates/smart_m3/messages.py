"""The requests of knowledge processors as values, independent of the dialect, SSAP or JSSAP.

    JOIN, LEAVE, INSERT, REMOVE, UPDATE, QUERY, SUBSCRIBE, UNSUBSCRIBE

INSERT, REMOVE and UPDATE become a `Change`: triples to remove, then triples to insert. A SPARQL Update, which may come
in an UPDATE or in a QUERY, becomes a `Command`.
"""

from typing import TypeAlias

from msgspec import Struct

from tidings.model.terms import Term


class Uri(Struct, frozen=True):
    """Perhaps relative."""

    text: str


class BlankNode(Struct, frozen=True):
    """A node that its sender knows by a tag, within one message."""

    tag: str


class PlainLiteral(Struct, frozen=True):
    """RDF-M3 has no datatypes: in a pattern, it stands for every literal that reads so."""

    text: str


class TypedLiteral(Struct, frozen=True):
    """Just this literal; its datatype or its language was said."""

    term: Term


class Wildcard(Struct, frozen=True):
    """Whatever there is."""


Node: TypeAlias = Uri | BlankNode | PlainLiteral | TypedLiteral | Wildcard
M3Triple: TypeAlias = tuple[Node, Node, Node]

ANY = Wildcard()
ANY_URIS = frozenset({"http://www.nokia.com/NRC/M3/sib#any", "sib:any"})
"""How the wildcard is written, whatever type of node is said beside it."""


class Header(Struct, frozen=True):
    """What all messages have; an answer repeats it."""

    kind: str = ""
    """The type of the transaction, in upper case."""
    node: str = ""
    space: str = ""
    transaction: str | int = ""


class Triples(Struct, frozen=True):
    """RDF-M3: some triples, or patterns."""

    triples: tuple[M3Triple, ...] = ()


class RdfXml(Struct, frozen=True):
    """A document."""

    text: str


class Sparql(Struct, frozen=True):
    text: str


class Join(Struct, frozen=True):
    header: Header
    credentials: str | None = None


class Leave(Struct, frozen=True):
    header: Header
    credentials: str | None = None


class Change(Struct, frozen=True):
    header: Header
    removed: Triples = Triples()
    added: Triples | RdfXml = Triples()
    confirm: bool = True
    credentials: str | None = None


class Command(Struct, frozen=True):
    """A SPARQL Update."""

    header: Header
    text: str
    confirm: bool = True
    credentials: str | None = None


class Query(Struct, frozen=True):
    header: Header
    question: Triples | Sparql
    credentials: str | None = None


class Subscribe(Struct, frozen=True):
    header: Header
    question: Triples | Sparql
    resumed: tuple[str, int] | None = None
    """The subscription to go on with, and the indication that its KP saw last."""
    credentials: str | None = None


class Unsubscribe(Struct, frozen=True):
    header: Header
    subscription: str
    credentials: str | None = None


Request: TypeAlias = Join | Leave | Change | Command | Query | Subscribe | Unsubscribe
