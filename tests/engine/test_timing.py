"""Hits, notifications and false alarms are counted by subscription; times are those of the paper's components."""

from itertools import count

import pytest

from tidings.engine.engine import Engine


def test_a_hit_is_a_subscription_that_might_have_been_concerned() -> None:
    engine = Engine()
    for number in range(10):
        engine.subscribe(f"SELECT ?o {{ <urn:lamp{number}> <urn:status> ?o }}", now=0)
    engine.subscribe("SELECT ?o { <urn:lamp3> <urn:status> ?o }", now=0)
    engine.apply("INSERT DATA { <urn:lamp3> <urn:status> 1 }", now=0)
    assert (engine.timing.hits, engine.timing.notifications, engine.timing.false_alarms) == (2, 2, 0)
    engine.apply("INSERT DATA { <urn:lamp3> <urn:colour> 1 . <urn:chair> <urn:status> 1 }", now=0)
    assert (engine.timing.hits, engine.timing.commits, engine.timing.quads) == (2, 2, 3)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?o { <urn:a> <urn:p> ?o }",
        "SELECT ?o { <urn:a> <urn:p> ?o FILTER (?o > 0) }",
        "SELECT ?s { ?s <urn:p> ?o FILTER (?o > 0) }",
        "SELECT ?o { <urn:a> <urn:p> ?o BIND (RAND() AS ?r) }",
    ],
)
def test_everybody_who_shares_an_spu_counts(text: str) -> None:
    engine = Engine()
    for _ in range(3):
        engine.subscribe(text, now=0)
    assert len(engine.apply("INSERT DATA { <urn:a> <urn:p> 1 }", now=0).notifications) == 3
    assert (engine.timing.hits, engine.timing.false_alarms) == (3, 0)


def test_a_hit_that_changes_nothing_is_a_false_alarm() -> None:
    engine = Engine()
    engine.subscribe("SELECT ?s { ?s <urn:p> ?o FILTER (?o > 10) }", now=0)
    engine.subscribe("SELECT ?s { ?s <urn:p> ?o . ?o <urn:q> ?v }", now=0)
    engine.subscribe("SELECT ?s { ?s <urn:r> ?o }", now=0)
    assert engine.apply("INSERT DATA { <urn:a> <urn:p> 1 }", now=0).notifications == []
    assert (engine.timing.hits, engine.timing.false_alarms) == (2, 2)
    assert engine.timing.hit_rate(3) == pytest.approx(100 * 2 / 3)


def test_the_time_of_an_update_begins_with_its_text() -> None:
    engine = Engine(clock=count().__next__)  # each look at it is a second later than the last one
    engine.apply("INSERT DATA { <urn:a> <urn:p> 1 }", now=0)
    timing = engine.timing
    read, carried_out = 1, 1
    assert (timing.update, timing.lutt, timing.booster) == (read + carried_out, 1, 1)
    request = engine.prepare("INSERT DATA { <urn:a> <urn:p> 2 }")
    assert timing.update == 2 * read + carried_out
    engine.execute(*request, now=0)
    assert timing.update == 2 * (read + carried_out)


def test_notifications_take_time_where_somebody_is_told() -> None:
    engine = Engine(clock=count().__next__)
    engine.subscribe("SELECT ?o { <urn:a> <urn:p> ?o }", now=0)
    engine.apply("INSERT DATA { <urn:a> <urn:q> 1 }", now=0)
    assert (engine.timing.notifications, engine.timing.notify) == (0, 0)
    engine.apply("INSERT DATA { <urn:a> <urn:p> 1 }", now=0)
    assert (engine.timing.notifications, engine.timing.notify) == (1, 1)
