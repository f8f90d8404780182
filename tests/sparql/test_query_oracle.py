"""Random queries over random datasets: the same rows as pyoxigraph, and always those of section 18 word for word.

pyoxigraph shares nothing with us, not even the parser; its known faults are named in `oracles.faults`. The bottom-up
evaluation shares our parser and expressions, and has no faults to be excused.
"""

import pyoxigraph
import pytest
from hypothesis import HealthCheck, assume, given, settings

from conformance.cases import same_rows
from oracles.bottom_up import BottomUp
from oracles.faults import DUPLICATES, faults
from oracles.oxigraph import Row, bag, by_value, rows_of, to_store
from strategies.data import PREFIX, datasets, ex
from strategies.graph_names import named_datasets, named_inside
from strategies.queries import Ordered, asks, constructs, ordered, selects
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.model.results import Boolean, Solutions, Triples
from tidings.model.terms import Quad, Term
from tidings.sparql.algebra import Ask, Construct, Select
from tidings.sparql.parser import parse_query

SETTINGS = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


def our_rows(quads: list[Quad], text: str) -> list[Row]:
    result = Core(Store(quads)).query(text, now=0)
    assert isinstance(result, Solutions)
    return list(result.rows)


def their_rows(quads: list[Quad], text: str, variables: tuple[str, ...]) -> list[Row]:
    """The oracle's rows, in the order of our columns."""
    solutions = to_store(quads).query(text)
    assert isinstance(solutions, pyoxigraph.QuerySolutions)
    names = [variable.value for variable in solutions.variables]
    columns = [names.index(variable[1:]) for variable in variables]
    return [tuple(row[column] for column in columns) for row in rows_of(solutions)]


@SETTINGS
@given(datasets, selects())
def test_select_gives_the_rows_of_the_oracle(quads: list[Quad], text: str) -> None:
    query = parse_query(text)
    assert isinstance(query, Select)
    known = faults(text, query.pattern)
    assume(known <= DUPLICATES)
    ours, theirs = bag(our_rows(quads, text)), bag(their_rows(quads, text, query.variables))
    if known:
        assert set(ours) == set(theirs)
    else:
        assert ours == theirs


@SETTINGS
@given(datasets, selects())
def test_select_gives_the_rows_of_section_18(quads: list[Quad], text: str) -> None:
    query = parse_query(text)
    assert isinstance(query, Select)
    assert bag(our_rows(quads, text)) == bag(BottomUp(quads, query.dataset).rows(query.pattern, query.variables))


@SETTINGS
@given(named_datasets, named_inside())
def test_the_name_of_a_graph_meets_what_was_found_in_it_as_in_section_18(quads: list[Quad], text: str) -> None:
    query = parse_query(text)
    assert isinstance(query, Select)
    assert bag(our_rows(quads, text)) == bag(BottomUp(quads, query.dataset).rows(query.pattern, query.variables))


@SETTINGS
@given(datasets, asks())
def test_ask_gives_the_answer_of_the_oracle(quads: list[Quad], text: str) -> None:
    query = parse_query(text)
    assert isinstance(query, Ask)
    ours = Core(Store(quads)).query(text, now=0)
    assert ours == Boolean(bool(BottomUp(quads, query.dataset).rows(query.pattern, ())))
    if faults(text, query.pattern) <= DUPLICATES:
        theirs = to_store(quads).query(text)
        assert isinstance(theirs, pyoxigraph.QueryBoolean)
        assert ours == Boolean(bool(theirs))


@SETTINGS
@given(datasets, constructs())
def test_construct_gives_the_triples_of_the_oracle(quads: list[Quad], text: str) -> None:
    query = parse_query(text)
    assert isinstance(query, Construct)
    # Blank nodes of the template are new for each solution, so here duplicates do matter.
    assume(not faults(text, query.pattern))
    ours = Core(Store(quads)).query(text, now=0)
    assert isinstance(ours, Triples)
    theirs = to_store(quads).query(text)
    assert isinstance(theirs, pyoxigraph.QueryTriples)
    triples = [(str(each.subject), str(each.predicate), str(each.object)) for each in theirs]
    found = [tuple(map(by_value, triple)) for triple in ours.triples]
    assume(len(found) < 12)  # matching blank nodes takes its time
    assert same_rows(found, {tuple(map(by_value, triple)) for triple in triples})


def kind(term: Term | None) -> str:
    """What terms can be ordered among each other in just one way."""
    if term is None:
        return ""
    if term[0] == "<" or term[-1] == '"':
        return term[0]
    return "number" if "number>" in (by_value(term) or "") else "other"


def is_total(rows: list[Row]) -> bool:
    """Whether every column holds terms of one kind that the recommendation puts in order."""
    kinds = [{kind(term) for term in column} - {""} for column in zip(*rows, strict=True)]
    return all(len(each) < 2 and each <= {"<", '"', "number"} for each in kinds)


