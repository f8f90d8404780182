"""Algebra as text: a query that is written and read again gives the rows that it gave."""

from hypothesis import given, settings

from conformance.cases import same_rows
from strategies.data import datasets
from strategies.queries import asks, constructs, selects
from strategies.subscriptions import FEATURES, text_of
from tidings.engine.store.store import Store
from tidings.model.results import Boolean, Solutions, Triples
from tidings.model.terms import Quad
from tidings.sparql.algebra import Query
from tidings.sparql.evaluate.context import Moment
from tidings.sparql.evaluate.query import evaluate
from tidings.sparql.parser import parse_query
from tidings.sparql.writing.requests import written_query
from tidings.sparql.writing.surroundings import HIDDEN, Surroundings

DIFFERENT_EACH_TIME = ("RAND(", "UUID(", "BNODE(")
EXAMPLE = "http://example.org/"
DATA = [
    (f"<{EXAMPLE}{s}>", f"<{EXAMPLE}{p}>", o, g)
    for s, p, o in [
        ("a", "p", f"<{EXAMPLE}b>"), ("b", "p", f"<{EXAMPLE}c>"), ("c", "p", f"<{EXAMPLE}a>"), ("a", "q", '"s"@en'),
        ("b", "q", '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'), ("a", "r", '"x"'),
    ]
    for g in ("", f"<{EXAMPLE}g>")
]  # fmt: skip


def answer(quads: list[Quad], query: Query) -> tuple[tuple[str, ...], list[tuple[str | None, ...]] | bool]:
    """Columns and rows, without the columns that SELECT of nothing is written with."""
    match evaluate(query, Store(quads), Moment(1_700_000_000_000_000)):
        case Boolean(value):
            return (), value
        case Triples(triples):
            return (), list(triples)
        case Solutions(variables, rows):
            seen = [place for place, each in enumerate(variables) if not f"?{each}".startswith(HIDDEN)]
            columns = sorted(seen, key=lambda place: variables[place])
            return tuple(variables[place] for place in columns), [tuple(row[i] for i in columns) for row in rows]


def check(quads: list[Quad], text: str) -> None:
    query = parse_query(text, EXAMPLE)
    again = written_query(query, Surroundings(dataset=query.dataset))
    (names, before), (found, after) = answer(quads, query), answer(quads, parse_query(again, EXAMPLE))
    assert found == names, again
    same = before == after if isinstance(before, bool) or isinstance(after, bool) else same_rows(before, after)
    assert same, again


@settings(max_examples=60)
@given(datasets, selects() | asks() | constructs())
def test_random_queries_mean_the_same_when_they_are_written_again(quads: list[Quad], text: str) -> None:
    if not any(
        each in text.upper() for each in ("LIMIT", "OFFSET", "SAMPLE", "GROUP_CONCAT")
    ):  # there, rows may differ
        check(quads, text)


def test_queries_with_every_feature_mean_the_same_when_they_are_written_again() -> None:
    tried = 0
    for text in (text_of(query) for queries in FEATURES.values() for query in queries):
        if not any(each in text.upper() for each in (*DIFFERENT_EACH_TIME, "LIMIT", "OFFSET", "SAMPLE")):
            check(DATA, text)
            tried += 1
    assert tried > 100
