"""Equal queries share one SPU, queries that differ in constants one plan; and the last to leave puts out the light."""

import gc
from collections import Counter
from collections.abc import Sized
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.recomputation import Follower
from strategies.data import GRAPHS, PREDICATES, RESOURCES
from strategies.subscriptions import FEATURES, text_of
from tidings.engine.engine import Engine, Notification
from tidings.engine.lutt import Key, Lutt
from tidings.engine.plans.incremental_spu import IncrementalSpu
from tidings.engine.plans.reevaluated_spu import ReevaluatedSpu
from tidings.engine.plans.spu import Spu, Subscription
from tidings.model.errors import NotAllowed, NotFound
from tidings.model.terms import Quad, Term, fold, is_tagged
from tidings.sparql.algebra import Dataset

LAMPS = 1000


def spu_of(engine: Engine, text: str, dataset: Dataset | None = None, rights: str | None = None) -> Spu:
    return engine.subscribe(f"PREFIX : <urn:> {text}", dataset, now=0, rights=rights)[0].spu


def families(engine: Engine) -> int:
    return len({id(each.spu) for each in engine.subscriptions.values()})


# -- one SPU ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("SELECT ?a ?b { ?a :p ?b }", "SELECT ?x ?y\n{\n  ?x   :p ?y . }  # the same"),
        ("SELECT * { ?a :p ?b }", "SELECT ?s ?o { ?s <urn:p> ?o }"),
        ("SELECT ?a { ?a :p ?b OPTIONAL { ?b :q ?c } }", "select ?x where { ?x :p ?y optional { ?y :q ?z } }"),
        ("ASK { ?a :p 1 }", "ASK { ?z :p 1 }"),
        ("SELECT (COUNT(*) AS ?n) { ?s :p ?o }", "SELECT (COUNT(*) AS ?many) { ?x :p ?y }"),
        ("SELECT (NOW() AS ?t) { ?s :p ?o }", "SELECT (NOW() AS ?when) { ?a :p ?b }"),
    ],
)
def test_names_and_white_space_make_no_difference(text: str, other: str) -> None:
    engine = Engine()
    assert spu_of(engine, text) is spu_of(engine, other)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("SELECT ?a ?b { ?a :p ?b }", "SELECT ?b ?a { ?a :p ?b }"),
        ("SELECT ?a ?b { ?a :p ?b }", "SELECT ?a ?b { ?a :p ?b FILTER (?a != ?b) }"),
        ("SELECT ?a ?b { ?a :p ?b }", "SELECT ?a ?b { ?a :q ?b }"),
        ("SELECT ?a ?b { ?a :p ?b }", "SELECT DISTINCT ?a ?b { ?a :p ?b }"),
        ("SELECT ?a ?b { ?a :p ?b }", "SELECT ?a ?a { ?a :p ?a }"),
        ("SELECT ?a ?b { ?a :p ?b }", "SELECT ?a ?b FROM :g { ?a :p ?b }"),
        ("SELECT * { GRAPH :g { ?a :p ?b } }", "SELECT * { GRAPH :h { ?a :p ?b } }"),
        ("ASK { ?a :p ?b }", "SELECT * { ?a :p ?b }"),
    ],
)
def test_queries_that_mean_something_else_share_nothing(text: str, other: str) -> None:
    engine = Engine()
    assert spu_of(engine, text) is not spu_of(engine, other)


def test_a_dataset_from_outside_is_part_of_the_query() -> None:
    engine = Engine()
    text = "SELECT * { ?a :p ?b }"
    over_g, over_h = Dataset(("<urn:g>",), ()), Dataset(("<urn:h>",), ())
    spus = [spu_of(engine, text, dataset) for dataset in (None, over_g, over_h)]
    assert len(set(map(id, spus))) == 3
    assert spu_of(engine, text, Dataset(("<urn:g>",), ())) is spus[1]
    assert spu_of(engine, "SELECT * FROM :g { ?x :p ?y }") is spus[1]


@pytest.mark.parametrize("text", ["SELECT * { ?a :p ?b }", "SELECT * { :a :p ?b }", "SELECT (RAND() AS ?r) {}"])
def test_other_rights_mean_another_spu(text: str) -> None:
    engine = Engine()
    mine, yours, mine_again = (spu_of(engine, text, rights=who) for who in ("me", "you", "me"))
    assert mine is mine_again
    assert mine is not yours


