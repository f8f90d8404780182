"""Sides that share only variables which OPTIONAL binds in some rows find each other by what is bound."""

import pytest

from oracles.recomputation import Follower, plan_followed
from strategies.subscriptions import text_of
from tidings.engine.engine import Engine

UPDATES = (
    "INSERT DATA { :a :p 1 ; :q :v . :b :p 2 . :c :p 3 ; :q :w ; :r :w }",
    "INSERT DATA { :b :r :v }",
    "INSERT DATA { :d :p 4 ; :r :u . :e :p 5 ; :q :u, :v }",
    "DELETE DATA { :b :r :v }",
    "DELETE DATA { :a :q :v } ; INSERT DATA { :b :q :w ; :r :w . :v :r :x }",
    "DELETE WHERE { ?s :q ?o }",
)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { { ?s :p ?o OPTIONAL { ?s :q ?v } } MINUS { ?x :p ?y OPTIONAL { ?x :r ?v } } }",
        "SELECT * { { ?s :p ?o OPTIONAL { ?s :q ?v } OPTIONAL { ?s :r ?w } } "
        "MINUS { ?x :p ?y OPTIONAL { ?x :r ?v } OPTIONAL { ?x :q ?w } } }",
        "SELECT * { { ?s :p ?o OPTIONAL { ?s :q ?v } } { ?x :p ?y OPTIONAL { ?x :r ?v } } }",
        "SELECT * { ?s :p ?o OPTIONAL { ?s :q ?v } OPTIONAL { ?s :r ?w } ?v :r ?x }",
        "SELECT * { ?s :q ?v OPTIONAL { SELECT ?v (COUNT(*) AS ?n) { ?x :p ?y OPTIONAL { ?x :r ?v } } GROUP BY ?v } }",
    ],
)
def test_rows_are_found_by_what_they_may_lack(query: str) -> None:
    assert "re-evaluates" not in plan_followed(text_of(query), map(text_of, UPDATES))


def test_a_change_does_not_concern_rows_that_share_nothing_with_it() -> None:
    engine = Engine()
    people = " ".join(f":s{number} :p {number} ." for number in range(400))
    engine.apply(text_of(f"INSERT DATA {{ {people} :s7 :q :v }}"), now=0)
    query = "SELECT * { { ?s :p ?o OPTIONAL { ?s :q ?v } } MINUS { ?x :p ?y OPTIONAL { ?x :r ?v } } }"
    follower = Follower(engine, text_of(query))
    engine.apply(text_of("INSERT DATA { :s1 :r :u }"), now=0)  # has the rows kept
    meter = follower.subscription.spu.meter
    before = meter.check()
    follower.hear(engine.apply(text_of("INSERT DATA { :s2 :r :v }"), now=0).notifications)
    follower.check()
    assert before - meter.check() < 40
