"""NOW, RAND and UUID belong to the commit, not to the moment somebody subscribed."""

from datetime import UTC, datetime
from random import Random

import pytest

from oracles.recomputation import Follower
from tidings.engine.engine import Engine
from tidings.engine.updates.executor import Core
from tidings.model.results import Row
from tidings.model.terms import FALSE, lexical_form

FIRST = 1_700_000_000_000_000
MINUTE = 60_000_000
ANYTHING = "INSERT DATA { GRAPH <urn:g> { <urn:x> <urn:y> %d } }"


def publish(follower: Follower, text: str, now: int) -> None:
    follower.hear(follower.engine.apply(text, now=now).notifications)


def only_row(follower: Follower) -> Row:
    (row,) = follower.answer.elements()
    return row


def instant(follower: Follower) -> datetime:
    (cell,) = only_row(follower)
    assert cell is not None
    return datetime.fromisoformat(lexical_form(cell))


def test_now_is_the_time_of_the_last_commit() -> None:
    follower = Follower(Engine(), "SELECT (NOW() AS ?t) {}", now=FIRST)
    assert instant(follower) == datetime.fromtimestamp(FIRST / 1e6, UTC)
    for minute in (1, 2, 3):
        publish(follower, ANYTHING % minute, FIRST + minute * MINUTE)
        assert instant(follower) == datetime.fromtimestamp(FIRST / 1e6 + minute * 60, UTC)
    assert follower.told == 3


def test_what_expires_is_told_at_the_next_commit_even_if_that_is_about_something_else() -> None:
    engine = Engine()
    engine.apply(
        'INSERT DATA { <urn:a> <urn:until> "2023-11-14T22:14:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> }',
        now=FIRST,
    )
    follower = Follower(engine, "SELECT ?s { ?s <urn:until> ?t FILTER (?t > NOW()) }", now=FIRST)
    assert only_row(follower) == ("<urn:a>",)
    publish(follower, ANYTHING % 1, FIRST + 5 * MINUTE)
    assert not follower.answer


def test_no_commit_means_no_time_passes() -> None:
    follower = Follower(Engine(), "SELECT (NOW() AS ?t) {}", now=FIRST)
    publish(follower, "DELETE DATA { <urn:a> <urn:p> 1 }", FIRST + MINUTE)
    assert follower.told == 0


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { ?s <urn:p> ?o FILTER (NOW() > ?o) }",
        "SELECT * { ?s <urn:p> ?o OPTIONAL { ?s <urn:q> ?v FILTER (?v < NOW()) } }",
        "SELECT * { { SELECT (NOW() AS ?t) {} } }",
        "SELECT (MAX(NOW()) AS ?t) { ?s ?p ?o }",
        "SELECT ?s { ?s ?p ?o } GROUP BY ?s HAVING (NOW() > MIN(?o))",
        "SELECT * { ?s ?p ?o FILTER EXISTS { ?s ?q ?v FILTER (?v < NOW()) } }",
        "SELECT * { ?s ?p ?o MINUS { ?s ?q ?v FILTER (?v < NOW()) } }",
        "SELECT * { GRAPH ?g { ?s ?p ?o BIND (NOW() AS ?t) } }",
        "SELECT * { ?s ?p ?o } ORDER BY (?o > NOW()) ?s ?p ?o LIMIT 1",
        "CONSTRUCT { ?s <urn:seen> ?t } { ?s ?p ?o BIND (NOW() AS ?t) }",
        "ASK { ?s <urn:p> ?o FILTER (?o > NOW()) }",
        "DESCRIBE ?s { ?s <urn:p> ?o FILTER (?o > NOW()) }",
    ],
)
def test_now_is_read_anew_wherever_it_stands(text: str) -> None:
    engine = Engine()
    times = [f'"2023-11-14T22:{minute}:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>' for minute in (14, 16)]
    engine.apply(f"INSERT DATA {{ <urn:a> <urn:p> {times[0]} ; <urn:q> {times[1]} }}", now=FIRST)
    follower = Follower(engine, text, now=FIRST)
    follower.check(now=FIRST)
    for minute in range(1, 6):
        now = FIRST + minute * MINUTE
        publish(follower, ANYTHING % minute, now)
        follower.check(now=now)


@pytest.mark.parametrize("function", ["RAND()", "UUID()", "STRUUID()"])
def test_chance_is_asked_again_at_each_commit(function: str) -> None:
    follower = Follower(Engine(Core(random=Random(1))), f"SELECT ({function} AS ?x) {{}}", now=FIRST)
    seen = {only_row(follower)}
    for number in range(4):
        publish(follower, ANYTHING % number, FIRST + number)
        seen.add(only_row(follower))
    assert len(seen) == 5


def test_every_call_of_bnode_without_an_argument_makes_another_node_and_the_next_commit_the_same_ones() -> None:
    calls = "(BNODE() AS ?a) (BNODE() AS ?b) (BNODE('x') AS ?c) (BNODE('x') AS ?d) (BNODE() = BNODE() AS ?e)"
    follower = Follower(Engine(), f"SELECT {calls} {{ OPTIONAL {{ ?s <urn:p> ?o }} }}", now=FIRST)
    before = a, b, c, d, e = only_row(follower)
    assert (len({a, b, c}), c, e) == (3, d, FALSE)
    publish(follower, "INSERT DATA { <urn:s> <urn:q> 1 }", FIRST + MINUTE)
    assert only_row(follower) == before
    twice = Follower(Engine(), "SELECT * { { BIND(BNODE() AS ?b) } UNION { BIND(BNODE() AS ?b) } }", now=FIRST)
    assert len(set(twice.answer.elements())) == 2