@SETTINGS
@given(datasets, ordered())
def test_rows_come_in_the_order_of_the_oracle(quads: list[Quad], query: Ordered) -> None:
    parsed = parse_query(query.text)
    assert isinstance(parsed, Select)
    assume(not faults(query.text, parsed.pattern))
    everything = our_rows(quads, query.text)
    window = f"{query.text} LIMIT {query.limit} OFFSET {query.offset}"
    assert our_rows(quads, window) == everything[query.offset : query.offset + query.limit]
    assume(is_total(everything))
    theirs = their_rows(quads, window, parsed.variables)
    assert [tuple(map(by_value, row)) for row in our_rows(quads, window)] == [
        tuple(map(by_value, row)) for row in theirs
    ]


# -- what the oracle gets wrong, and we must not ----------------------------------------------------------------

A, B, P, G = ex("a"), ex("b"), ex("p"), ex("g")
DATA: list[Quad] = [(A, P, B, ""), (B, P, A, ""), (A, P, B, G), (A, ex("q"), '"s"', "")]


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ("{ :nowhere :p* ?o }", 1),
        ("{ ?s :p? :nowhere }", 1),
        ("{ :nowhere :p+ ?o }", 0),
        ("{ VALUES ?s { :nowhere } ?s :p* ?o }", 0),
        ("{ ?s :p* ?o FILTER(?s = :nowhere) }", 0),
        ("{ VALUES ?o { :nowhere } ?s (:p|:q)? ?o }", 0),
        ("{ BIND(:nowhere AS ?s) ?s :p* ?s }", 0),
        ("{ :nowhere (:p?/:q?) ?o }", 0),
        ("{ GRAPH ?g { VALUES ?s { :nowhere } ?s :p* ?o } }", 0),
        ("{ VALUES ?s { :nowhere } FILTER EXISTS { ?s :p* ?o } }", 1),
        ("{ :a (:p|:p) ?o }", 2),
        ("{ :a !(:q|^:q) ?o }", 2),
        ("{ :a !() ?o }", 2),
        ("{ GRAPH :missing { BIND(1 AS ?x) } }", 0),
        ("{ GRAPH :missing { } }", 0),
        ("{ GRAPH :missing { OPTIONAL { ?s :p ?o } } }", 0),
        ("{ GRAPH :missing { VALUES ?x { 1 2 } } }", 0),
        ("{ GRAPH :missing { SELECT (COUNT(*) AS ?n) { } } }", 0),
        ("{ GRAPH :missing { :nowhere :p* ?o } }", 0),
        ("{ GRAPH :g { } }", 1),
        ("{ GRAPH ?g { } }", 1),
        ("{ GRAPH ?g { VALUES ?x { 1 2 } } }", 2),
        ("{ FILTER NOT EXISTS { GRAPH :missing { } } }", 1),
        ("{ GRAPH ?g { ?s :p ?o FILTER(?g = :g) } }", 0),
        ("{ GRAPH ?g { ?s :p ?o FILTER(!BOUND(?g)) } }", 1),
        ("{ GRAPH ?g { ?s :p ?o } FILTER(?g = :g) }", 1),
        ("{ OPTIONAL { FILTER(?y) } FILTER(:a NOT IN ()) }", 1),
        ("{ FILTER(1 IN ()) }", 0),
        ("{ { SELECT (COUNT(?s + ?o) AS ?n) { ?s :p ?o } } FILTER(?n = 0) }", 1),
    ],
)
def test_corners_that_the_oracle_gets_wrong(pattern: str, count: int) -> None:
    assert len(our_rows(DATA, f"{PREFIX}SELECT * {pattern}")) == count


def test_a_triple_of_two_merged_graphs_is_there_once() -> None:
    data = [(A, P, B, G), (A, P, B, ex("h"))]
    assert len(our_rows(data, f"{PREFIX}SELECT * FROM :g FROM :h FROM :g {{ ?s :p ?o }}")) == 1
    assert our_rows(data, f"{PREFIX}SELECT (COUNT(*) AS ?n) FROM :g FROM :h {{ ?s ?p ?o }}")[0][0] == (
        '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'
    )


@pytest.mark.parametrize(
    "right",
    [
        "?a :p ?b",
        "?a :p ?v FILTER(?v != ?b)",
        "?a :p ?v FILTER EXISTS { ?v :p ?b }",
        "{ ?a :p ?b } UNION { ?a :q ?c }",
        "?a :p ?v OPTIONAL { ?b :p ?v } FILTER(!BOUND(?b))",
    ],
)
def test_minus_inside_exists_sees_the_row_that_asks(right: str) -> None:
    text = f"{PREFIX} SELECT * {{ ?c :q ?b FILTER EXISTS {{ ?a :q :a MINUS {{ {right} }} }} }}"
    edges = [("a", "q", "a"), ("c", "q", "a"), ("b", "q", "c"), ("a", "p", "b"), ("c", "p", "a"), ("b", "p", "b")]
    quads = [(ex(s), ex(p), ex(o), "") for s, p, o in edges]
    query = parse_query(text)
    assert isinstance(query, Select)
    word_for_word = bag(BottomUp(quads, query.dataset).rows(query.pattern, query.variables))
    assert bag(our_rows(quads, text)) == word_for_word
    assert bag(their_rows(quads, text, query.variables)) == word_for_word
