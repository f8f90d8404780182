"""Every W3C case that is given passes; one that cannot would be listed in EXCEPTIONS with the clause that says why."""

from typing import Any

import pytest

from conformance.cases import PATH, cases, same_rows
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.engine.updates.operations import PreparedUpdate
from tidings.model.errors import SparqlSyntaxError
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.model.results import Boolean, Solutions, Triples
from tidings.model.terms import Quad
from tidings.sparql.evaluate.context import Moment
from tidings.sparql.evaluate.query import evaluate
from tidings.sparql.parser import parse_query, parse_update

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not PATH.exists(), reason=f"the W3C cases are not at {PATH}"),
]

_FETCHED = (
    "FROM names a document that is not part of the case. Section 13.2 of SPARQL 1.1 Query leaves it to the service "
    "where the graphs of a dataset come from; ours are the graphs of the store, and nothing is fetched."
)
EXCEPTIONS = {f"sparql10/dataset/dawg-dataset-{number}": _FETCHED for number in ("03", "05", "07", "08", "12b")}


def _params(kind: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in cases(kind) if case["id"] not in EXCEPTIONS]


def _quads(text: str) -> list[Quad]:
    return list(parse_rdf(text.encode(), RdfFormat.N_QUADS))


@pytest.mark.parametrize("case", _params("syntax"))
def test_a_text_is_accepted_or_refused_as_the_case_says(case: dict[str, Any]) -> None:
    parse = parse_query if case["language"] == "query" else parse_update
    if case["valid"]:
        parse(case["text"])
    else:
        with pytest.raises(SparqlSyntaxError) as refusal:
            parse(case["text"])
        assert refusal.value.line >= 1
        assert refusal.value.expected


@pytest.mark.parametrize("case", _params("query"))
def test_a_query_gives_the_expected_result(case: dict[str, Any]) -> None:
    store = Store(_quads(case["data"]))
    result = evaluate(parse_query(case["query"], case["base"]), store, Moment(1_700_000_000_000_000))
    expected = case["expected"]
    match result:
        case Boolean(value):
            assert expected == {"form": "ask", "boolean": value}
        case Solutions(variables, rows):
            assert expected["form"] == "select"
            assert set(variables) == set(expected["vars"])
            order = [expected["vars"].index(variable) for variable in variables]
            assert same_rows(rows, [tuple(row[i] for i in order) for row in expected["rows"]])
        case Triples(triples):
            assert expected["form"] == "graph"
            assert same_rows(triples, {quad[:3] for quad in _quads(expected["nquads"])})


@pytest.mark.parametrize("case", _params("update"))
def test_an_update_leaves_the_expected_dataset_and_tells_the_exact_delta(case: dict[str, Any]) -> None:
    store = Store(_quads(case["data"]))
    before = set(store)
    delta = Core(store).execute(PreparedUpdate(parse_update(case["request"], case["base"])), (), now=0)
    assert same_rows(store, set(_quads(case["expected"])))
    assert (before - set(delta.removed())) | set(delta.added()) == set(store)
    assert set(delta.removed()) <= before
    assert not set(delta.added()) & before


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_an_exception_has_no_data_for_the_graphs_that_it_names(name: str) -> None:
    (case,) = [case for case in cases("query") if case["id"] == name]
    assert case["data"] == ""
    assert "FROM" in case["query"]
    assert case["expected"]["rows"]
