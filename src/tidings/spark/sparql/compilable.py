"""Decides from the text alone, before Spark starts, whether a query can be compiled to a Spark job."""

from collections.abc import Iterator

from tidings.spark.sparql.errors import NotCompilable
from tidings.sparql.algebra import (
    Ask,
    Call,
    Dataset,
    Exists,
    Negated,
    Node,
    PathPattern,
    Select,
    Service,
    every_expression,
    inputs,
)
from tidings.sparql.functions import MICROS
from tidings.sparql.parser import parse_query

INTERVAL = ("valid_from", "valid_to", "from_seq", "to_seq")
"""The columns that a query between two instants adds. `to_seq` is null if a row held to the end."""

_RANDOM = frozenset({"RAND", "UUID", "STRUUID", "BNODE"})
"""Functions that would give a different value each time that Spark evaluates them."""


def read_query(text: str, base: str | None = None, dataset: Dataset | None = None) -> Select | Ask:
    """Parse a query for one state of the graph. Raises SparqlSyntaxError, NotCompilable."""
    query = parse_query(text, base, dataset)
    if not isinstance(query, Select | Ask):
        word = type(query).__name__.upper()
        raise NotCompilable(word, word, text)
    for part in _patterns(query.pattern):
        if isinstance(part, Service):
            raise NotCompilable("SERVICE", "SERVICE", text)
        if isinstance(part, PathPattern) and not isinstance(part.path, Negated):
            raise NotCompilable("a property path with *, + or ?")
    for called in _called(query.pattern):
        if called in _RANDOM:
            raise NotCompilable(f"the function {called}", called, text)
    return query


def read_select(text: str, base: str | None = None, dataset: Dataset | None = None) -> Select:
    """Parse a SELECT. Raises SparqlSyntaxError, NotCompilable."""
    query = read_query(text, base, dataset)
    if isinstance(query, Ask):
        raise NotCompilable("ASK, which has no rows,", "ASK", text)
    return query


def read_lasting(text: str, base: str | None = None) -> Select:
    """Parse a SELECT for the time between two instants. Raises SparqlSyntaxError, NotCompilable."""
    query = read_select(text, base)
    for variable in query.variables:
        if variable[1:] in INTERVAL:
            raise NotCompilable(f"a variable with the name of a column of the interval, {variable},")
    if not {"NOW", MICROS}.isdisjoint(_called(query.pattern)):
        raise NotCompilable("the function NOW between two instants", "NOW", text)
    return query


def _called(pattern: Node) -> Iterator[str]:
    """The functions that a pattern calls."""
    return (each.function for each in every_expression(pattern) if isinstance(each, Call))


def _patterns(pattern: Node) -> Iterator[Node]:
    """A pattern and all patterns within it, with those of EXISTS."""
    yield from _below(pattern)
    for each in every_expression(pattern):
        if isinstance(each, Exists):
            yield from _below(each.pattern)


def _below(node: Node) -> Iterator[Node]:
    yield node
    for inner in inputs(node):
        yield from _below(inner)
