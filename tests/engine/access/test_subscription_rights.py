"""Subscriptions with rights: what is told, folded, is always the query over exactly the graphs that may be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.recomputation import Follower, commit
from strategies.access import readers
from strategies.data import PREFIX, ex
from strategies.histories import Step, commits, histories, net_delta
from strategies.subscriptions import FEATURES, text_of
from tidings.engine.engine import Engine
from tidings.model.access import ALL_RIGHTS, Graphs, Rights

TEXTS = [text_of(text) for texts in FEATURES.values() for text in texts]


@pytest.mark.parametrize("naive", [False, True])
@given(
    texts=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=4),
    who=st.lists(readers, min_size=1, max_size=3),
    history=histories,
)
def test_what_is_told_is_the_query_over_the_readable_graphs(
    naive: bool, texts: list[str], who: list[Rights], history: list[list[Step]]
) -> None:
    engine = Engine(naive=naive)
    followers = [Follower(engine, text, rights=each) for text in texts for each in (*who, ALL_RIGHTS)]
    for steps in history:
        commit(engine, net_delta(engine.store, steps), followers)
        for follower in followers:
            follower.check()


@given(
    text=st.sampled_from(TEXTS),
    history=st.lists(st.tuples(readers, commits), min_size=2, max_size=6),
)
def test_a_subscription_goes_on_with_other_rights(text: str, history: list[tuple[Rights, list[Step]]]) -> None:
    engine = Engine()
    moving, staying = Follower(engine, text), Follower(engine, text)
    for rights, steps in history:
        moving.move(rights)
        moving.check()
        commit(engine, net_delta(engine.store, steps), [moving, staying])
        moving.check()
        staying.check()
    for follower in (moving, staying):
        engine.unsubscribe(follower.subscription.id)
    assert len(engine.lutt) == 0
    assert engine.subscriptions == {}


def some(*names: str, prefixes: tuple[str, ...] = ()) -> Rights:
    graphs = Graphs(names=frozenset(names), prefixes=prefixes)
    return Rights(read=graphs, subscribe=graphs)


@pytest.mark.parametrize(
    "rights",
    [some(ex("g")), some("", ex("g")), some(prefixes=("http://example.org/g",)), some(ex("g"), prefixes=("x:",))],
)
def test_a_plan_is_not_woken_by_what_it_may_not_read(rights: Rights) -> None:
    engine = Engine()
    engine.subscribe(PREFIX + "SELECT * { GRAPH ?g { ?s ?p ?o } }", now=0, rights=rights)
    engine.apply(PREFIX + "INSERT DATA { GRAPH :h { :a :p :b } }", now=0)
    assert engine.lutt.hits == 0
    assert len(engine.apply(PREFIX + "INSERT DATA { GRAPH :g { :a :p :b } }", now=0).notifications) == 1
    assert engine.lutt.hits == 1


@pytest.mark.parametrize(
    "text",
    [
        "SELECT (NOW() AS ?now) { }",
        "SELECT ?s (NOW() AS ?now) { GRAPH ?g { ?s ?p ?o } }",
        "SELECT (RAND() AS ?r) { GRAPH :g { ?s ?p ?o } }",
        'SELECT * { VALUES ?o { "s"@en } GRAPH ?g { ?s ?p ?o } }',
        'SELECT ("s"@en AS ?x) { }',
    ],
)
def test_a_query_for_every_commit_does_not_hear_of_those_that_it_may_not_read(text: str) -> None:
    """Else it would tell its subscriber whenever somebody does something somewhere else."""
    engine = Engine()
    subscription, _ = engine.subscribe(PREFIX + text, now=0, rights=some(ex("g")))
    hidden, seen = (f'INSERT DATA {{ GRAPH :{graph} {{ :a :p "s"@EN }} }}' for graph in "hg")
    assert engine.apply(PREFIX + hidden, now=1).notifications == []
    assert (engine.timing.hits, subscription.sequence) == (0, 0)
    assert not engine.concerns((ex("a"), ex("p"), ex("b"), ex("h")))
    assert engine.concerns((ex("a"), ex("p"), ex("b"), ex("g")))
    engine.apply(PREFIX + seen, now=2)
    assert engine.timing.hits == 1
    assert {key[3] for key in engine.keys(subscription)} == {ex("g")}


def test_the_same_readable_graphs_share_one_plan_and_others_never_do() -> None:
    engine = Engine()
    text = PREFIX + "SELECT * FROM :g { ?s :p ?o }"
    rights = [some(ex("g")), some(ex("g"), ex("h")), some(prefixes=("http://example.org/",)), ALL_RIGHTS]
    spus = [engine.subscribe(text, now=0, rights=each)[0].spu for each in rights]
    assert len(set(map(id, spus))) == 4
    again = some(ex("g"), ex("h"), prefixes=("http://example.org/",))  # which is no more than the prefix
    assert engine.subscribe(text, now=0, rights=again)[0].spu is spus[2]


def test_subscriptions_see_what_may_be_subscribed_to_and_queries_what_may_be_read() -> None:
    engine = Engine()
    engine.apply(PREFIX + "INSERT DATA { GRAPH :g { :a :p 1 } GRAPH :h { :a :p 2 } }", now=0)
    rights = Rights(read=Graphs.ALL, subscribe=Graphs(names=frozenset((ex("g"),))))
    _, answer = engine.subscribe(PREFIX + "SELECT ?g { GRAPH ?g { :a :p ?o } }", now=0, rights=rights)
    assert answer == [(ex("g"),)]
