"""BOUND is a condition, and a value like any other."""

import pytest

from tidings.engine.engine import Engine
from tidings.model.results import Solutions
from tidings.model.terms import FALSE, TRUE, Term

QUERY = "SELECT ?s (BOUND(?o) AS ?x) (BOUND(?nowhere) AS ?y) WHERE { ?s <urn:a> 1 OPTIONAL { ?s <urn:b> ?o } }"


def engine() -> Engine:
    engine = Engine()
    engine.apply("INSERT DATA { <urn:s> <urn:a> 1 ; <urn:b> 2 . <urn:t> <urn:a> 1 }", now=1)
    return engine


def test_bound_can_be_selected() -> None:
    answer = engine().core.query(QUERY, now=1)
    assert isinstance(answer, Solutions)
    assert set(answer.rows) == {("<urn:s>", TRUE, FALSE), ("<urn:t>", FALSE, FALSE)}


def test_a_subscription_is_told_when_it_turns() -> None:
    told = engine()
    _, answer = told.subscribe(QUERY, now=1)
    assert set(answer) == {("<urn:s>", TRUE, FALSE), ("<urn:t>", FALSE, FALSE)}
    (notification,) = told.apply("DELETE DATA { <urn:s> <urn:b> 2 }", now=2).notifications
    assert dict(notification.changes.items()) == {("<urn:s>", TRUE, FALSE): -1, ("<urn:s>", FALSE, FALSE): 1}


@pytest.mark.parametrize(
    ("expression", "value"),
    [("IF(BOUND(?o), 'yes', 'no')", '"yes"'), ("!BOUND(?o)", FALSE), ("COALESCE(?z, BOUND(?o))", TRUE)],
)
def test_bound_can_stand_inside_other_expressions(expression: str, value: Term) -> None:
    answer = engine().core.query(f"SELECT ({expression} AS ?x) WHERE {{ <urn:s> <urn:b> ?o }}", now=1)
    assert isinstance(answer, Solutions)
    assert list(answer.rows) == [(value,)]
