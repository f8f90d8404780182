"""Equal queries share one SPU, queries that differ in constants one plan."""

from collections import Counter

import pytest

from oracles.recomputation import Follower
from tidings.engine.commit import Notification
from tidings.engine.engine import Engine
from tidings.engine.plans.spu import Spu, Subscription
from tidings.model.access import ALL_RIGHTS, Graphs, Rights
from tidings.sparql.algebra import Dataset

LAMPS = 1000


def spu_of(engine: Engine, text: str, dataset: Dataset | None = None, rights: Rights = ALL_RIGHTS) -> Spu:
    return engine.subscribe(f"PREFIX : <urn:> {text}", dataset, now=0, rights=rights)[0].spu


def spus(engine: Engine) -> int:
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
    some = [
        Rights(read=graphs, subscribe=graphs) for graphs in (Graphs(prefixes=("urn:a",)), Graphs(prefixes=("urn:",)))
    ]
    mine, yours, mine_again, everybodys = (spu_of(engine, text, rights=who) for who in (*some, some[0], ALL_RIGHTS))
    assert mine is mine_again
    assert len({id(each) for each in (mine, yours, everybodys)}) == 3


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
    assert spus(engine) == 1
    notifications = engine.apply(
        "INSERT DATA { <urn:lamp7> <urn:status> 1 . <urn:x> <urn:partOf> <urn:lamp7> . <urn:a> <urn:status> 1 "
        "GRAPH <urn:g> { <urn:lamp7> <urn:status> 1 } }",
        now=0,
    ).notifications
    assert [each.subscription for each in notifications] == [followers[7].subscription]
    for follower in followers:
        follower.hear(notifications)
        follower.check()


def test_a_thousand_subscriptions_to_a_thousand_lamps_share_one_plan() -> None:
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
    assert spus(engine) == 1
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
    assert spus(engine) == 1
    for text in (
        "INSERT DATA { <urn:a> <urn:p> <urn:m> . <urn:m> <urn:q> <urn:b>, <urn:c> }",
        "DELETE DATA { <urn:m> <urn:q> <urn:c> } ; INSERT DATA { <urn:b> <urn:p> <urn:m> }",
    ):
        notifications = engine.apply(text, now=0).notifications
        for follower in followers.values():
            follower.hear(notifications)
            follower.check()
    assert [pair for pair, follower in followers.items() if follower.answer] == [("a", "b"), ("b", "b")]
