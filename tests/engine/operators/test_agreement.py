"""Every operator agrees with recomputation: whatever the history, the folded notifications are the answer in full.

first answer + Σ notifications = answer now          do, then undo = nothing
"""

import pytest
from hypothesis import given

from oracles.recomputation import Answer, Follower, commit
from strategies.examples import share
from strategies.graph_names import named_inside
from strategies.histories import Steps, histories, net_delta
from strategies.queries import asks, constructs, ordered, selects
from strategies.subscriptions import FEATURES, about_another, text_of
from tidings.engine.engine import Engine


def play(engine: Engine, history: list[Steps], followers: list[Follower]) -> None:
    for steps in history:
        commit(engine, net_delta(engine.core.store, steps), followers)
        for follower in followers:
            follower.check()


def answers(followers: list[Follower]) -> list[Answer]:
    return [follower.answer.copy() for follower in followers]


@pytest.mark.parametrize("feature", FEATURES)
@share(15)
@given(before=histories, history=histories)
def test_an_answer_kept_up_to_date_is_the_answer_in_full(
    feature: str, before: list[Steps], history: list[Steps]
) -> None:
    engine = Engine()
    play(engine, before[1:], [])
    texts = [text_of(query) for query in FEATURES[feature]]
    followers = [Follower(engine, text) for each in texts for text in dict.fromkeys((each, about_another(each)))]
    play(engine, history, followers)


@pytest.mark.parametrize("feature", FEATURES)
@share(5)
@given(before=histories, history=histories)
def test_a_history_and_its_inverse_leave_the_first_answer(
    feature: str, before: list[Steps], history: list[Steps]
) -> None:
    engine = Engine()
    play(engine, before, [])
    followers = [Follower(engine, text_of(query)) for query in FEATURES[feature]]
    first = answers(followers)
    deltas = []
    for steps in history:
        deltas.append(net_delta(engine.core.store, steps))
        commit(engine, deltas[-1], followers)
    for delta in reversed(deltas):
        commit(engine, -delta, followers)
    assert answers(followers) == first


@share(15)
@given(histories)
def test_whoever_joins_later_sees_what_those_before_see(history: list[Steps]) -> None:
    engine = Engine()
    texts = [text_of(queries[0]) for queries in FEATURES.values()]
    early = [Follower(engine, text) for text in texts]
    play(engine, history[:-1], early)
    late = [Follower(engine, text) for text in texts]
    assert answers(late) == answers(early)
    play(engine, history[-1:], early + late)
    assert answers(late) == answers(early)


def test_a_commit_that_adds_and_removes_the_same_quad_tells_nobody() -> None:
    engine = Engine()
    engine.subscribe("SELECT * { ?s ?p ?o }", now=0)
    made = engine.apply("INSERT DATA { <urn:a> <urn:p> 1 } ; DELETE DATA { <urn:a> <urn:p> 1 }", now=0)
    assert not made.delta
    assert made.notifications == []


