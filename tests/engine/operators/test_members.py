"""Where few members ask, what is looked up begins with them: whoever else is behind the same hub is not met."""

import pytest

from oracles.recomputation import Follower
from strategies.subscriptions import text_of
from tidings.engine.engine import Engine

USERS = 300

QUERIES = (
    "SELECT ?d { :u7 :in ?g . ?x :to ?g ; :on ?d }",
    "SELECT * { :u7 :in ?g . { ?x :to ?g } UNION { ?x :of ?g } }",
    "SELECT * { :u7 :in ?g OPTIONAL { ?x :to ?g } }",
    "SELECT ?g { :u7 :in ?g FILTER NOT EXISTS { ?x :to ?g } }",
    "SELECT ?g { :u7 :in ?g MINUS { ?x :to ?g } }",
    "SELECT ?x { :u7 :in ?g . ?x :to+ ?g }",
    "SELECT ?d { :u7 :in/:sub* ?g . ?x :to ?g ; :on ?d }",
    "SELECT ?d ?r { :u7 :in/:sub* ?g . ?x :to ?g ; :on ?d . ?r :within+ ?d }",
)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("update", ["INSERT DATA { :x7 :to :all }", "INSERT DATA { :x :on :d1 . :r1 :within :d1 }"])
def test_a_change_behind_a_hub_is_looked_up_for_those_who_ask(query: str, update: str) -> None:
    engine = Engine()
    users = " ".join(f":u{number} :in :all ." for number in range(USERS))
    rights = ":all :sub :any . :x :to :all ; :on :d0 . :x7 :on :d7 . :r0 :within :d0 ."
    engine.apply(text_of(f"INSERT DATA {{ {users} {rights} }}"), now=0)
    followers = [Follower(engine, text_of(query.replace(":u7", f":u{number}"))) for number in (7, 8)]
    meter = followers[0].subscription.spu.meter
    changed = ":x :to :all ; :on :d0"
    for text in (f"DELETE DATA {{ {changed} }}", f"INSERT DATA {{ {changed} }}", "DELETE DATA { :x :to :all }"):
        _follow(engine, text, followers)  # the hub is found, and what is kept
    for text in ("INSERT DATA { :x :to :all }", "DELETE DATA { :x :on :d0 }", "INSERT DATA { :x :on :d0 }"):
        _follow(engine, text, followers)
    before = meter.check()
    _follow(engine, update, followers)
    assert before - meter.check() < USERS // 2


def _follow(engine: Engine, update: str, followers: list[Follower]) -> None:
    notifications = engine.apply(text_of(update), now=0).notifications
    for follower in followers:
        follower.hear(notifications)
        follower.check()
