"""Rows as N-Triples terms, spelt alike whatever target they come from, so that answers can be compared.

A term has one spelling (`model/terms.py`), and language tags are in lower case: stores may keep their case or not. Two
things stay as a target has them, because it may: labels of blank nodes, which `comparable` leaves out, and the lexical
forms of numbers. Data that is to be compared writes numbers in their canonical form, and queries name their variables.
"""

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec

from tidings.bench.targets.errors import TargetFailed
from tidings.model.errors import ResultsSyntaxError
from tidings.model.formats.grammar import checked_blank, checked_iri, checked_literal
from tidings.model.formats.results.json import read_json
from tidings.model.results import Boolean, Solutions
from tidings.model.terms import FALSE, TRUE, Term, Triple, fold, is_tagged

Row: TypeAlias = tuple[str | None, ...]

_VIRTUOSO_ASK = ("__ASK_RETVAL",)
"""Virtuoso 7 answers ASK with a table: one row for yes, none for no."""
_REMEMBERED = 100_000


class Value(msgspec.Struct, frozen=True, gc=False):
    type: str
    value: str
    datatype: str | None = None
    language: str | None = msgspec.field(name="xml:lang", default=None)


class Head(msgspec.Struct):
    vars: list[str] = []


class Bindings(msgspec.Struct):
    bindings: list[dict[str, Value]] = []


class Table(msgspec.Struct):
    """SPARQL results in JSON, as a part of a message."""

    head: Head = msgspec.field(default_factory=Head)
    results: Bindings = msgspec.field(default_factory=Bindings)
    boolean: bool | None = None

    def rows(self) -> tuple[Row, ...]:
        """Raises TargetFailed for what are no terms."""
        if self.boolean is not None:
            return (boolean_row(self.boolean),)
        names = self.head.vars
        try:
            return tuple(
                [tuple([_term(row[name]) if name in row else None for name in names]) for row in self.results.bindings]
            )
        except ValueError as error:
            raise TargetFailed(f"the target tells rows that are none: {error}") from error


@lru_cache(_REMEMBERED)  # what is told to many subscribers is the same few terms
def _term(value: Value) -> Term:
    match value.type:
        case "uri":
            return checked_iri(value.value)
        case "bnode":
            return checked_blank(value.value)
        case _:
            return folded(checked_literal(value.value, value.datatype, value.language))


def folded(term: Term) -> Term:
    return fold(term) if is_tagged(term) else term


def boolean_row(value: bool) -> Row:
    return (TRUE if value else FALSE,)


def rows_of(message: Any) -> list[Row]:
    """The rows of results within a message that was decoded already."""
    try:
        return list(msgspec.convert(message, Table).rows())
    except msgspec.ValidationError as error:
        raise TargetFailed(f"the target answers with what are no results: {error}") from error


def read_rows(document: bytes) -> list[Row]:
    """The rows of a document of SPARQL results in JSON."""
    try:
        result = read_json(document)
    except ResultsSyntaxError as error:
        raise TargetFailed(f"the target answers with what are no results: {error}") from error
    match result:
        case Boolean(value):
            return [boolean_row(value)]
        case Solutions(variables, rows) if variables == _VIRTUOSO_ASK:
            return [boolean_row(bool(tuple(rows)))]
        case Solutions(_, rows):
            return [tuple([cell and (folded(cell) if cell[0] == '"' else cell) for cell in row]) for row in rows]


def comparable(rows: Iterable[Row]) -> Counter[Row]:
    """Rows as a multiset in which all blank nodes are the same one: their labels are each target's own."""
    return Counter(tuple("_:" if cell is not None and cell[0] == "_" else cell for cell in row) for row in rows)


def insert_data(triples: Iterable[Triple]) -> str:
    """The request that adds triples to the default graph."""
    return "INSERT DATA {\n" + "".join([f"{s} {p} {o} .\n" for s, p, o in triples]) + "}"
