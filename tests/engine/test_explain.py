"""EXPLAIN shows the plan of a subscription as a tree: what is maintained, what it looks up, what is re-evaluated."""

import pytest

from tidings.engine.engine import Engine
from tidings.model.errors import NotFound

ROAD = (
    "SELECT ?lamp ?d { ?lamp <urn:dim> ?d . ?post <urn:has> ?lamp . ?road <urn:along> ?post FILTER(?road = <urn:r%d>) }"
)


def test_a_plan_says_who_shares_it_and_what_wakes_it_up() -> None:
    engine = Engine()
    numbers = [engine.subscribe(ROAD % road, now=0)[0].id for road in (1, 2, 2)]
    text = engine.explain(numbers[0]).to_text()
    assert text.splitlines()[0] == "shared by 2 member(s) with 3 subscriber(s)"
    assert "woken by * <urn:dim> *; * <urn:has> *; $0 <urn:along> *" in text


def test_a_plan_says_what_each_pattern_looks_up() -> None:
    engine = Engine()
    subscription, _ = engine.subscribe(ROAD % 1, now=0)
    plan = engine.explain(subscription.id).to_json()
    assert plan["incremental"] is True
    assert plan["parameters"] == ["?$0"]
    assert plan["shared"] == {"members": 1, "subscribers": 1}
    assert [route["pattern"][1] for route in plan["routes"]] == ["<urn:dim>", "<urn:has>", "<urn:along>"]
    assert len(plan["plan"]["inputs"]) == 3
    assert "looks up" in plan["plan"]["inputs"][0]["detail"]


@pytest.mark.parametrize(
    ("query", "operator"),
    [
        ("SELECT (NOW() AS ?n) { ?s ?p ?o }", "re-read"),
        (f"SELECT * {{ {' '.join(f'?s <urn:p{number}> ?o .' for number in range(65))} }}", "re-evaluate"),
    ],
)
def test_what_is_evaluated_in_full_is_marked(query: str, operator: str) -> None:
    engine = Engine()
    explained = engine.explain(engine.subscribe(query, now=0)[0].id)
    assert explained.to_json()["incremental"] is False
    assert f"{operator} [re-evaluates]: " in explained.to_text()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT DISTINCT ?s { ?s ?p ?o OPTIONAL { ?o ?q ?r } MINUS { ?s <urn:no> ?o } }",
        "SELECT ?s (SUM(?o) AS ?n) { ?s <urn:p>+ ?o FILTER NOT EXISTS { ?s <urn:no> ?o } } "
        "GROUP BY ?s HAVING(SUM(?o) > 1)",
        "SELECT * { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } VALUES ?p { <urn:p> } } ORDER BY ?s LIMIT 3",
        "SELECT ?s { ?s <urn:p> ?d FILTER(?d >= 3) }",
        "CONSTRUCT { ?o ?p ?s } { ?s ?p ?o }",
        "ASK { ?s ?p <urn:a> }",
        "SELECT * { GRAPH ?g { OPTIONAL { ?s ?p ?o } } }",
        "SELECT * { GRAPH ?g { ?s ?p ?o FILTER (?g != ?s) } }",
    ],
)
def test_everything_else_is_maintained(query: str) -> None:
    engine = Engine()
    explained = engine.explain(engine.subscribe(query, now=0)[0].id)
    assert explained.to_json()["incremental"] is True
    assert "re-evaluates" not in explained.to_text()


def test_who_does_not_subscribe_has_no_plan() -> None:
    engine = Engine()
    with pytest.raises(NotFound, match="7"):
        engine.explain(7)
    with pytest.raises(NotFound, match="7"):
        engine.unsubscribe(7)
