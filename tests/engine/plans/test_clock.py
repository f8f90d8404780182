"""Answers that compare with NOW() change with the clock: after every tick and every commit, they are those of a full
evaluation at that instant, and an answer changes at no other time."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.leftovers import state_of
from oracles.recomputation import Follower, bring_up_to_date, recomputed
from strategies.examples import share
from tidings.engine.engine import Engine
from tidings.engine.operators.stateful.turning import Part, next_part
from tidings.sparql.evaluate.context import UNLIMITED

XSD = "http://www.w3.org/2001/XMLSchema#"
PREFIX = f"PREFIX : <http://example.org/> PREFIX xsd: <{XSD}> "
START = 1_709_164_799_000_000
"""One second before the 29th of February 2024."""
SECOND, HOUR = 1_000_000, 3_600_000_000

Step = tuple[str, str | None, Any]
"""What happens: something is put, or dropped; or some time passes."""

QUERIES: tuple[str, ...] = (
    "SELECT ?x { ?x :until ?t FILTER (?t > NOW()) }",
    "SELECT ?x ?n { ?x :until ?t ; :name ?n FILTER (?t >= NOW() && ?n != 'b') }",
    "SELECT ?x { ?x :until ?t ; :name 'a' FILTER (NOW() > ?t) }",
    "SELECT ?x { ?x :until ?t ; :name 'b' FILTER (NOW() > ?t) }",
    "SELECT ?x ?t { ?x :until ?t FILTER (?t = NOW() || ?t < NOW() - 'PT1H'^^xsd:dayTimeDuration) }",
    "SELECT ?x { ?x :name ?n OPTIONAL { ?x :until ?t } FILTER (!BOUND(?t) || ?t > NOW()) }",
    "SELECT ?x { ?x :until ?t FILTER (NOW() - ?t < 'PT2H'^^xsd:dayTimeDuration) }",
    "SELECT ?x { ?x :until ?t FILTER (?t - NOW() <= 'P1D'^^xsd:dayTimeDuration) FILTER (?t > NOW()) }",
    "SELECT ?x { ?x :until ?t FILTER (?t < NOW() + 'P1M'^^xsd:yearMonthDuration) }",
    "SELECT ?x { ?x :until ?t FILTER (NOW() - ?t < 'P1M'^^xsd:yearMonthDuration) }",
    "SELECT ?x (IF(?t > NOW(), 'open', 'closed') AS ?state) { ?x :until ?t }",
    "SELECT ?state (COUNT(*) AS ?n) { ?x :until ?t BIND (COALESCE(?t > NOW(), 'unknown') AS ?state) } GROUP BY ?state",
    "SELECT DISTINCT ?n { ?x :until ?t ; :name ?n FILTER (?t > NOW()) }",
    "SELECT ?x { ?x :until ?t FILTER (?t > NOW()) } ORDER BY ?t ?x LIMIT 2",
    "SELECT ?n { ?x :until ?t ; :name ?n } GROUP BY ?n HAVING (MIN(?t) > NOW())",
    "SELECT ?x { { ?x :until ?t FILTER (?t > NOW()) } UNION { ?x :name 'a' } }",
    "SELECT ?x { ?x :until ?t ; :size ?s FILTER (?s > 1 && ?t > NOW()) }",
    "ASK { ?x :until ?t FILTER (?t > NOW()) }",
    "CONSTRUCT { ?n :has :open } { ?x :until ?t ; :name ?n FILTER (?t > NOW() && NOT EXISTS { ?x :size 1 }) }",
)

IN_OPTIONAL = (
    "SELECT ?x ?a ?b { ?x :name ?n OPTIONAL { ?x :until ?a FILTER (?a > NOW()) OPTIONAL { ?x :until ?b FILTER "
    "(?b < NOW() + 'P1D'^^xsd:dayTimeDuration) } } }"
)

NESTED = (
    "SELECT ?x ?t { ?x :name ?n OPTIONAL { ?x :until ?t FILTER (?t > NOW()) } }",
    "SELECT ?x ?t ?s { ?x :name 'a' OPTIONAL { ?x :until ?t ; :size ?s FILTER (?t > NOW() && ?s < 2 && ?n != 'b') } }",
    "SELECT ?x ?state { ?x :name ?n OPTIONAL { ?x :until ?t BIND (?t > NOW() AS ?state) } }",
    "SELECT ?x ?n ?t { ?x :until ?t FILTER (?t > NOW()) OPTIONAL { ?x :name ?n FILTER (?n != 'b') } }",
    "SELECT ?x { ?x :name ?n MINUS { ?x :until ?t FILTER (?t > NOW()) } }",
    "SELECT ?n { ?x :name ?n MINUS { ?x :until ?t ; :size ?s FILTER (NOW() > ?t) } }",
    "SELECT ?x { ?x :until ?t FILTER (?t < NOW() + 'PT1H'^^xsd:dayTimeDuration) MINUS { ?x :size 1 } }",
    "SELECT ?x { ?x :name ?n FILTER NOT EXISTS { ?x :until ?t FILTER (?t > NOW()) } }",
    "SELECT ?x { ?x :name 'b' FILTER EXISTS { ?x :until ?t ; :size ?s FILTER (?t > NOW() || ?s = 1) } }",
    "SELECT ?x (EXISTS { ?x :until ?t FILTER (?t > NOW()) } AS ?open) { ?x :name ?n }",
    "SELECT ?x { ?x :name ?n FILTER NOT EXISTS { ?y :until ?t FILTER (?t > NOW()) } }",
    "SELECT ?x { ?x :name ?n FILTER EXISTS { ?y :name ?n ; :until ?t FILTER (?t > NOW()) FILTER (?y != ?x) } }",
    "SELECT ?x { ?x :name ?n FILTER NOT EXISTS { ?x :size ?s OPTIONAL { ?x :until ?t } FILTER EXISTS "
    "{ ?x :until ?u FILTER (?u > NOW()) } } }",
    "SELECT ?x ?open { ?x :name ?n { SELECT ?n (COUNT(*) AS ?open) { ?y :name ?n ; :until ?t FILTER (?t > NOW()) } "
    "GROUP BY ?n } }",
    "SELECT ?x ?t { ?x :name ?n { SELECT ?n (MAX(?u) AS ?t) { ?y :name ?n ; :until ?u FILTER (?u > NOW()) } "
    "GROUP BY ?n HAVING (COUNT(*) > 1) } }",
    "SELECT ?x ?y { ?x :name ?n . { SELECT ?y { ?y :until ?t FILTER (?t > NOW()) } ORDER BY ?t ?y LIMIT 1 } }",
    "SELECT ?x ?y { ?x :until ?t . ?y :until ?u . { ?x :size ?s FILTER EXISTS { ?x :until ?w FILTER (?w > NOW()) } } }",
    "SELECT ?x ?y { { ?x :until ?t FILTER (?t > NOW()) } { ?y :until ?u ; :name 'a' FILTER (?u <= NOW()) } }",
    "SELECT ?n (COUNT(?t) AS ?open) { ?x :name ?n OPTIONAL { ?x :until ?t FILTER (?t > NOW()) } } GROUP BY ?n",
    IN_OPTIONAL,
    "SELECT ?x ?t { ?x :name ?n OPTIONAL { ?y :until ?t MINUS { ?y :until ?u FILTER (?u > NOW()) } } }",
    "ASK { ?x :name ?n FILTER NOT EXISTS { ?x :until ?t FILTER (?t > NOW()) } }",
    "CONSTRUCT { ?x :open ?t } { ?x :name ?n OPTIONAL { ?x :until ?t FILTER (?t > NOW()) } }",
    "SELECT ?x ?s { ?x :size ?s . { SELECT (AVG(?r) AS ?mean) { ?y :size ?r ; :until ?t FILTER (?t > NOW()) } } "
    "FILTER (?s > ?mean) }",
)
"""Where rows are looked up on the other side of what time changes."""

IN_GRAPHS = (
    "SELECT ?g ?x { GRAPH ?g { ?x :until ?t FILTER (?t > NOW()) } }",
    "SELECT ?g ?x ?t { GRAPH ?g { ?x :size ?s OPTIONAL { ?x :until ?t FILTER (?t > NOW()) } } }",
    "SELECT ?g ?x { GRAPH ?g { ?x :size ?s MINUS { ?x :until ?t FILTER (?t > NOW()) } } }",
    "SELECT ?g ?n { GRAPH ?g { SELECT (COUNT(*) AS ?n) { ?x :until ?t FILTER (?t > NOW()) } } }",
    "SELECT ?n { GRAPH :a { SELECT (COUNT(*) AS ?n) { ?x :until ?t FILTER (?t > NOW()) } } }",
    "SELECT ?x { ?x :size ?s GRAPH ?g { ?x :until ?t FILTER (?t < NOW()) } }",
)
"""The graph of a lease is the name that it has."""

PARTS = (
    "SELECT ?x { ?x :until ?t FILTER (YEAR(?t) > YEAR(NOW())) }",
    "SELECT ?x { ?x :until ?t FILTER (MONTH(?t) = MONTH(NOW()) && DAY(?t) = DAY(NOW())) }",
    "SELECT ?x (HOURS(NOW()) - HOURS(?t) AS ?hours) { ?x :until ?t }",
    "SELECT ?x { ?x :until ?t FILTER (?t > NOW() || MINUTES(?t) != MINUTES(NOW())) }",
    "SELECT ?x { ?x :until ?t FILTER (xsd:date(?t) >= xsd:date(NOW())) }",
    "SELECT ?n (COUNT(*) AS ?c) { ?x :name ?n FILTER NOT EXISTS { ?x :until ?t FILTER (DAY(?t) = DAY(NOW())) } } "
    "GROUP BY ?n",
    "SELECT ?x ?t { ?x :name ?n OPTIONAL { ?x :until ?t FILTER (DAY(?t) <= DAY(NOW())) } }",
    "SELECT ?n { ?x :name ?n ; :until ?t } GROUP BY ?n HAVING (MAX(HOURS(?t)) >= HOURS(NOW()))",
)
"""What stays the same for a while."""

OUTSIDE = (
    "SELECT ?x ?s { ?x :name ?n ; :until ?t OPTIONAL { ?x :size ?s FILTER (?t > NOW()) } }",
    "SELECT ?x ?t { ?x :name 'a' ; :lasts ?d OPTIONAL { ?x :until ?t ; :size ?s FILTER (?t > NOW() - ?d && ?s < 2) } }",
    "SELECT ?x ?y { ?x :until ?t OPTIONAL { ?y :size ?s FILTER (?t > NOW() && EXISTS { ?y :name 'a' }) } }",
    "SELECT ?x { ?x :until ?t FILTER NOT EXISTS { ?x :size 1 FILTER (?t > NOW()) } }",
    "SELECT ?x { ?x :name 'b' ; :lasts ?d FILTER EXISTS { ?x :until ?t FILTER (?t + ?d > NOW()) } }",
    "SELECT ?x (EXISTS { ?y :until ?t FILTER (?y != ?x && ?t + ?d > NOW()) } AS ?open) { ?x :lasts ?d }",
    "SELECT ?x { ?x :lasts ?d FILTER NOT EXISTS { ?x :size ?s FILTER NOT EXISTS "
    "{ ?x :until ?t FILTER (?t + ?d > NOW()) } } }",
    "SELECT ?x { ?x :lasts ?d FILTER NOT EXISTS { { ?x :until ?t FILTER (?t < NOW() + ?d) } UNION { ?x :size 1 } } }",
    "SELECT ?g ?x ?t { GRAPH ?g { ?x :lasts ?d OPTIONAL { ?x :until ?t FILTER (?t + ?d > NOW()) } } }",
    "SELECT ?g ?x { GRAPH ?g { ?x :lasts ?d FILTER NOT EXISTS { ?x :until ?t FILTER (?t + ?d > NOW()) } } }",
    "SELECT ?x { ?x :name ?n FILTER EXISTS { SELECT ?x { ?x :until ?t FILTER (?t > NOW()) } } }",
    "SELECT ?x { ?x :name ?n FILTER NOT EXISTS { SELECT DISTINCT ?n { ?y :name ?n . ?x :until ?t FILTER (?t > NOW()) "
    "} } }",
    "SELECT ?g ?x { GRAPH ?g { ?x :size ?s FILTER NOT EXISTS { ?x :until ?t FILTER (?t > NOW()) } } }",
    "SELECT ?x { ?x :name ?n FILTER EXISTS { GRAPH ?g { ?x :until ?t FILTER (?t > NOW()) } } }",
)
"""Where it is compared with what those who ask have bound, or asked for in a graph or a sub-SELECT."""

QUERIES += NESTED + IN_GRAPHS + PARTS + OUTSIDE


def moment(micros: int, zone: str) -> str:
    shown = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=micros)
    return f'"{shown.replace(tzinfo=None).isoformat()}{zone}"^^<{XSD}dateTime>'


instants = st.sampled_from([0, 1, SECOND, SECOND + 1, HOUR, 2 * HOUR, 14 * HOUR, 24 * HOUR, 31 * 24 * HOUR])
untils = st.one_of(
    st.builds(lambda at, sign, zone: moment(START + sign * at, zone), instants, st.sampled_from([1, -1]),
              st.sampled_from(["Z", "Z", "", "+01:00"])),
    st.sampled_from([f'"2024-02-29"^^<{XSD}date>', '"never"', f'"2024-02-29T00:00:00.0000005Z"^^<{XSD}dateTime>']),
)  # fmt: skip
names = st.sampled_from(["a", "b"])
puts = st.tuples(st.just("put"), st.sampled_from("xyz"), st.tuples(untils, names, st.integers(1, 2)))
drops = st.tuples(st.just("drop"), st.sampled_from("xyz"), st.none())
passes = st.tuples(st.just("pass"), st.none(), instants.filter(bool))
histories = st.lists(st.one_of(puts, puts, drops, passes, passes), max_size=8)


def clocked() -> Engine:
    engine = Engine()
    engine.clock.is_kept = True
    return engine


def update(step: Step) -> str:
    _, subject, content = step
    old = f":{subject} ?p ?o"
    dropped = f"{PREFIX}DELETE WHERE {{ {old} }} ; DELETE WHERE {{ GRAPH ?g {{ {old} }} }}"
    if content is None:
        return dropped
    until, name, size = content
    new = f":{subject} :until {until} ; :name '{name}' ; :size {size} ; :lasts 'PT{size}H'^^xsd:dayTimeDuration"
    return f"{dropped} ; INSERT DATA {{ {new} GRAPH :{name} {{ {new} }} }}"


def live(engine: Engine, history: list[Step], followers: list[Follower], now: int) -> int:
    """Go through a history, telling the followers; the instant at its end."""
    for step in history:
        if step[0] == "pass":
            now += step[2]
            told = [engine.tick(now)]
        else:
            told = [engine.tick(now), engine.apply(update(step), now=now)]
        for commit in told:
            for follower in followers:
                follower.hear(commit.notifications)
        for follower in followers:
            if follower.subscription.spu not in engine.stragglers:
                follower.check(now=now)
    return now


@share(20)
@given(before=histories, after=histories)
def test_the_sum_of_what_is_told_is_the_answer_at_the_instant(before: list[Step], after: list[Step]) -> None:
    engine = clocked()
    now = live(engine, before, [], START)
    empty = state_of(engine)
    followers = [Follower(engine, PREFIX + text, now=now) for text in QUERIES]
    for follower in followers:
        assert engine.explain(follower.subscription.id).to_json()["incremental"], follower.text
        follower.check(now=now)
    live(engine, after, followers, now)
    for follower in followers:
        engine.unsubscribe(follower.subscription.id)
    assert state_of(engine) == empty
    assert not engine.clock


@pytest.mark.parametrize("text", QUERIES)
def test_two_leases_that_end_are_told_when_they_do(text: str) -> None:
    engine = clocked()
    for subject, name, seconds in (("x", "a", 1), ("y", "b", 2)):
        until = moment(START + seconds * SECOND, "Z")
        engine.apply(update(("put", subject, (until, name, seconds))), now=START)
    follower = Follower(engine, PREFIX + text, now=START)
    for now in range(START, START + 4 * SECOND, SECOND):
        follower.hear(engine.tick(now).notifications)
        follower.check(now=now)


def test_the_condition_of_an_optional_inside_another_turns() -> None:
    engine = clocked()
    engine.apply(update(("put", "x", (moment(START + 24 * HOUR, "Z"), "a", 1))), now=START)
    follower = Follower(engine, PREFIX + IN_OPTIONAL, now=START)
    follower.hear(engine.tick(START + 1).notifications)
    follower.check(now=START + 1)
    assert follower.told == 1


@share(20)
@given(before=histories, after=histories, text=st.sampled_from(QUERIES))
def test_an_answer_changes_at_no_instant_but_the_next(before: list[Step], after: list[Step], text: str) -> None:
    engine = clocked()
    now = live(engine, before, [], START)
    follower = Follower(engine, PREFIX + text, now=now)
    for _ in range(8):
        due = engine.clock.next()
        if due is None:
            break
        assert due > now
        assert recomputed(follower.text, engine.store, now=due - 1) == follower.answer
        follower.hear(engine.tick(due).notifications)
        follower.check(now=due)
        now = due
    else:
        return
    assert recomputed(follower.text, engine.store, now=now + 400 * 24 * HOUR) == follower.answer


@share(20)
@given(before=histories, meanwhile=histories, after=histories)
def test_a_newcomer_catches_up_with_the_clock(before: list[Step], meanwhile: list[Step], after: list[Step]) -> None:
    engine = clocked()
    now = live(engine, before, [], START)
    beginnings = []
    for text in QUERIES:
        newcomer = engine.expect(PREFIX + text, now=now, most=1_000)
        beginnings.append((newcomer, newcomer.begin(UNLIMITED)))
    followers = [Follower(engine, PREFIX + text, now=now) for text in QUERIES[::3]]
    now = live(engine, meanwhile, followers, now)
    for newcomer, beginning in beginnings:
        for _ in newcomer.take(beginning.memories):
            pass
        follower = Follower.__new__(Follower)
        follower.engine, follower.text, follower.dataset = engine, newcomer.query.text, None
        follower.rights, follower.told = newcomer.query.rights, 0
        follower.subscription, changes = engine.welcome(newcomer, now=now)
        follower.answer = Counter(beginning.answer)
        for row, weight in changes.items():
            follower.answer[row] += weight
        follower.answer = +follower.answer
        follower.check(now=now)
        followers.append(follower)
    live(engine, after, followers, now)


@share(20)
@given(before=histories, history=histories, slice_=st.sampled_from([1, 4]), seed=st.integers(0, 9))
def test_a_plan_that_is_behind_catches_up_with_the_clock(
    before: list[Step], history: list[Step], slice_: int, seed: int
) -> None:
    engine, random = clocked(), Random(seed)
    now = live(engine, before, [], START)
    followers = [Follower(engine, PREFIX + text, now=now) for text in QUERIES]
    engine.stragglers.slice = slice_
    for step in history:
        now = live(engine, [step], followers, now)
        for straggler in list(engine.stragglers):
            if random.random() < 0.5:
                bring_up_to_date(engine, straggler, followers)
    while stragglers := list(engine.stragglers):
        for straggler in stragglers:
            bring_up_to_date(engine, straggler, followers)
    engine.stragglers.slice = None
    live(engine, [("pass", None, 1)], followers, now)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?x (NOW() AS ?now) { ?x :until ?t }",
        "SELECT ?x { ?x :until ?t FILTER (SECONDS(?t) > SECONDS(NOW())) }",
        "SELECT ?x { ?x :until ?t FILTER (YEAR(NOW() - ?t) > 1) }",
        "SELECT ?x { ?x :name ?n OPTIONAL { ?x :until ?t } OPTIONAL { ?x :size ?s FILTER (?t > NOW()) } }",
        "SELECT ?x { ?x :name ?n OPTIONAL { ?x :until ?t } FILTER NOT EXISTS { ?x :size 1 FILTER (?t > NOW()) } }",
        "SELECT ?x { ?x :name ?n FILTER EXISTS { SELECT ?x { ?x :until ?t FILTER (?t > NOW()) } LIMIT 1 } }",
        "SELECT ?x { ?x :name ?n FILTER EXISTS { SELECT ?x (MAX(?t) AS ?u) { ?x :until ?t FILTER (?t > NOW()) } "
        "GROUP BY ?x } }",
        "SELECT ?x { GRAPH ?g { ?x :until ?t FILTER (?t > NOW() && ?g != ?x) } }",
        "SELECT ?x { ?x :until ?t FILTER (?t > NOW() && RAND() < 2) }",
        "DESCRIBE ?x { ?x :until ?t FILTER (?t > NOW()) }",
    ],
)
def test_other_uses_of_now_are_read_again_after_every_commit(text: str) -> None:
    engine = clocked()
    follower = Follower(engine, PREFIX + text, now=START)
    assert engine.explain(follower.subscription.id).plan.operator == "re-read"
    assert engine.clock.next() is None


@pytest.mark.parametrize(
    ("function", "beginning"),
    [
        ("YEAR", datetime(2025, 1, 1, tzinfo=UTC)),
        ("MONTH", datetime(2024, 3, 1, tzinfo=UTC)),
        ("DAY", datetime(2024, 2, 29, tzinfo=UTC)),
        ("HOURS", datetime(2024, 2, 29, tzinfo=UTC)),
        ("MINUTES", datetime(2024, 2, 29, tzinfo=UTC)),
    ],
)
def test_a_part_of_now_lasts_until_the_next_one_begins(function: str, beginning: datetime) -> None:
    at = int(beginning.timestamp()) * SECOND
    assert next_part([Part(function)], START) == at
    assert next_part([Part(function)], at - 1) == at
    after = next_part([Part(function)], at)
    assert after is not None
    assert after > at


def test_a_commit_never_passes_a_change_that_was_not_told() -> None:
    engine = clocked()
    engine.apply(f"{PREFIX}INSERT DATA {{ :x :until {moment(START + SECOND, 'Z')} }}", now=START)
    follower = Follower(engine, PREFIX + QUERIES[0], now=START)
    late = START + 2 * SECOND
    follower.hear(engine.apply(f"{PREFIX}INSERT DATA {{ :y :until {moment(late + 1, 'Z')} }}", now=late).notifications)
    assert len(follower.answer) == 2
    follower.hear(engine.tick(late).notifications)
    follower.check(now=late)
