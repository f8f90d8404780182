"""Algebra as text: every W3C query that is read, written and read again still gives its expected result."""

from typing import Any

import pytest

from conformance.cases import PATH, cases, same_rows
from conformance.test_w3c import EXCEPTIONS
from tidings.engine.store.store import Store
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.model.results import Boolean, Solutions, Triples
from tidings.model.terms import Quad
from tidings.sparql.evaluate.context import Moment
from tidings.sparql.evaluate.query import evaluate
from tidings.sparql.parser import parse_query
from tidings.sparql.writing.requests import written_query
from tidings.sparql.writing.surroundings import HIDDEN, Surroundings

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not PATH.exists(), reason=f"the W3C cases are not at {PATH}"),
]


def quads_of(text: str) -> list[Quad]:
    return list(parse_rdf(text.encode(), RdfFormat.N_QUADS))


def written(case: dict[str, Any]) -> str:
    query = parse_query(case["query"], case["base"])
    return written_query(query, Surroundings(dataset=query.dataset))


def test_every_query_that_is_written_again_gives_the_expected_result() -> None:
    for case in cases("query"):
        if case["id"] not in EXCEPTIONS:
            _check(case)


def _check(case: dict[str, Any]) -> None:
    text, expected = written(case), case["expected"]
    result = evaluate(parse_query(text, case["base"]), Store(quads_of(case["data"])), Moment(1_700_000_000_000_000))
    said = (case["id"], text)
    match result:
        case Boolean(value):
            assert expected == {"form": "ask", "boolean": value}, said
        case Solutions(variables, rows):
            seen = [each for each in variables if not f"?{each}".startswith(HIDDEN)]  # SELECT * of nothing
            assert set(seen) == set(expected["vars"]), said
            order = [expected["vars"].index(variable) for variable in seen]
            assert same_rows(
                (row[: len(seen)] for row in rows), [tuple(row[i] for i in order) for row in expected["rows"]]
            ), said
        case Triples(triples):
            assert same_rows(triples, {quad[:3] for quad in quads_of(expected["nquads"])}), said
