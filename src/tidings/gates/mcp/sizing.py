"""Writes terms and rows for agents: briefly, and no more of them than fit into a context window.

    <http://www.w3.org/2000/01/rdf-schema#label>  ->  rdfs:label
    "22"^^xsd:integer                             ->  22

The short forms are valid in SPARQL with the prefixes that the answer names. A table has as many rows as the agent asks
for and as fit; it says whether there are more.
"""

from collections.abc import Iterable
from itertools import islice
from typing import Any

import orjson

from tidings.broker.queries import Writer
from tidings.engine.plans.spu import answer_rows
from tidings.gates.http.results import TRIPLE
from tidings.model.formats.grammar import bare_number
from tidings.model.results import Boolean, Result, Row, Solutions, Triples
from tidings.model.terms import FALSE, RDF, TRUE, XSD, Term

MOST_CHARACTERS = 24_000
"""Of the rows in one answer: some thousand tokens. One row is told however long it is."""
PREFIXES = {
    "rdf": RDF,
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": XSD,
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "prov": "http://www.w3.org/ns/prov#",
    "sosa": "http://www.w3.org/ns/sosa/",
    "schema": "https://schema.org/",
    "as": "https://www.w3.org/ns/activitystreams#",
}


class Short:
    """Writes terms, and remembers which prefixes it has used."""

    def __init__(self) -> None:
        self.used: dict[str, str] = {}

    def row(self, row: Row) -> list[str | None]:
        return [None if term is None else self.term(term) for term in row]

    def term(self, term: Term) -> str:
        if term[0] == "<":
            return self._iri(term)
        if term in (TRUE, FALSE):
            return term[1:-1].partition('"')[0]
        number = bare_number(term) if term[-1] == ">" else None
        if number is not None:
            return number
        if term[-1] == ">":
            at = term.rindex('"^^<') + 3
            return term[:at] + self._iri(term[at:])
        return term

    def _iri(self, term: Term) -> str:
        text = term[1:-1]
        for prefix, namespace in PREFIXES.items():
            local = text[len(namespace) :]
            if text.startswith(namespace) and local.isascii() and local.replace("_", "a").replace("-", "a").isalnum():
                self.used[prefix] = namespace
                return f"{prefix}:{local}"
        return term


def table_writer(limit: int, offset: int) -> Writer:
    """Writes a result as an object with some of its rows."""

    def write(result: Result) -> tuple[str, Iterable[bytes]]:
        return "application/json", [orjson.dumps(table(result, limit, offset))]

    return write


def table(result: Result, limit: int, offset: int = 0) -> dict[str, Any]:
    """`next` is the offset of the next rows, if there are any."""
    if isinstance(result, Boolean):
        return {"answer": result.value}
    variables, rows = _rows(result)
    short = Short()
    told, more = fitting((short.row(row) for row in islice(rows, offset, None)), limit)
    content: dict[str, Any] = {"columns": list(variables), "rows": told}
    if more:
        content["next"] = offset + len(told)
    return content | ({"prefixes": short.used} if short.used else {})


def fitting(rows: Iterable[list[str | None]], limit: int) -> tuple[list[list[str | None]], bool]:
    """As many rows as were asked for and fit, the first in any case; and whether there are others."""
    told: list[list[str | None]] = []
    room = MOST_CHARACTERS
    for row in rows:
        room -= sum(len(cell or "") + 3 for cell in row) + 3
        if len(told) == limit or (room < 0 and told):
            return told, True
        told.append(row)
    return told, False


def _rows(result: Solutions | Triples) -> tuple[tuple[str, ...], Iterable[Row]]:
    if isinstance(result, Triples):
        return TRIPLE, answer_rows(result)
    return result.variables, result.rows


def exact_writer(most: int) -> Writer:
    """Writes all rows of a result, term by term; one more than `most` tells that there are too many."""

    def write(result: Result) -> tuple[str, Iterable[bytes]]:
        if isinstance(result, Boolean):
            content: dict[str, Any] = {"columns": ["ask"], "rows": [[TRUE if result.value else FALSE]]}
        else:
            variables, rows = _rows(result)
            content = {"columns": list(variables), "rows": [list(row) for row in islice(rows, most + 1)]}
        return "application/json", [orjson.dumps(content)]

    return write
