"""The last to leave puts out the light: no state is left of who is gone."""

import gc

import pytest

from oracles.leftovers import state_of
from oracles.recomputation import Follower
from strategies.subscriptions import FEATURES, text_of
from tidings.engine.engine import Engine
from tidings.engine.plans.incremental_spu import IncrementalSpu
from tidings.engine.plans.reevaluated_spu import ReevaluatedSpu
from tidings.model.access import Graphs, Rights
from tidings.model.errors import NotAllowed, NotFound


def live_spus() -> int:
    gc.collect()
    return sum(isinstance(each, IncrementalSpu | ReevaluatedSpu) for each in gc.get_objects())


SOME = [
    Rights(read=graphs, subscribe=graphs)
    for graphs in (Graphs(prefixes=("http://example.org/",)), Graphs(names=frozenset(("", "<http://example.org/g>"))))
]


@pytest.mark.parametrize("feature", FEATURES)
def test_the_last_to_leave_leaves_nothing_behind(feature: str) -> None:
    engine = Engine()
    texts = [text_of(query) for query in FEATURES[feature]]
    subscriptions = [engine.subscribe(text, now=0, rights=who)[0] for text in texts for who in (*SOME, SOME[0])]
    engine.apply("PREFIX : <http://example.org/> INSERT DATA { :a :p :b, 1 . :b :q :a GRAPH :g { :a :p :b } }", now=0)
    for subscription in subscriptions:
        engine.unsubscribe(subscription.id)
    assert state_of(engine) == {0}
    assert engine.apply("CLEAR ALL", now=0).notifications == []


def test_a_plan_without_subscribers_is_forgotten() -> None:
    before = live_spus()
    engine = Engine()
    for number in range(50):
        text = f"SELECT * {{ ?s <urn:p> ?o {{ SELECT ?o {{ ?o <urn:q> {number} }} }} FILTER (?o > {number}) }}"
        engine.unsubscribe(engine.subscribe(text, now=0)[0].id)
    assert live_spus() - before <= 1


def test_a_member_that_leaves_takes_only_itself_along() -> None:
    engine = Engine()
    followers = [Follower(engine, f"SELECT ?o {{ <urn:lamp{number % 3}> <urn:p> ?o }}") for number in range(6)]
    engine.unsubscribe(followers[0].subscription.id)
    engine.unsubscribe(followers[1].subscription.id)
    engine.unsubscribe(followers[4].subscription.id)
    rest = [followers[number] for number in (2, 3, 5)]
    assert len(engine.lutt) == 2
    made = engine.apply("INSERT DATA { <urn:lamp0> <urn:p> 0 . <urn:lamp1> <urn:p> 1 . <urn:lamp2> <urn:p> 2 }", now=0)
    assert {each.subscription.id for each in made.notifications} == {each.subscription.id for each in rest}
    for follower in rest:
        follower.hear(made.notifications)
        follower.check()


def test_whoever_comes_back_gets_the_present_answer() -> None:
    engine = Engine()
    text = "SELECT DISTINCT ?o { <urn:a> <urn:p> ?o } ORDER BY ?o LIMIT 2"
    engine.unsubscribe(Follower(engine, text).subscription.id)
    engine.apply("INSERT DATA { <urn:a> <urn:p> 1, 2, 3 }", now=0)
    again = Follower(engine, text)
    again.check()
    again.hear(engine.apply("DELETE DATA { <urn:a> <urn:p> 1 }", now=0).notifications)
    again.check()
    assert again.told == 1


def test_nobody_can_leave_twice() -> None:
    engine = Engine()
    number = engine.subscribe("ASK {}", now=0)[0].id
    engine.unsubscribe(number)
    with pytest.raises(NotFound):
        engine.unsubscribe(number)


def test_a_subscription_that_is_refused_leaves_nothing_behind() -> None:
    engine = Engine()
    with pytest.raises(NotAllowed):
        engine.subscribe("SELECT * { ?s ?p ?o SERVICE <urn:elsewhere> { ?s ?q ?v } }", now=0)
    assert state_of(engine) == {0}