def test_every_subscriber_has_its_own_names_for_the_same_rows() -> None:
    engine = Engine()
    first = Follower(engine, "SELECT ?lamp ?state { ?lamp <urn:p> ?state }")
    second = Follower(engine, "SELECT ?x ?y { ?x <urn:p> ?y }")
    assert first.subscription.variables == ("lamp", "state")
    assert second.subscription.variables == ("x", "y")
    notifications = engine.apply("INSERT DATA { <urn:a> <urn:p> <urn:b> }", now=0).notifications
    first.hear(notifications)
    second.hear(notifications)
    assert first.answer == second.answer == Counter([("<urn:a>", "<urn:b>")])


# -- one plan ---------------------------------------------------------------------------------------------------

_SHAPES = (
    "SELECT ?o { <urn:lamp%d> <urn:status> ?o }",
    "SELECT ?s { ?s <urn:partOf> <urn:lamp%d> }",
    "SELECT ?s ?o { ?s <urn:status> ?o FILTER (?s = <urn:lamp%d>) }",
    "SELECT ?o ?v { <urn:lamp%d> <urn:status> ?o OPTIONAL { ?o <urn:q> ?v } }",
    "SELECT (COUNT(*) AS ?n) { <urn:lamp%d> <urn:status> ?o }",
    "SELECT DISTINCT ?o { GRAPH ?g { <urn:lamp%d> <urn:status> ?o } }",
    "SELECT ?o { <urn:lamp%d> <urn:status> ?o } ORDER BY ?o LIMIT 1",
    "ASK { <urn:lamp%d> <urn:status> ?o }",
    "CONSTRUCT { _:b <urn:of> ?o } { <urn:lamp%d> <urn:status> ?o }",
)


@pytest.mark.parametrize("shape", _SHAPES)
def test_queries_that_differ_only_in_constants_share_one_plan(shape: str) -> None:
    engine = Engine()
    followers = [Follower(engine, shape % number) for number in range(20)]
    assert families(engine) == 1
    notifications = engine.apply(
        "INSERT DATA { <urn:lamp7> <urn:status> 1 . <urn:x> <urn:partOf> <urn:lamp7> . <urn:a> <urn:status> 1 "
        "GRAPH <urn:g> { <urn:lamp7> <urn:status> 1 } }",
        now=0,
    ).notifications
    assert [each.subscription for each in notifications] == [followers[7].subscription]
    for follower in followers:
        follower.hear(notifications)
        follower.check()


def test_a_thousand_subscriptions_to_a_thousand_lamps_are_one_family() -> None:
    engine = Engine()
    for number in range(LAMPS):
        engine.subscribe(f"SELECT ?o {{ <urn:lamp{number}> <urn:status> ?o }}", now=0)
    (spu,) = {id(each.spu): each.spu for each in engine.subscriptions.values()}.values()
    assert len(spu.members) == len(engine.lutt) == LAMPS
    (told,) = engine.apply("INSERT DATA { <urn:lamp500> <urn:status> 'on' }", now=0).notifications
    assert told.subscription.member == ("<urn:lamp500>",)
    assert list(told.changes.items()) == [(('"on"',), 1)]


def test_thresholds_share_one_plan_and_only_those_crossed_are_told() -> None:
    engine = Engine()
    followers = [Follower(engine, f"SELECT ?s {{ ?s <urn:p> ?d FILTER (?d > {limit}) }}") for limit in range(20)]
    assert families(engine) == 1
    replace = "DELETE {{ <urn:s> <urn:p> ?d }} INSERT {{ <urn:s> <urn:p> {} }} WHERE {{ <urn:s> <urn:p> ?d }}"
    told = []
    for text in ("INSERT DATA { <urn:s> <urn:p> 5 }", replace.format(8), replace.format(7.5)):
        notifications = engine.apply(text, now=0).notifications
        told.append([at for at, each in enumerate(followers) if each.subscription in subscribers(notifications)])
        for follower in followers:
            follower.hear(notifications)
            follower.check()
    assert told == [[0, 1, 2, 3, 4], [5, 6, 7], []]


def subscribers(notifications: list[Notification]) -> list[Subscription]:
    return [each.subscription for each in notifications]


