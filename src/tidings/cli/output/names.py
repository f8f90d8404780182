"""Formats terms for people: prefixed names, lexical forms, without control characters."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from tidings.cli.output.paint import harmless
from tidings.model import terms
from tidings.model.terms import XSD, Term
from tidings.sparql.parser.cursor import Cursor

COMMON = {
    "rdf": terms.RDF,
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": XSD,
    "owl": "http://www.w3.org/2002/07/owl#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "schema": "http://schema.org/",
    "prov": "http://www.w3.org/ns/prov#",
    "sosa": "http://www.w3.org/ns/sosa/",
    "ssn": "http://www.w3.org/ns/ssn/",
    "geo": "http://www.w3.org/2003/01/geo/wgs84_pos#",
    "void": "http://rdfs.org/ns/void#",
    "sd": "http://www.w3.org/ns/sparql-service-description#",
    "city": "http://tidings.example/lighting#",
}
NUMBERS = frozenset(f"{XSD}{name}" for name in ("integer", "decimal", "double", "float", "int", "long", "short"))
_PLAIN = NUMBERS | {f"{XSD}{name}" for name in ("string", "boolean", "date", "dateTime", "time", "gYear", "duration")}

_LOCAL = re.compile(r"[^\W_](?:[\w.-]*\w)?|_\w*", re.UNICODE)
_REMEMBERED = 100_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def instant(micros: int) -> str:
    """Microseconds since 1970 as a date and time in ISO 8601."""
    return (_EPOCH + timedelta(microseconds=micros)).isoformat().replace("+00:00", "Z")


def prefixes_of(text: str) -> dict[str, str]:
    """The prefixes that the prologue of a query or an update declares."""
    cursor = Cursor(text)
    cursor.read_prologue()
    return {prefix: namespace.removeprefix("<") for prefix, namespace in cursor.prefixes.items()}


class Names(dict[Term, str]):
    """Term -> its text for people."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        super().__init__()
        known = {namespace: prefix for prefix, namespace in (COMMON | dict(prefixes)).items() if namespace}
        self._namespaces = sorted(known.items(), key=lambda item: -len(item[0]))

    def __missing__(self, term: Term) -> str:
        if len(self) > _REMEMBERED:
            self.clear()
        shown = self[term] = harmless(self._spelt(term))
        return shown

    def _spelt(self, term: Term) -> str:
        if terms.is_iri(term):
            return self._shortened(terms.iri_text(term))
        if terms.is_blank(term):
            return term
        lexical, datatype, language = terms.split_literal(term)
        if language:
            return f"{lexical} @{language}"
        return lexical if datatype in _PLAIN else f"{lexical} ^^{self._shortened(datatype)}"

    def _shortened(self, iri: str) -> str:
        for namespace, prefix in self._namespaces:
            if iri.startswith(namespace) and _LOCAL.fullmatch(iri, len(namespace)):
                return f"{prefix}:{iri[len(namespace) :]}"
        return f"<{iri}>"


def is_number(term: Term) -> bool:
    return term[-1] == ">" and term[0] == '"' and terms.split_literal(term)[1] in NUMBERS