# -- what was found by chance once ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "updates"),
    [
        pytest.param(
            "SELECT * FROM :h { ?s :p ?t OPTIONAL { ?w :q ?a . ?x :r ?z } }",
            (
                "INSERT DATA { GRAPH :h { :s :p :t . :c :q :a, :d . :e :q :d } }",
                "INSERT DATA { GRAPH :h { :a :r :a } }",
                "INSERT DATA { GRAPH :h { :b :r :b } }",
                "DELETE DATA { GRAPH :h { :c :q :a } }",
            ),
            id="the same columns before and after, though joined in another order",
        ),
        pytest.param(
            "SELECT * { GRAPH :h { OPTIONAL { ?w ?p :a . ?x :r ?z } } }",
            (
                "INSERT DATA { GRAPH :h { :c :q :a, :d } }",
                "INSERT DATA { GRAPH :h { :a :r :a } }",
                "DELETE DATA { GRAPH :h { :c :q :d } }",
            ),
            id="the same columns before and after a re-evaluation",
        ),
        pytest.param(
            "SELECT * { { SELECT ?w { ?w :p :a } } ?w :r ?v }",
            ("INSERT DATA { :b :r :b }", "INSERT DATA { :b :p :a }", "INSERT DATA { :b :p :c }"),
            id="a constant inside a sub-SELECT is nobody's parameter",
        ),
        pytest.param(
            "SELECT ?x { { SELECT (COUNT(*) AS ?n) { :b :p ?z } } OPTIONAL { :a :r ?x } FILTER (?x = :a) }",
            ("INSERT DATA { :c :q :a }", "INSERT DATA { :a :r :a }"),
            id="nor inside one that always has a row",
        ),
        pytest.param(
            'SELECT * { :a :q ?x . :a :q "s"@en }',
            ("INSERT DATA {}", 'INSERT DATA { :a :q "s"@EN }'),
            id="a triple that is new is new in any spelling",
        ),
        pytest.param(
            'SELECT * { BIND ("s"@en AS ?y) ?x :q ?y }',
            ("INSERT DATA {}", 'INSERT DATA { :a :q "s"@EN }', "DELETE WHERE { :a :q ?y }"),
            id="a constant is spelled as the store does now, not when it was subscribed",
        ),
        pytest.param(
            "SELECT * { GRAPH ?g { :a :p* ?o } }",
            ("INSERT DATA {}", "INSERT DATA { GRAPH :h { :x :q :y } }", "DELETE WHERE { GRAPH :h { ?s ?p ?o } }"),
            id="zero steps lead from a constant to itself in every graph there is",
        ),
        pytest.param(
            "SELECT * { ?s :p ?o OPTIONAL { ?s :q ?v FILTER EXISTS { ?v :r ?w } } }",
            ("INSERT DATA { :c :p 1 ; :q :b }", "DELETE DATA { :c :p 1 } ; INSERT DATA { :b :r 1 }"),
            id="a row goes while what EXISTS asks for comes",
        ),
        pytest.param(
            "SELECT * { ?s :p ?o FILTER NOT EXISTS { ?o :q ?v } }",
            (
                "INSERT DATA { :a :p :b }",
                "DELETE DATA { :a :p :b } ; INSERT DATA { :b :q 1 }",
                "INSERT DATA { :a :p :b }",
            ),
            id="a row goes while EXISTS turns",
        ),
        pytest.param(
            "SELECT * { ?s :p ?o BIND (EXISTS { ?o :q ?v } AS ?known) }",
            ("INSERT DATA { :a :p :b }", "INSERT DATA { :b :q :c }", "DELETE DATA { :b :q :c }"),
            id="a value that depends on EXISTS",
        ),
        pytest.param(
            "SELECT * { ?s :p ?o } ORDER BY (EXISTS { ?o :q ?v }) ?s ?o LIMIT 1",
            ("INSERT DATA { :c :p :b }", "INSERT DATA { :c :p :c . :b :q 1 }", "DELETE DATA { :b :q 1 }"),
            id="an order that depends on EXISTS",
        ),
        pytest.param(
            "SELECT * { GRAPH ?x { ?x !:p ?y } }",
            ("INSERT DATA {}", "INSERT DATA { GRAPH :h { :a :q 1 } }", "INSERT DATA { GRAPH :h { :h :q 1 } }"),
            id="one variable for a graph and for the start of a path in it",
        ),
        pytest.param(
            "SELECT * { GRAPH ?g { ?z ?y ?w . ?x :r? :b } }",
            (
                "INSERT DATA { GRAPH :g { :c :r :b } }",
                "DELETE DATA { GRAPH :g { :c :r :b } }",
                "INSERT DATA { GRAPH :g { :a :q 1 } }",
            ),
            id="no step, not even none, in a graph that has gone",
        ),
        pytest.param(
            "CONSTRUCT { _:t :p ?y } { BIND (:b AS ?x) VALUES (?w ?y) { (:c :c) } ?w :r :a }",
            ("INSERT DATA {}", "INSERT DATA { :c :r :a }"),
            id="a made blank node is named after its solution, wherever its BIND stands",
        ),
        pytest.param(
            'SELECT ?w { ?w :p* "s"@en }',
            ("INSERT DATA {}", 'INSERT DATA { GRAPH :g { :a :q "s"@EN } }', "DELETE WHERE { GRAPH :g { ?s ?p ?o } }"),
            id="the end of zero steps is spelled as the store does now",
        ),
        pytest.param(
            "SELECT * { ?s :p ?o } ORDER BY ?s OFFSET 1 LIMIT 0",
            ("INSERT DATA { :b :p 1 }", "INSERT DATA { :a :p 1 }", "DELETE DATA { :a :p 1 }"),
            id="a window without a row, behind some",
        ),
    ],
)
def test_an_answer_is_right_that_once_was_not(query: str, updates: tuple[str, ...]) -> None:
    engine = Engine()
    first, *rest = map(text_of, updates)
    engine.apply(first, now=0)
    follower = Follower(engine, text_of(query))
    follower.check()
    for update in rest:
        follower.hear(engine.apply(update, now=0).notifications)
        follower.check()


# -- queries that nobody thought of -----------------------------------------------------------------------------


@share(50)
@given(histories, selects())
def test_any_select_agrees(history: list[Steps], text: str) -> None:
    follow(history, text)


@share(50)
@given(histories, named_inside())
def test_any_use_of_a_graphs_variable_inside_it_agrees(history: list[Steps], text: str) -> None:
    follow(history, text)


@share(50)
@given(histories, asks())
def test_any_ask_agrees(history: list[Steps], text: str) -> None:
    follow(history, text)


@share(50)
@given(histories, constructs())
def test_any_construct_agrees(history: list[Steps], text: str) -> None:
    follow(history, text)


@share(50)
@given(histories, ordered().map(lambda each: f"{each.text} OFFSET {each.offset} LIMIT {each.limit}"))
def test_any_window_agrees(history: list[Steps], text: str) -> None:
    follow(history, text)


def follow(history: list[Steps], text: str) -> None:
    engine = Engine()
    play(engine, history[:1], [])
    play(engine, history[1:], [Follower(engine, text), Follower(engine, about_another(text))])
