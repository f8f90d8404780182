"""RDF-M3 as SPARQL: lists of triples to insert, lists of patterns to remove, to ask for and to subscribe to.

    (a, *, *), (*, b, "22")  ->  CONSTRUCT { <a> ?p0 ?o0 . ?s1 <b> ?o1 }
                                 WHERE { { <a> ?p0 ?o0 } UNION { ?s1 <b> ?o1 FILTER(… STR(?o1) = "22") } }

The answer is every triple that matches at least one pattern: a template leaves out what a row has no terms for. What
an answer says can be asked for, and removed, as it was said; so a literal without a datatype stands for every literal
that reads so. A blank node becomes an IRI when it is inserted, since other messages have to speak of it.
"""

from collections.abc import Iterable, Iterator
from typing import assert_never
from uuid import uuid4

from tidings.gates.smart_m3.messages import (
    ANY,
    ANY_URIS,
    BlankNode,
    Change,
    M3Triple,
    Node,
    PlainLiteral,
    RdfXml,
    Triples,
    TypedLiteral,
    Uri,
    Wildcard,
)
from tidings.gates.smart_m3.statuses import MessageIncomplete
from tidings.model.errors import BadRequest
from tidings.model.formats.grammar import ABSOLUTE_IRI, checked_literal
from tidings.model.formats.nesting import check_xml
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.model.iris import resolve
from tidings.model.terms import Term, iri_text

GENID = "/.well-known/genid/"
"""Where IRIs are in the places of blank nodes (RDF 1.1 Concepts, section 3.5)."""


def question_text(question: Triples, base: str) -> str:
    """The query for patterns. Raises BadRequest."""
    if not question.triples:
        raise MessageIncomplete("there is no pattern to look for")
    asked = [_pattern(triple, number, base) for number, triple in enumerate(question.triples)]
    template = " . ".join(triple for triple, _ in asked)
    groups = " UNION ".join(f"{{ {triple}{condition} }}" for triple, condition in asked)
    return f"CONSTRUCT {{ {template} }} WHERE {{ {groups} }}"


def change_text(change: Change, base: str) -> tuple[str, dict[str, str]]:
    """The update for a change, and the IRIs of its blank nodes by their tags. Raises BadRequest."""
    genids = Genids(base)
    removals = list(_removals(change.removed.triples, base))
    added = " . ".join(_additions(change.added, base, genids))
    if added:
        removals.append(f"INSERT DATA {{ {added} }}")
    if not removals:
        raise MessageIncomplete("there is nothing to insert, and nothing to remove")
    return " ; ".join(removals), genids.by_tag


class Genids:
    """IRIs for the blank nodes of one message."""

    def __init__(self, base: str) -> None:
        self._prefix = resolve(base, GENID)
        self.by_tag: dict[str, str] = {}

    def of(self, tag: str) -> Term:
        """One without a tag is another one each time."""
        if not tag:
            return f"<{self._fresh()}>"
        if tag not in self.by_tag:
            self.by_tag[tag] = self._fresh()
        return f"<{self.by_tag[tag]}>"

    def _fresh(self) -> str:
        return f"{self._prefix}{uuid4().hex}"


# -- what goes ----------------------------------------------------------------------------------------------------


def _removals(triples: Iterable[M3Triple], base: str) -> Iterator[str]:
    for number, triple in enumerate(triples):
        pattern, condition = _pattern(triple, number, base)
        if condition:
            yield f"DELETE {{ {pattern} }} WHERE {{ {pattern}{condition} }}"
        else:
            yield f"DELETE WHERE {{ {pattern} }}"


def _pattern(triple: M3Triple, number: int, base: str) -> tuple[str, str]:
    """A triple pattern with variables of its own, and what else has to hold."""
    names = (f"?s{number}", f"?p{number}", f"?o{number}")
    parts, condition = [], ""
    for place, (node, name) in enumerate(zip(triple, names, strict=True)):
        _check_place(node, place)
        match node:
            case Wildcard():
                parts.append(name)
            case Uri(text):
                parts.append(iri_of(text, base))
            case TypedLiteral(term):
                parts.append(term)
            case PlainLiteral(text):
                parts.append(name)
                condition = f" FILTER(isLiteral({name}) && STR({name}) = {_plain(text)})"
            case BlankNode(tag):
                raise BadRequest(f"the blank node {tag!r} means nothing in a pattern; use the URI that you were told")
            case _:
                assert_never(node)
    return " ".join(parts), condition


# -- what comes ---------------------------------------------------------------------------------------------------


def _additions(graph: Triples | RdfXml, base: str, genids: Genids) -> Iterator[str]:
    match graph:
        case Triples(triples):
            for triple in triples:
                yield " ".join(_ground(node, place, base, genids) for place, node in enumerate(triple))
        case RdfXml(text):
            document = text.encode()
            check_xml(document)
            for s, p, o, _ in parse_rdf(document, RdfFormat.RDF_XML, base):
                yield " ".join(genids.of(term) if term[0] == "_" else term for term in (s, p, o))
            genids.by_tag.clear()  # its labels are no tags that the sender knows
        case _:
            assert_never(graph)


def _ground(node: Node, place: int, base: str, genids: Genids) -> Term:
    _check_place(node, place)
    match node:
        case Uri(text):
            return iri_of(text, base)
        case BlankNode(tag):
            return genids.of(tag)
        case PlainLiteral(text):
            return _plain(text)
        case TypedLiteral(term):
            return term
        case Wildcard():
            raise BadRequest("what is inserted has no wildcards")
        case _:
            assert_never(node)


_PLACES = ("subject", "predicate", "object")


def _check_place(node: Node, place: int) -> None:
    """RDF 1.1: literals are objects only, and predicates are IRIs."""
    fits = place == 2 or isinstance(node, Uri | Wildcard) or (place == 0 and isinstance(node, BlankNode))
    if not fits:
        raise BadRequest(f"a {_PLACES[place]} cannot be a {type(node).__name__}")


def iri_of(text: str, base: str) -> Term:
    """Raises BadRequest."""
    found = resolve(base, text.strip())
    if not ABSOLUTE_IRI.fullmatch(found):
        raise BadRequest(f"{text!r} is no URI")
    return f"<{found}>"


def literal_of(text: str, datatype: str | None, language: str | None, base: str) -> Node:
    """A literal, as far as its message says what it is. Raises BadRequest."""
    if text.strip() in ANY_URIS:
        return ANY
    if not datatype and not language:
        return PlainLiteral(text)
    try:
        full = iri_text(iri_of(datatype, base)) if datatype else None
        return TypedLiteral(checked_literal(text, full, language))
    except ValueError as error:
        raise BadRequest(f"a literal that is none: {error}") from error


def _plain(text: str) -> Term:
    try:
        return checked_literal(text, None, None)
    except ValueError as error:
        raise BadRequest(f"a literal that is none: {error}") from error
