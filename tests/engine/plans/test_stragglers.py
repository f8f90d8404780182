"""A step that takes more than its slice goes on aside: what is told comes late, and adds up to the answer in full.

A fork is left out here: what it does to its copy of the store leaves that as it was."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.recomputation import Follower, bring_up_to_date, commit
from strategies.examples import share
from strategies.histories import Steps, histories, net_delta
from strategies.subscriptions import FEATURES, about_another, text_of
from tidings.engine.behind.stragglers import REFILLED_IN, PlanIsBehind
from tidings.engine.engine import Engine
from tidings.sparql.evaluate.context import Meter, Overrun

PREFIX = "PREFIX : <http://example.org/> "
JOIN = PREFIX + "SELECT ?a ?c { ?a :p ?b . ?b :q ?c }"


@pytest.mark.parametrize("feature", FEATURES)
@share(2)
@given(before=histories, history=histories, slice_=st.sampled_from([1, 4, 32]), seed=st.integers(0, 9))
def test_what_comes_late_adds_up_to_the_answer(
    feature: str, before: list[Steps], history: list[Steps], slice_: int, seed: int
) -> None:
    engine, random = Engine(), Random(seed)
    for steps in before[1:]:
        commit(engine, net_delta(engine.store, steps), [])
    texts = [text_of(query) for query in FEATURES[feature]]
    followers = [Follower(engine, text) for each in texts for text in dict.fromkeys((each, about_another(each)))]
    engine.stragglers.slice = slice_
    for steps in history:
        commit(engine, net_delta(engine.store, steps), followers)
        for straggler in list(engine.stragglers):
            if not straggler.is_outdated and random.random() < 0.5:
                bring_up_to_date(engine, straggler, followers)
        for follower in followers:
            if follower.subscription.spu not in engine.stragglers:
                follower.check()
    while stragglers := [each for each in engine.stragglers if not each.is_outdated]:
        for straggler in stragglers:
            bring_up_to_date(engine, straggler, followers)
    for follower in followers:
        if follower.subscription.spu not in engine.stragglers:
            follower.check()


def hub(engine: Engine, size: int) -> None:
    """Everything goes through one node."""
    engine.apply(
        PREFIX + "INSERT DATA {" + " ".join(f":x{n} :p :hub . :hub :q :y{n} ." for n in range(size)) + "}", now=0
    )


def wait(engine: Engine) -> None:
    """Until every plan has all of its slice."""
    for n in range(REFILLED_IN):
        engine.apply(PREFIX + f"INSERT DATA {{ :n :r {n} }}", now=0)


def test_others_are_told_although_one_step_takes_too_long() -> None:
    engine = Engine()
    hub(engine, 30)
    bad, good = Follower(engine, JOIN), Follower(engine, PREFIX + "SELECT ?x { ?x :p :hub }")
    engine.stragglers.slice = 10
    made = engine.apply(PREFIX + "INSERT DATA { :x :p :hub }", now=0)
    assert [each.subscription for each in made.notifications] == [good.subscription]
    (straggler,) = made.behind
    assert straggler.spu is bad.subscription.spu
    bring_up_to_date(engine, straggler, [bad])
    bad.check()
    assert "aside 1 time(s)" in engine.explain(bad.subscription.id).to_text()


def test_a_plan_that_is_behind_takes_nobody_in_until_it_has_caught_up() -> None:
    engine = Engine()
    hub(engine, 30)
    bad = Follower(engine, JOIN)
    engine.stragglers.slice = 10
    (straggler,) = engine.apply(PREFIX + "INSERT DATA { :x :p :hub }", now=0).behind
    with pytest.raises(PlanIsBehind):
        engine.subscribe(JOIN, now=0)
    bring_up_to_date(engine, straggler, [bad])
    Follower(engine, JOIN).check()


def test_nothing_is_left_of_a_plan_that_is_behind_and_that_nobody_has() -> None:
    engine = Engine()
    hub(engine, 30)
    bad = Follower(engine, JOIN)
    engine.stragglers.slice = 10
    (straggler,) = engine.apply(PREFIX + "INSERT DATA { :x :p :hub }", now=0).behind
    engine.unsubscribe(bad.subscription.id)
    assert straggler.is_over
    assert not len(engine.stragglers)
    assert not len(engine.lutt)


def test_one_member_may_leave_a_plan_that_is_behind() -> None:
    engine = Engine()
    hub(engine, 30)
    counts = [
        PREFIX + f"SELECT (COUNT(*) AS ?n) {{ ?a :p ?b . ?b :q ?c . FILTER (?b = :{name}) }}" for name in ("hub", "b")
    ]
    stays, leaves = (Follower(engine, text) for text in counts)
    assert stays.subscription.spu is leaves.subscription.spu
    engine.stragglers.slice = 10
    (straggler,) = engine.apply(PREFIX + "INSERT DATA { :x :p :hub }", now=0).behind
    engine.unsubscribe(leaves.subscription.id)
    bring_up_to_date(engine, straggler, [stays])
    stays.check()
    assert not len(engine.stragglers)


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("SELECT ?x { :n0 :next+ ?x }", ":n30 :next :m{0}"),
        (
            "SELECT ?x { ?x :height ?h { SELECT (AVG(?v) AS ?mean) { ?y :height ?v } } FILTER (?h > ?mean) }",
            ":m{0} :height 20",
        ),
        ("SELECT ?x ?n { ?x :in ?y { SELECT ?y (COUNT(*) AS ?n) { ?z :in ?y } GROUP BY ?y } }", ":m{0} :in :m"),
    ],
)
def test_what_a_fork_had_to_build_need_not_be_built_again(text: str, change: str) -> None:
    engine = Engine()
    data = (f":n{n} :next :n{n + 1} ; :height {n} ; :in :room{n % 5} ." for n in range(600))
    engine.apply(PREFIX + "INSERT DATA {" + " ".join(data) + "}", now=0)
    follower = Follower(engine, PREFIX + text)
    engine.stragglers.slice = 512
    (straggler,) = engine.apply(PREFIX + f"INSERT DATA {{ {change.format(0)} }}", now=0).behind
    bring_up_to_date(engine, straggler, [follower])
    wait(engine)
    made = engine.apply(PREFIX + f"INSERT DATA {{ {change.format(1)} }}", now=0)
    assert not made.behind
    follower.hear(made.notifications)
    follower.check()


def test_a_slice_comes_back_bit_by_bit() -> None:
    engine = Engine()
    hub(engine, 30)
    bad = Follower(engine, JOIN)
    engine.stragglers.slice = 50
    changes = [PREFIX + f"INSERT DATA {{ :z{n} :p :hub }}" for n in range(3)]
    made = engine.apply(changes[0], now=0)
    assert not made.behind  # 30 of 50
    bad.hear(made.notifications)
    (straggler,) = engine.apply(changes[1], now=0).behind  # 20 are left
    bring_up_to_date(engine, straggler, [bad])
    wait(engine)
    bad.hear(engine.apply(changes[2], now=0).notifications)
    bad.check()


def test_a_plan_that_has_much_to_remember_is_not_begun_within_a_slice() -> None:
    engine = Engine()
    hub(engine, 30)
    engine.stragglers.slice = 10
    with pytest.raises(Overrun):
        engine.subscribe(PREFIX + "ASK { ?a :p ?b }", now=0)
    assert not len(engine.lutt)
    engine.stragglers.slice = None
    Follower(engine, PREFIX + "ASK { ?a :p ?b }").check()


def test_a_large_delta_is_left_to_forks_by_plans_that_it_hits_much() -> None:
    engine = Engine()
    follower = Follower(engine, PREFIX + "SELECT * { ?a :p ?b }")
    engine.stragglers.slice = 100
    text = PREFIX + "INSERT DATA {" + " ".join(f":a{n} :p {n} ." for n in range(40)) + "}"
    (straggler,) = engine.apply(text, now=0).behind
    bring_up_to_date(engine, straggler, [follower])
    follower.check()
    assert follower.told == 1


def test_the_limit_of_a_piece_of_work_and_that_of_a_slice_are_told_apart() -> None:
    meter = Meter()
    meter.begin(100)
    rows = [()] * 60
    assert meter.limited(50, lambda: list(meter.watch(iter(rows)))) is None
    with pytest.raises(Overrun):
        meter.limited(80, lambda: list(meter.watch(iter(rows))))
    meter.begin(None)
    assert meter.apart(lambda: list(meter.watch(iter(rows)))) == (rows, 60)
