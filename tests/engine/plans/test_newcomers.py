"""Newcomers: a first answer that was found while commits went on, and then caught up with, is as good as any other.

first answer at c + what changed since + Σ notifications = answer now, for the newcomer and for those who were there
"""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interning import interning
from oracles.leftovers import state_of
from oracles.recomputation import Follower, commit, recomputed
from strategies.examples import share
from strategies.histories import Steps, histories, net_delta
from strategies.queries import asks, constructs, selects
from strategies.subscriptions import FEATURES, about_another, text_of
from tidings.engine.engine import Engine
from tidings.engine.operators.stateful import memory
from tidings.engine.plans.newcomer import Beginning, Newcomer
from tidings.model.errors import RowLimitExceeded, TimeLimitExceeded
from tidings.sparql.evaluate.context import UNLIMITED, Limits

MANY = 1_000_000
STATES = (
    "SELECT DISTINCT ?o { :a :p ?o }",
    "SELECT ?s (COUNT(*) AS ?n) (SUM(?o) AS ?t) (MAX(?o) AS ?m) { ?s :p ?o } GROUP BY ?s",
    "SELECT (COUNT(DISTINCT *) AS ?n) { ?s :p ?o OPTIONAL { ?o :q ?v } }",
    "SELECT DISTINCT * { ?s :p ?o OPTIONAL { ?w :q ?o . ?o :r ?z } { SELECT ?o { ?o :q ?v } } }",
    "SELECT ?s ?o { ?s :p ?o } ORDER BY DESC(?o) ?s LIMIT 2 OFFSET 1",
    "SELECT * { :a :p ?o { SELECT ?o (COUNT(*) AS ?n) { ?o ?q ?v } GROUP BY ?o } }",
    "SELECT * { :a :p ?o OPTIONAL { { SELECT DISTINCT ?v { ?v :q ?w } } ?o :q ?v } }",
    "SELECT DISTINCT ?n { { SELECT ?s (COUNT(*) AS ?n) { ?s :p ?o } GROUP BY ?s } FILTER EXISTS { ?s :q ?v } }",
    "SELECT ?o (COUNT(*) AS ?n) { :a :p+ ?o . ?o :q ?v } GROUP BY ?o",
    "ASK { :a :p ?o }",
    "CONSTRUCT { ?o :made _:b } { :a :p ?o }",
    "DESCRIBE :a",
    "SELECT ?s { ?s :p ?o FILTER (?o > 1) }",
    'SELECT * { BIND ("s"@en AS ?y) ?x :q ?y }',
)


def play(engine: Engine, history: list[Steps], followers: list[Follower]) -> None:
    for steps in history:
        commit(engine, net_delta(engine.core.store, steps), followers)
        for follower in followers:
            follower.check()


def expected(engine: Engine, text: str) -> tuple[Newcomer, Beginning]:
    """Somebody whose first answer was found now, by a copy of the process."""
    newcomer = engine.expect(text, now=0, most=MANY)
    return newcomer, newcomer.begin(UNLIMITED)


def welcomed(engine: Engine, newcomer: Newcomer, beginning: Beginning) -> Follower:
    """The newcomer as a follower; what it is told adds up to the answer now. One that is outdated comes again."""
    if newcomer.is_outdated():
        engine.give_up(newcomer)
        newcomer, beginning = expected(engine, newcomer.query.text)
    for _ in newcomer.take(beginning.memories):
        pass
    follower = Follower.__new__(Follower)
    follower.engine, follower.text, follower.dataset = engine, newcomer.query.text, newcomer.query.dataset
    follower.rights = newcomer.query.rights
    follower.subscription, changes = engine.welcome(newcomer, now=0)
    follower.told = 0
    follower.answer = Counter(beginning.answer)
    for row, weight in changes.items():
        follower.answer[row] += weight
        assert follower.answer[row] >= 0, f"{follower.text}\n  took away what was not there: {row}"
    follower.answer = +follower.answer
    follower.check()
    return follower


def live_through(texts: list[str], before: list[Steps], meanwhile: list[Steps], after: list[Steps]) -> None:
    """Newcomers of each text, beside some who were there before; and everybody gone in the end."""
    engine = Engine()
    play(engine, before, [])
    others = [Follower(engine, about_another(text)) for text in texts[::2]]
    beginnings = [expected(engine, text) for text in texts]
    for text, (_, beginning) in zip(texts, beginnings, strict=True):
        assert Counter(beginning.answer) == recomputed(text, engine.store)
    play(engine, meanwhile[:1], others)
    others += [Follower(engine, text) for text in texts[::3]]  # some begin at once, and are there first
    play(engine, meanwhile[1:], others)
    followers = [*others, *(welcomed(engine, *each) for each in beginnings)]
    play(engine, after, followers)
    for follower in followers:
        engine.unsubscribe(follower.subscription.id)
    assert state_of(engine) == {0}


