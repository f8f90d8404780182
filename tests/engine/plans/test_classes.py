"""The class in `?x a :Lamp` is a constant of the plan, unless it is alone, or many classes are asked for."""

from oracles.recomputation import Follower
from tidings.engine.engine import Engine
from tidings.engine.plans.query_template import MOST_APART

PREFIX = "PREFIX : <http://example.org/> "


def asked(number: int) -> str:
    return PREFIX + f"SELECT ?x ?v {{ ?x a :Class{number} ; :in :room ; :value ?v }}"


def test_queries_about_a_class_have_a_plan_of_their_own_and_those_about_many_share_one() -> None:
    engine = Engine()
    followers = [Follower(engine, asked(number)) for number in range(MOST_APART + 3)]
    plans = [follower.subscription.spu for follower in followers]
    assert len(set(plans)) == MOST_APART + 1
    assert len(plans[0].members) == 1
    assert len(plans[-1].members) == 3
    again = Follower(engine, asked(0))
    assert again.subscription.spu is plans[0]
    for number in (0, MOST_APART, MOST_APART + 1):
        text = f"INSERT DATA {{ :x{number} a :Class{number} ; :in :room ; :value {number} }}"
        made = engine.apply(PREFIX + text, now=0)
        for follower in (*followers, again):
            follower.hear(made.notifications)
            follower.check()
    assert sum(follower.told for follower in followers) == 3


def test_a_class_alone_is_a_parameter() -> None:
    engine = Engine()
    first, second = (Follower(engine, PREFIX + f"SELECT ?x {{ ?x a :Class{number} }}") for number in range(2))
    assert first.subscription.spu is second.subscription.spu
    assert "$0" in engine.explain(first.subscription.id).to_text()
