"""Rows as N-Triples terms, in one spelling for all targets, so that answers can be compared.

A term has one spelling (`model/terms.py`), and language tags are in lower case: stores may keep their case or not. Two
things stay as a target has them, because it may: labels of blank nodes, which `comparable` leaves out, and the lexical
forms of numbers. Data that is to be compared writes numbers in their canonical form, and queries name their variables.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TypeAlias

from tidings.bench.targets.errors import TargetFailed
from tidings.model.errors import ResultsSyntaxError
from tidings.model.formats.results.json import ResultsDocument, Value, read_json, term_of
from tidings.model.results import Boolean, Solutions
from tidings.model.terms import FALSE, TRUE, Term, Triple, fold, is_tagged

Row: TypeAlias = tuple[str | None, ...]

_VIRTUOSO_ASK = ("__ASK_RETVAL",)
"""Virtuoso 7 answers ASK with a table: one row for yes, none for no."""
_REMEMBERED = 100_000


def notified_rows(part: ResultsDocument) -> tuple[Row, ...]:
    """The rows of a part of a notification. Raises TargetFailed if a cell is no term."""
    if part.boolean is not None:
        return (boolean_row(part.boolean),)
    try:
        return tuple(part.solutions(_term).rows)
    except ValueError as error:
        raise TargetFailed(f"the target tells rows that are none: {error}") from error


@lru_cache(_REMEMBERED)  # what is told to many subscribers is the same few terms
def _term(value: Value) -> Term:
    return folded(term_of(value))


def folded(term: Term) -> Term:
    return fold(term) if is_tagged(term) else term


def boolean_row(value: bool) -> Row:
    return (TRUE if value else FALSE,)


def rows_of(document: ResultsDocument) -> list[Row]:
    """The rows of results within a message. Raises TargetFailed."""
    return _rows(document.result)


def read_rows(document: bytes) -> list[Row]:
    """The rows of a document of SPARQL results in JSON. Raises TargetFailed."""
    return _rows(lambda: read_json(document))


def _rows(read: Callable[[], Solutions | Boolean]) -> list[Row]:
    try:
        result = read()
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
    """Rows as a multiset in which all blank nodes are equal, because each target has its own labels."""
    return Counter(tuple("_:" if cell is not None and cell[0] == "_" else cell for cell in row) for row in rows)


def insert_data(triples: Iterable[Triple]) -> str:
    """The request that adds triples to the default graph."""
    return "INSERT DATA {\n" + "".join([f"{s} {p} {o} .\n" for s, p, o in triples]) + "}"
