"""RDF-M3, the formalism of Smart-M3 besides SPARQL: lists of triple patterns in which a wildcard matches any term.

    query(patterns)   every triple that matches at least one of them
    insert(triples)   remove(patterns)   update(removed, inserted): removed first

The functions translate each operation to SPARQL, so that both formalisms can be measured on any target. Terms are in
N-Triples or, with prefixes, prefixed names; the wildcard is `*`, or its IRI in the protocol of Smart-M3.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Literal, TypeAlias

from tidings.model.errors import BadRequest, RdfSyntaxError
from tidings.model.formats.blanks import KEEP_LABELS
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.model.terms import RDF, XSD, Term, Triple, iri, is_blank, is_iri, is_literal, literal

ANY = "*"
ANY_IRI: Term = "<http://www.nokia.com/NRC/M3/sib#any>"
NS = "http://ns#"
"""The namespace of the paper's update test."""
PREFIXES = {
    "rdf": RDF,
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": XSD,
}
"""The prefixes that are always declared."""

Pattern: TypeAlias = tuple[Term, Term, Term]
"""A triple with `ANY` in any of its places."""
Kind: TypeAlias = Literal["URI", "Literal"]

_PREFIXED = re.compile(r"([A-Za-z][\w.-]*)?:([\w.-]*)")


def pattern(row: Sequence[str], prefixes: Mapping[str, str] | None = None) -> Pattern:
    """A pattern from a list of three texts. Raises BadRequest if it is invalid, or has no equivalent in SPARQL."""
    if len(row) != 3:
        raise BadRequest(f"a triple pattern has 3 places, not {len(row)}")
    known = PREFIXES | dict(prefixes or {})
    s, p, o = (_term(text, known) for text in row)
    if is_literal(s) or not (p == ANY or is_iri(p)):
        raise BadRequest(f"{s} {p} {o} is no triple pattern")
    return s, p, o


def _term(text: str, prefixes: Mapping[str, str]) -> Term:
    if text in {ANY, ANY_IRI}:
        return ANY
    found = _PREFIXED.fullmatch(text)
    if found and (found[1] or "") in prefixes:
        text = iri(prefixes[found[1] or ""] + found[2])
    try:
        [(_, _, term, _)] = parse_rdf(f"<x:s> <x:p> {text} .".encode(), RdfFormat.N_TRIPLES, blanks=KEEP_LABELS)
    except (RdfSyntaxError, ValueError, UnicodeEncodeError) as error:
        raise BadRequest(f'{text!r} is no term: <iri>, "literal", a name with a known prefix, or *') from error
    if is_blank(term):
        raise BadRequest(f"{term} in a pattern would be a variable of SPARQL, not that blank node")
    return term


def query(patterns: Iterable[Sequence[str]], prefixes: Mapping[str, str] | None = None) -> str:
    """A SELECT of ?s ?p ?o: each triple that matches, once. It can be subscribed to as well."""
    found = _widest(pattern(row, prefixes) for row in patterns)
    if not found:
        raise BadRequest("an RDF-M3 query has at least one triple pattern")
    if len(found) == 1:
        return f"SELECT ?s ?p ?o WHERE {{ {_matching(found[0])} }}"
    groups = "\n  UNION ".join(f"{{ {_matching(each)} }}" for each in found)
    return f"SELECT DISTINCT ?s ?p ?o WHERE {{\n  {groups} }}"  # a triple may match several


def insert(triples: Iterable[Triple]) -> str:
    """The update that inserts triples; blank nodes become new nodes. Raises BadRequest for a wildcard."""
    found = list(triples)
    if any(place in {ANY, ANY_IRI} for triple in found for place in triple):
        raise BadRequest("a wildcard cannot be inserted")
    return insert_data(found)


def remove(patterns: Iterable[Sequence[str]], prefixes: Mapping[str, str] | None = None) -> str:
    """The update that removes every triple that matches at least one of the patterns."""
    found = _widest(pattern(row, prefixes) for row in patterns)
    ground = [each for each in found if ANY not in each]
    wild = [f"DELETE WHERE {{ {_plain(each)} }}" for each in found if ANY in each]
    return " ;\n".join(([delete_data(ground)] if ground or not wild else []) + wild)


def update(removed: Iterable[Sequence[str]], inserted: Iterable[Triple]) -> str:
    """The update that removes, then inserts, in one request: a triple in both exists afterwards."""
    return f"{remove(removed)} ;\n{insert(inserted)}"


def insert_data(triples: Iterable[Triple]) -> str:
    """SPARQL's own way to insert triples."""
    return f"INSERT DATA {{\n{_lines(triples)}}}"


def delete_data(triples: Iterable[Triple]) -> str:
    """SPARQL's own way to remove triples."""
    return f"DELETE DATA {{\n{_lines(triples)}}}"


def _lines(triples: Iterable[Triple]) -> str:
    return "".join(f"{s} {p} {o} .\n" for s, p, o in triples)


def _widest(patterns: Iterable[Pattern]) -> list[Pattern]:
    """The patterns in order, without those that a more general one includes."""
    found = dict.fromkeys(patterns)
    return [each for each in found if not any(wider in found for wider in _wider(each))]


def _wider(narrow: Pattern) -> Iterator[Pattern]:
    ss, ps, os = ({place, ANY} for place in narrow)
    return (wider for wider in product(ss, ps, os) if wider != narrow)


def _plain(each: Pattern) -> str:
    s, p, o = (f"?{name}" if place == ANY else place for name, place in zip("spo", each, strict=True))
    return f"{s} {p} {o}"


def _matching(each: Pattern) -> str:
    """A group for the pattern, which binds its constants to the variables ?s, ?p, ?o of their positions."""
    bound = [f"BIND({place} AS ?{name})" for name, place in zip("spo", each, strict=True) if place != ANY]
    return " ".join([_plain(each) + (" ." if bound else ""), *bound])


@dataclass(frozen=True, slots=True)
class Template:
    """The triples of an update test: an N at the end of a text is the number of the triple."""

    texts: tuple[str, str, str] = ("ns:SubN", "ns:PredN", "ObjN")
    kinds: tuple[Kind, Kind, Kind] = ("URI", "URI", "Literal")
    prefixes: Mapping[str, str] = field(default_factory=lambda: {"ns": NS})

    def __post_init__(self) -> None:
        if "Literal" in self.kinds[:2]:
            raise BadRequest("subjects and predicates are URIs")
        pattern(self.triple(0))

    def triple(self, number: int) -> Triple:
        s, p, o = (self._term(text, kind, number) for text, kind in zip(self.texts, self.kinds, strict=True))
        return s, p, o

    def _term(self, text: str, kind: Kind, number: int) -> Term:
        if text.endswith("N"):
            text = f"{text[:-1]}{number}"
        if kind == "Literal":
            return literal(text)
        prefix, _, name = text.partition(":")
        return iri(self.prefixes[prefix] + name) if prefix in self.prefixes else iri(text)


PAPER = Template()


def template(n: int, first: int = 1, of: Template = PAPER) -> list[Triple]:
    """n triples of a template, the paper's if no other is given, numbered from `first`."""
    return [of.triple(number) for number in range(first, first + n)]
