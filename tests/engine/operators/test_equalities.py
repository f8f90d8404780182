"""Patterns that nothing but a filter by `=` connects are joined by what their values have in common."""

import pytest

from oracles.recomputation import Follower, plan_followed
from strategies.subscriptions import text_of
from tidings.engine.engine import Engine

UPDATES = (
    "INSERT DATA { :a :p 1 . :b :p 2.50 . :c :q 1.0 ; :r :c }",
    'INSERT DATA { :c :q 2.5e0, :d . :d :p :d, "x" }',
    'INSERT DATA { :e :q "x", true . :f :p "1"^^<http://www.w3.org/2001/XMLSchema#boolean> }',
    "DELETE DATA { :a :p 1 } ; INSERT DATA { :a :p 1.00 }",
    "DELETE WHERE { :c ?p ?o }",
)

JOINED = (
    "SELECT * { ?s :p ?o . ?x :q ?y FILTER (?o = ?y) }",
    "SELECT * { ?s :p ?o . ?x :q ?y FILTER (?s != ?x && ?y = ?o) }",
    "SELECT ?s ?y { :a :p ?s . ?x :q ?y FILTER (?s = ?y) }",
    "SELECT * { { ?s :p ?o OPTIONAL { ?s :r ?v } } { ?x :q ?y } FILTER (STR(?v) = STR(?x)) }",
)

AS_THEY_ARE = (
    "SELECT * { ?s :p ?o . ?s :q ?y FILTER (?o = ?y) }",
    "SELECT * { ?s :p ?o . ?x :q ?y FILTER (?o = 1) }",
    "SELECT * { ?s :p ?o . ?x :q ?y . ?z :r ?w FILTER (?o = ?y) }",
    "SELECT * { GRAPH ?g { ?s :p ?o . ?x :q ?y FILTER (?o = ?y) } }",
)


def follow(query: str) -> str:
    return plan_followed(text_of(query), map(text_of, UPDATES))


@pytest.mark.parametrize("query", JOINED)
def test_two_patterns_meet_by_a_key(query: str) -> None:
    assert "extend: _key" in follow(query)


@pytest.mark.parametrize("query", AS_THEY_ARE)
def test_other_filters_stay_as_they_are(query: str) -> None:
    assert "extend: _key" not in follow(query)


def test_a_row_meets_its_equals_alone() -> None:
    engine = Engine()
    values = " ".join(f":s{number} :p {number} ." for number in range(500))
    engine.apply(text_of(f"INSERT DATA {{ {values} }}"), now=0)
    follower = Follower(engine, text_of("SELECT * { ?s :p ?o . ?x :q ?y FILTER (?o = ?y) }"))
    engine.apply(text_of("INSERT DATA { :x :q 1000 }"), now=0)  # has the rows kept
    meter = follower.subscription.spu.meter
    before = meter.check()
    follower.hear(engine.apply(text_of("INSERT DATA { :x :q 7.0 }"), now=0).notifications)
    follower.check()
    assert before - meter.check() < 10