@pytest.mark.parametrize("feature", FEATURES)
@share(5)
@given(histories, histories, histories)
def test_whoever_comes_while_commits_go_on_has_the_right_answer(
    feature: str, before: list[Steps], meanwhile: list[Steps], after: list[Steps]
) -> None:
    live_through([text_of(query) for query in FEATURES[feature]], before, meanwhile, after)


@pytest.mark.parametrize("query", STATES)
@share(12)
@given(histories, histories, histories)
def test_whatever_a_plan_remembers_comes_along(
    query: str, before: list[Steps], meanwhile: list[Steps], after: list[Steps]
) -> None:
    live_through([text_of(query), about_another(text_of(query))], before, meanwhile, after)


@share(40)
@given(st.one_of(selects(), asks(), constructs()), histories, histories, histories)
def test_any_query_can_be_a_newcomers(
    text: str, before: list[Steps], meanwhile: list[Steps], after: list[Steps]
) -> None:
    live_through([text, about_another(text)], before, meanwhile, after)


@pytest.mark.parametrize("query", STATES)
@share(5)
@given(histories, histories)
def test_what_is_done_and_undone_meanwhile_is_no_change(
    query: str, before: list[Steps], meanwhile: list[Steps]
) -> None:
    engine = Engine()
    play(engine, before, [])
    newcomer, beginning = expected(engine, text_of(query))
    deltas = []
    for steps in meanwhile:
        deltas.append(net_delta(engine.store, steps))
        commit(engine, deltas[-1])
    for delta in reversed(deltas):
        commit(engine, -delta)
    for _ in newcomer.take(beginning.memories):
        pass
    assert not engine.welcome(newcomer, now=0)[1]


@pytest.mark.parametrize("query", STATES)
def test_a_state_comes_in_portions(query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "PORTION", 2)
    engine = Engine()
    rows = " ".join(f":a :p {number}, :o{number} . :s{number} :p {number % 3} ." for number in range(9))
    engine.apply(text_of(f"INSERT DATA {{ {rows} }}"), now=0)
    newcomer, beginning = expected(engine, text_of(query))
    engine.apply(text_of("DELETE DATA { :a :p 1 } ; INSERT DATA { :a :p 100 . :o1 :q :a . :a :q :s1 }"), now=0)
    follower = welcomed(engine, newcomer, beginning)
    if query == STATES[0]:
        assert list(map(len, beginning.memories)) == [9]
    follower.hear(
        engine.apply(text_of("DELETE DATA { :a :p 2, 100 } ; DELETE DATA { :o1 :q :a }"), now=0).notifications
    )
    follower.check()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT DISTINCT * { :a :p ?t OPTIONAL { ?w :q ?n . ?x :r ?z } }",
        "SELECT (COUNT(DISTINCT *) AS ?n) { :a :p ?t OPTIONAL { ?w :q ?n . ?x :r ?z } }",
        "SELECT * { :a :p ?t OPTIONAL { ?w :q ?n . ?x :r ?z } } ORDER BY ?z LIMIT 3",
    ],
)
def test_a_state_means_the_same_in_a_plan_that_joins_in_another_order(query: str) -> None:
    engine = Engine()
    engine.apply(text_of("INSERT DATA { :a :p :t . :b :p :t . :w :q 1, 2, 3, 4 . :x :r 5 }"), now=0)
    other = Follower(engine, about_another(text_of(query)))
    swap = "DELETE DATA { :w :q 2, 3, 4 } ; INSERT DATA { :x :r 6, 7, 8, 9 . :y :r 6, 7 }"
    other.hear(engine.apply(text_of(swap), now=0).notifications)
    followers = [other, welcomed(engine, *expected(engine, text_of(query)))]
    for text in ("DELETE DATA { :x :r 6 }", "INSERT DATA { :w :q 2 }", "DELETE DATA { :y :r 6, 7 . :w :q 1 }"):
        notifications = engine.apply(text_of(text), now=0).notifications
        for follower in followers:
            follower.hear(notifications)
            follower.check()


