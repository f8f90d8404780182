"""What cannot be subscribed is refused with a clear error, and leaves nothing behind."""

import pytest

from tidings.engine.engine import Engine
from tidings.model.errors import NotAllowed, SparqlSyntaxError, TidingsError

REFUSED = [
    ("SELECT * { ?s ?p", SparqlSyntaxError),
    ("SELECT (NOW() AS ?now) { ?s ?p ?o SERVICE <http://far/> { ?s ?q ?r } }", NotAllowed),
    ("SELECT * { ?s ?p <urn:a> SERVICE <http://far/> { ?s ?q ?r } }", NotAllowed),
    ("DESCRIBE ?x { ?x ?p ?o SERVICE <http://far/> { ?s ?q ?r } }", NotAllowed),
]


@pytest.mark.parametrize("naive", [False, True])
@pytest.mark.parametrize(("query", "error"), REFUSED)
def test_a_refused_subscription_leaves_nothing_behind(query: str, error: type[TidingsError], naive: bool) -> None:
    engine = Engine(naive=naive)
    engine.apply("INSERT DATA { <urn:a> <urn:p> 1 }", now=0)
    with pytest.raises(error):
        engine.subscribe(query, now=0)
    assert not engine.subscriptions
    assert len(engine.lutt) == 0
    assert engine.apply("INSERT DATA { <urn:a> <urn:p> 2 }", now=0).notifications == []


def test_a_refusal_does_not_disturb_those_who_share_the_engine() -> None:
    engine = Engine()
    kept, _ = engine.subscribe("SELECT ?o { <urn:a> <urn:p> ?o }", now=0)
    with pytest.raises(NotAllowed):
        engine.subscribe("SELECT ?o { <urn:a> <urn:p> ?o SERVICE <http://far/> { ?s ?q ?r } }", now=0)
    (told,) = engine.apply("INSERT DATA { <urn:a> <urn:p> 1 }", now=0).notifications
    assert told.subscription is kept


def test_an_update_that_fails_notifies_nobody() -> None:
    engine = Engine()
    engine.subscribe("SELECT * { ?s ?p ?o }", now=0)
    with pytest.raises(NotAllowed):
        engine.apply("INSERT DATA { <urn:a> <urn:p> 1 } ; LOAD <http://far/>", now=0)
    (told,) = engine.apply("INSERT DATA { <urn:a> <urn:p> 2 }", now=0).notifications
    assert (told.sequence, len(told.changes)) == (1, 1)
