"""Inside OPTIONAL, MINUS or EXISTS, a variable may be another than that of the same name outside: 18.2.1."""

import pytest

from oracles.recomputation import plan_followed
from strategies.subscriptions import text_of


@pytest.mark.parametrize(
    ("query", "updates"),
    [
        pytest.param(
            "SELECT * { ?x :r ?u OPTIONAL { ?y :r ?u FILTER NOT EXISTS { ?x :r 1 } MINUS { ?x :p ?u . ?y :q ?v } } }",
            (":a :r :a . :b :p :a", ":a :q 1"),
            id="?x of MINUS is not that of the row before OPTIONAL",
        ),
        pytest.param(
            "SELECT * { ?y :q ?w OPTIONAL { ?x :q ?y . ?z :r ?y "
            "OPTIONAL { ?z :p ?w . ?y :r ?z } FILTER NOT EXISTS { ?x :p ?z } } }",
            (":a :r :c . :a :q :c . :c :q 1", ":a :p :c", ":c :r :a"),
            id="OPTIONAL inside binds ?w before the row outside does",
        ),
        pytest.param(
            "SELECT * { ?y :q ?w OPTIONAL { ?z :p* ?y . ?x :q ?y . ?z :r ?y "
            "OPTIONAL { ?z :p ?w . ?y :r ?z } FILTER NOT EXISTS { ?x :p ?z } } }",
            (":a :r :c . :a :q :c . :c :q 1", ":a :p :c", ":c :r :a"),
            id="the same behind a path",
        ),
        pytest.param(
            "SELECT ?y { ?y :r ?v . :a :q ?u MINUS { ?y :r ?w . ?w :p ?w FILTER EXISTS { ?w :q ?u } } }",
            (":a :q :b . :c :p :c ; :r :c", ":c :q 2"),
            id="?u of EXISTS is not that of the row before MINUS",
        ),
        pytest.param(
            "SELECT ?z { ?z :p ?x MINUS { ?x :r ?v MINUS { ?z :q ?x } FILTER EXISTS { ?x :p ?v . ?z :r ?u } } }",
            (":c :p :b . :b :r :b", ":b :p :b", ":a :r 1"),
            id="?z is another in each of MINUS, MINUS and EXISTS",
        ),
        pytest.param(
            "SELECT * { ?x :r ?v FILTER NOT EXISTS { GRAPH ?g { ?x :r? ?u } } }",
            (":a :r :c", "GRAPH :g { :c :q 2 }"),
            id="a path of no steps from a term that its graph does not have",
        ),
        pytest.param(
            "SELECT * { ?x :r ?v OPTIONAL { ?v :q ?w FILTER EXISTS { GRAPH ?g { ?w :p ?z . ?x :r* ?u } } } }",
            (":a :r :c . :c :q :b", "GRAPH :g { :b :p 2 }"),
            id="the same in the condition of OPTIONAL",
        ),
        pytest.param(
            "SELECT * { ?x :r ?v FILTER NOT EXISTS { GRAPH :g { ?w :q ?z . ?x :r* ?u } :c :q ?l FILTER (?z > ?l) } }",
            (":a :r :b . :c :q 1", "GRAPH :g { :b :q 3 }"),
            id="the same beside a limit among the data",
        ),
        pytest.param(
            "SELECT * { ?x :r ?v FILTER NOT EXISTS { GRAPH :g { ?w :q ?z . ?x :r* ?u } FILTER (?z > ?v) } }",
            (":a :r 1", "GRAPH :g { :b :q 3 }"),
            id="the same beside a greater value",
        ),
    ],
)
def test_a_change_concerns_all_rows_although_names_are_the_same(query: str, updates: tuple[str, ...]) -> None:
    texts = [text_of(f"{action} DATA {{ {data} }}") for action in ("INSERT", "DELETE") for data in updates]
    assert plan_followed(text_of(query), texts)
