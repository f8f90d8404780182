"""GRAPH around sub-SELECTs and whatever may hold without a triple is kept up to date, graph by graph at the worst."""

import pytest

from oracles.recomputation import Follower, plan_followed
from strategies.subscriptions import text_of
from tidings.engine.engine import Engine

COMING_AND_GOING = (
    "INSERT DATA { :a :p 1 . GRAPH :g { :a :p 1, 2 ; :q 5 . :b :p 3 } GRAPH :h { :c :q 1 } }",
    "INSERT DATA { GRAPH :g { :c :p :a } GRAPH :i { :a :p 9 } }",
    "INSERT DATA { GRAPH :h { :c :p 4 ; :q 2 } }",
    "DELETE DATA { GRAPH :g { :a :q 5 } }",
    "DELETE WHERE { GRAPH :i { ?s ?p ?o } }",
    "DELETE WHERE { GRAPH :h { ?s :p ?o } }",
    "DELETE WHERE { GRAPH :g { ?s ?p ?o } }",
)

SPREAD = {
    "SELECT * { GRAPH ?g { SELECT ?s (COUNT(*) AS ?n) { ?s :p ?o } GROUP BY ?s } }": "group",
    "SELECT * { GRAPH ?g { SELECT (COUNT(*) AS ?n) { ?s :p ?o } } }": "graphs",
    "SELECT * { GRAPH :h { SELECT (COUNT(*) AS ?n) { ?s :p ?o } } }": "graphs",
    "SELECT * { GRAPH :h { SELECT ?s (COUNT(*) AS ?n) { ?s :p ?o } GROUP BY ?s } }": "group",
    "SELECT * { GRAPH ?g { { SELECT DISTINCT ?s { ?s ?p ?o } } MINUS { ?s :q ?v } } }": "distinct",
    "SELECT * { GRAPH ?g { OPTIONAL { ?s :q ?o } } }": "graphs",
    "SELECT * { GRAPH :g { OPTIONAL { ?s :q ?o } } }": "graphs",
    "SELECT * { GRAPH ?g { VALUES ?s { :a :c } FILTER NOT EXISTS { ?s :p ?o } } }": "graphs",
    "SELECT * { GRAPH ?g { GRAPH :h { ?s :p ?o } } }": "graphs",
    "SELECT * { GRAPH ?g { BIND (1 AS ?x) } }": "graphs",
}

EACH = (
    "SELECT * { GRAPH ?g { SELECT ?s { ?s :p ?o } ORDER BY ?o LIMIT 1 } }",
    "SELECT * { GRAPH ?g { ?s :p ?o FILTER (?g != ?s) } }",
    "SELECT * { GRAPH ?g { ?s :p ?o OPTIONAL { ?x :q ?g } } }",
    "SELECT * { GRAPH ?g { OPTIONAL { ?s :p ?o } MINUS { OPTIONAL { ?s :q ?v } } } }",
    "SELECT * { GRAPH ?g { OPTIONAL { ?s :p ?o FILTER EXISTS { ?s :q ?v } } } }",
    "SELECT * { GRAPH ?g { ?s :p ?o FILTER (IF(EXISTS { ?s :q ?v }, ?o, 0) > 0) } }",
    "SELECT * { GRAPH ?g { ?s :p ?o BIND (IF(EXISTS { ?s :q ?v }, ?o, 0) AS ?x) } }",
    "SELECT * { GRAPH ?g { SELECT (SUM(IF(EXISTS { ?s :q ?v }, 1, 0)) AS ?n) { ?s :p ?o } } }",
    "SELECT * { GRAPH ?g { ?s :p ?o FILTER (?g != ?s && EXISTS { GRAPH :h { ?c :q ?v } }) } }",
    "SELECT * { GRAPH :g { SELECT ?n { { SELECT (COUNT(*) AS ?n) { ?s :p ?o } } } LIMIT 1 } }",
)


def follow(query: str) -> str:
    return plan_followed(text_of(query), map(text_of, COMING_AND_GOING))


@pytest.mark.parametrize("query", SPREAD)
def test_graph_is_spread_over_its_parts(query: str) -> None:
    plan = follow(query)
    assert f"─ {SPREAD[query]}: " in plan
    assert "each graph" not in plan
    assert "re-evaluates" not in plan


@pytest.mark.parametrize("query", EACH)
def test_what_cannot_be_spread_is_evaluated_in_the_graphs_that_change(query: str) -> None:
    assert "─ each graph: " in follow(query)


def test_a_change_costs_what_its_graph_costs() -> None:
    engine = Engine()
    quads = " ".join(f"GRAPH :g{graph} {{ {' '.join(f':s{n} :p {n} .' for n in range(20))} }}" for graph in range(20))
    engine.apply(text_of(f"INSERT DATA {{ {quads} }}"), now=0)
    follower = Follower(engine, text_of("SELECT * { GRAPH ?g { SELECT ?s { ?s :p ?o } ORDER BY DESC(?o) LIMIT 2 } }"))
    meter = follower.subscription.spu.meter
    before = meter.check()
    follower.hear(engine.apply(text_of("INSERT DATA { GRAPH :g7 { :s :p 100 } }"), now=0).notifications)
    follower.check()
    assert 0 < before - meter.check() <= 100
