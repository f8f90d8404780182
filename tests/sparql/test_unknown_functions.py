"""A call of a function that nobody knows is SPARQL all the same (17.6): an error in the expression, and a warning."""

import pytest

from tidings.engine.engine import Engine
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.engine.warnings import Warnings
from tidings.model.results import Solutions
from tidings.model.terms import XSD, Quad
from tidings.sparql.algebra import Modify
from tidings.sparql.parser import parse_query, parse_update

DATA: list[Quad] = [("<urn:a>", "<urn:p>", f'"1"^^<{XSD}integer>', ""), ("<urn:b>", "<urn:p>", '"x"', "")]
PROLOGUE = f"PREFIX xsd: <{XSD}> "
UNKNOWN = "the function <urn:f> is not known: every call of it is an error"


def answer(text: str) -> list[tuple[str | None, ...]]:
    result = Core(Store(DATA)).query(PROLOGUE + text, now=0)
    assert isinstance(result, Solutions)
    return sorted(result.rows, key=str)


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("<urn:f>(?o)", 0),
        ("!<urn:f>(?o)", 0),
        ("<urn:f>()", 0),
        ("<urn:f>(?o) || ?s = <urn:a>", 1),
        ("<urn:f>(?o) && ?s = <urn:a>", 0),
        ("!(<urn:f>(?o) && ?s = <urn:a>)", 1),
        ("COALESCE(<urn:f>(?o), true)", 2),
        ("IF(<urn:f>(?o), true, true)", 0),
        ("?s IN (<urn:f>(?o), <urn:a>)", 1),
        ("EXISTS { ?s ?p ?o FILTER (<urn:f>(?o)) }", 0),
        ("xsd:integer(?o, ?o) = 1", 0),
        ("xsd:integer() = 1", 0),
        ("xsd:integer(?o) = 1", 1),
    ],
)
def test_the_call_is_an_error_of_every_row(condition: str, count: int) -> None:
    assert len(answer(f"SELECT ?s {{ ?s ?p ?o FILTER ({condition}) }}")) == count


def test_a_filter_may_be_nothing_but_the_call() -> None:
    assert answer("SELECT ?s { ?s ?p ?o FILTER <urn:f>(?o) }") == []


def test_bind_and_the_select_clause_leave_their_variables_unbound() -> None:
    assert answer("SELECT ?x { ?s ?p ?o BIND (<urn:f>(?o) AS ?x) }") == [(None,), (None,)]
    assert answer("SELECT (<urn:f>(?o) AS ?x) { ?s ?p ?o }") == [(None,), (None,)]
    assert answer("SELECT (COUNT(<urn:f>(?o)) AS ?n) { ?s ?p ?o }") == [(f'"0"^^<{XSD}integer>',)]


def test_an_update_finds_nothing_to_change() -> None:
    core = Core(Store(DATA))
    assert not core.update("DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER (<urn:f>(?o)) }", now=0)


@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        ("SELECT * { ?s ?p ?o FILTER (<urn:f>(?o)) }", (UNKNOWN,)),
        ("SELECT * { ?s ?p ?o FILTER (<urn:f>(?o) || <urn:f>(?s)) }", (UNKNOWN,)),
        ("SELECT * { ?s ?p ?o FILTER EXISTS { ?s ?p ?o FILTER (<urn:f>(?o)) } }", (UNKNOWN,)),
        ("ASK { ?s ?p ?o BIND (<urn:f>(?o) AS ?x) }", (UNKNOWN,)),
        ("CONSTRUCT WHERE { ?s ?p ?o } ORDER BY <urn:f>(?o)", (UNKNOWN,)),
        ("DESCRIBE ?s { ?s ?p ?o } GROUP BY ?s HAVING (<urn:f>(?s))", (UNKNOWN,)),
        (
            "SELECT (xsd:integer(1, 2) AS ?x) {}",
            (f"the function <{XSD}integer> takes 1 argument, not 2: every such call is an error",),
        ),
        ("SELECT (xsd:integer(1) AS ?x) (<urn:tidings:function:micros>() AS ?y) {}", ()),
        ("SELECT * { ?s <urn:f> ?o }", ()),
    ],
)
def test_the_parsed_query_says_which_calls_can_only_be_errors(text: str, warnings: tuple[str, ...]) -> None:
    assert parse_query(PROLOGUE + text).warnings == warnings


def test_each_operation_of_an_update_has_its_own_warnings() -> None:
    first, second = parse_update(
        "DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER (<urn:f>(?o)) } ; DELETE WHERE { ?s ?p ?o }"
    )
    assert isinstance(first, Modify)
    assert isinstance(second, Modify)
    assert (first.warnings, second.warnings) == ((UNKNOWN,), ())


def test_a_warning_is_told_once_however_often_it_is_asked() -> None:
    engine = Engine()
    told: list[str] = []
    engine.core.warnings.tell = told.append
    for number in range(3):
        engine.core.query(f"SELECT * {{ ?s ?p ?o FILTER (<urn:f>(?o) = {number}) }}", now=0)
    engine.core.query("SELECT ?s { ?s ?p ?o FILTER (<urn:f>(?o)) }", now=0)
    engine.apply("DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER (<urn:f>(?o)) }", now=0)
    engine.subscribe("SELECT ?o { ?s ?p ?o FILTER (<urn:f>(?o)) }", now=0)
    assert told == [UNKNOWN]


def test_there_is_an_end_to_what_is_told() -> None:
    warnings, told = Warnings(), list[str]()
    warnings.tell = told.append
    warnings.note(f"{number} {'x' * 10_000}" for number in range(10_000))
    assert len(told) == 256
    assert max(map(len, told)) == 500


def test_explain_shows_the_warnings_of_a_subscription() -> None:
    engine = Engine()
    doubtful, _ = engine.subscribe("SELECT * { ?s ?p ?o FILTER (<urn:f>(?o)) }", now=0)
    plain, _ = engine.subscribe("SELECT * { ?s ?p ?o }", now=0)
    assert engine.explain(doubtful.id).to_text().splitlines()[0] == f"warning: {UNKNOWN}"
    assert engine.explain(doubtful.id).to_json()["warnings"] == [UNKNOWN]
    assert engine.explain(plain.id).to_json()["warnings"] == []


def test_a_subscription_stays_without_rows_as_its_filter_is_always_in_error() -> None:
    engine = Engine()
    _, rows = engine.subscribe("SELECT * { ?s ?p ?o FILTER (<urn:f>(?o)) }", now=0)
    assert rows == []
    assert engine.apply("INSERT DATA { <urn:a> <urn:p> 1 }", now=0).notifications == []