@interning
def test_terms_are_shared_with_the_store_again() -> None:
    engine = Engine()
    engine.apply("INSERT DATA { <urn:a> <urn:p> <urn:b> }", now=0)
    newcomer, beginning = expected(engine, "SELECT DISTINCT ?o { ?s <urn:p> ?o }")
    follower = welcomed(engine, newcomer, beginning)
    ((row,),) = (list(engine.subscriptions[follower.subscription.id].spu.answer(())),)
    ((_, _, stored, _),) = engine.store
    assert row[0] is stored


# -- failures -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("feature", FEATURES)
def test_whoever_is_given_up_leaves_nothing_behind(feature: str) -> None:
    engine = Engine()
    newcomers = [engine.expect(text_of(query), now=0, most=MANY) for query in FEATURES[feature]]
    engine.apply("PREFIX : <http://example.org/> INSERT DATA { :a :p :b, 1 . :b :q :a GRAPH :g { :a :p :b } }", now=0)
    for newcomer in newcomers:
        engine.give_up(newcomer)
        engine.give_up(newcomer)
    assert state_of(engine) == {0}


def test_when_too_much_changes_the_sum_is_dropped() -> None:
    engine = Engine()
    newcomer = engine.expect("SELECT ?o { <urn:a> <urn:p> ?o }", now=0, most=3)
    found: list[bool] = []
    for text in (
        "INSERT DATA { <urn:a> <urn:p> 1, 2, 3 . <urn:b> <urn:p> 4 }",
        "INSERT DATA { <urn:a> <urn:p> 4 } ; DELETE DATA { <urn:a> <urn:p> 3 }",
        "INSERT DATA { <urn:a> <urn:p> 5 }",
        "DELETE DATA { <urn:a> <urn:p> 5 }",
    ):
        engine.apply(text, now=0)
        found.append(newcomer.is_outdated())
    assert found == [False, False, True, True]
    engine.give_up(newcomer)
    assert state_of(engine) == {0}


def test_a_literal_that_comes_back_in_another_spelling_outdates_a_first_answer() -> None:
    engine = Engine()
    engine.apply('INSERT DATA { <urn:a> <urn:p> "s"@en, "t"@en }', now=0)
    newcomer = engine.expect("SELECT * { ?s <urn:p>* ?o }", now=0, most=MANY)
    found: list[bool] = []
    for text in (
        'DELETE DATA { <urn:a> <urn:p> "s"@en }',
        'INSERT DATA { <urn:a> <urn:q> "s"@EN, "T"@EN, "t"@EN }',
        'DELETE DATA { <urn:a> <urn:q> "s"@EN }',
    ):
        engine.apply(text, now=0)
        found.append(newcomer.is_outdated())
    assert found == [False, True, False]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT DISTINCT ?o { ?s <urn:p> ?o }",
        "SELECT ?o (COUNT(*) AS ?n) { ?s <urn:p> ?o } GROUP BY ?o",
        "SELECT ?o { ?s <urn:p> ?o } ORDER BY ?o LIMIT 1",
        "CONSTRUCT { ?s <urn:q> ?o } { ?s <urn:p> ?o }",
        "SELECT ?s ?o { ?s <urn:p> ?o }",
        "SELECT ?s ?o { ?s <urn:p> ?o FILTER (?o > 0) }",
        "DESCRIBE ?s { ?s <urn:p> ?o }",
    ],
)
def test_limits_hold_for_what_is_found_and_for_what_is_remembered(query: str) -> None:
    engine = Engine()
    rows = " ".join(f"<urn:s{number}> <urn:p> {number} ." for number in range(10))
    engine.apply(f"INSERT DATA {{ {rows} }}", now=0)
    newcomer = engine.expect(query, now=0, most=MANY)
    with pytest.raises(RowLimitExceeded):
        newcomer.begin(Limits(rows=8))
    assert newcomer.begin(Limits(rows=10)).answer
    ticks = iter(range(1000))
    with pytest.raises(TimeLimitExceeded):
        newcomer.begin(Limits(seconds=0.5, clock=lambda: next(ticks)))


@pytest.mark.parametrize("query", ["SELECT (COUNT(*) AS ?n) { ?s <urn:p> ?o }", "ASK { ?s <urn:p> ?o }"])
def test_what_is_only_counted_is_under_no_row_limit(query: str) -> None:
    engine = Engine()
    engine.apply("INSERT DATA { <urn:a> <urn:p> 1, 2, 3 }", now=0)
    assert len(engine.expect(query, now=0, most=MANY).begin(Limits(rows=1)).answer) == 1