def test_two_constants_are_a_pair() -> None:
    engine = Engine()
    pairs = [(a, b) for a in "abc" for b in "abc"]
    followers = {
        (a, b): Follower(engine, f"SELECT ?x {{ <urn:{a}> <urn:p> ?x . ?x <urn:q> <urn:{b}> }}") for a, b in pairs
    }
    assert families(engine) == 1
    for text in (
        "INSERT DATA { <urn:a> <urn:p> <urn:m> . <urn:m> <urn:q> <urn:b>, <urn:c> }",
        "DELETE DATA { <urn:m> <urn:q> <urn:c> } ; INSERT DATA { <urn:b> <urn:p> <urn:m> }",
    ):
        notifications = engine.apply(text, now=0).notifications
        for follower in followers.values():
            follower.hear(notifications)
            follower.check()
    assert [pair for pair, follower in followers.items() if follower.answer] == [("a", "b"), ("b", "b")]


# -- leaving ----------------------------------------------------------------------------------------------------


def live_spus() -> int:
    gc.collect()
    return sum(isinstance(each, IncrementalSpu | ReevaluatedSpu) for each in gc.get_objects())


def state_of(engine: Engine) -> set[int]:
    """The sizes of everything that an engine keeps for its subscriptions."""
    plans = engine._plans
    kept: list[Sized] = [engine.lutt, engine.subscriptions, engine._wakes, engine._sizes]
    return {len(each) for each in (*kept, plans._spus, plans._keys, plans.every_commit)}


@pytest.mark.parametrize("feature", FEATURES)
def test_the_last_to_leave_leaves_nothing_behind(feature: str) -> None:
    engine = Engine()
    texts = [text_of(query) for query in FEATURES[feature]]
    subscriptions = [engine.subscribe(text, now=0, rights=who)[0] for text in texts for who in (1, 2, 1)]
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


# -- counting ---------------------------------------------------------------------------------------------------


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


# -- the LUTT ---------------------------------------------------------------------------------------------------

_TERMS: tuple[Term, ...] = (*RESOURCES[:2], '"s"@en', '"s"@EN', '"s"')
keys: st.SearchStrategy[Key] = st.tuples(
    st.sampled_from((None, *RESOURCES[:2])),
    st.sampled_from((None, *PREDICATES[:2])),
    st.sampled_from((None, *_TERMS)),
    st.sampled_from((None, "", *GRAPHS)),
)
ALL_QUADS: list[Quad] = list(product(RESOURCES[:2], PREDICATES[:2], _TERMS, ("", *GRAPHS)))


def matches(key: Key, quad: Quad) -> bool:
    """Place by place; a variable graph is any but the default one, and language tags have no case."""
    *terms, graph = key
    agree = all(term is None or folded(term) == folded(other) for term, other in zip(terms, quad[:3], strict=True))
    return agree and (quad[3] != "" if graph is None else quad[3] == graph)


def folded(term: Term) -> Term:
    return fold(term) if is_tagged(term) else term


def found_by_force(entries: list[tuple[Key, int]]) -> dict[int, list[tuple[Quad, int]]]:
    found: dict[int, list[tuple[Quad, int]]] = {}
    for number in dict.fromkeys(number for _, number in entries):
        mine = [key for key, each in entries if each == number]
        if hit := [(quad, 1) for quad in ALL_QUADS if any(matches(key, quad) for key in mine)]:
            found[number] = sorted(hit)
    return found


def found_in(lutt: Lutt[int]) -> dict[int, list[tuple[Quad, int]]]:
    """What the LUTT finds; an entry under several patterns that a quad matches may be found as often."""
    hits = lutt.find([(quad, 1) for quad in ALL_QUADS])
    return {number: sorted(dict.fromkeys(found)) for number, found in hits.items()}


@settings(deadline=None)
@given(st.lists(st.tuples(keys, st.integers(0, 4)), max_size=12), st.data())
def test_the_lutt_finds_exactly_what_matches(entries: list[tuple[Key, int]], data: st.DataObject) -> None:
    lutt: Lutt[int] = Lutt()
    for key, number in entries:
        lutt.put(key, number)
    assert found_in(lutt) == found_by_force(entries)
    leaving = data.draw(st.permutations(entries))
    while leaving:
        lutt.drop(*leaving.pop())
        assert found_in(lutt) == found_by_force(leaving)
    assert len(lutt) == 0
    assert lutt.find([(quad, 1) for quad in ALL_QUADS]) == {}
