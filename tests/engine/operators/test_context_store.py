"""A context store is filled once the other patterns are quiet, and emptied as soon as they are not."""

from random import Random

import pytest

from oracles.recomputation import Follower
from tidings.engine.engine import Engine
from tidings.engine.operators.conjunction import context_store

PREFIX = "PREFIX : <http://example.org/> "
QUERIES = [
    "SELECT ?lamp ?d { ?lamp :dim ?d . ?post :has ?lamp . ?road :along ?post FILTER(?road = :road%d) }",
    "SELECT ?d { :road%d :along ?post . ?post :has ?lamp . ?lamp :dim ?d }",
    "SELECT (COUNT(?lamp) AS ?n) (MAX(?d) AS ?most) { :road%d :along ?post . ?post :has ?lamp . ?lamp :dim ?d }",
    "ASK { :road%d :along ?post . ?post :has ?lamp . ?lamp :dim 3 }",
    "SELECT ?a ?b { :lamp%d :dim ?x . ?a :dim ?x . ?b :dim ?a }",
]


def updates(random: Random, count: int) -> list[str]:
    """Mostly values change; now and then a lamp moves to another post, or a post to another road."""
    texts = []
    for _ in range(count):
        lamp, post, road = (random.randrange(4) for _ in range(3))
        match random.randrange(10):
            case 0:
                texts.append(
                    f"DELETE {{ ?p :has :lamp{lamp} }} INSERT {{ :post{post} :has :lamp{lamp} }} "
                    f"WHERE {{ OPTIONAL {{ ?p :has :lamp{lamp} }} }}"
                )
            case 1:
                texts.append(
                    f"DELETE {{ ?r :along :post{post} }} INSERT {{ :road{road} :along :post{post} }} "
                    f"WHERE {{ OPTIONAL {{ ?r :along :post{post} }} }}"
                )
            case 2:
                texts.append(f"DELETE WHERE {{ :lamp{lamp} :dim ?d }} ; INSERT DATA {{ :post{post} :has :lamp{lamp} }}")
            case _:
                value = random.randrange(5)
                texts.append(
                    f"DELETE {{ :lamp{lamp} :dim ?d }} INSERT {{ :lamp{lamp} :dim {value} }} "
                    f"WHERE {{ OPTIONAL {{ :lamp{lamp} :dim ?d }} }}"
                )
    return texts


@pytest.mark.parametrize("quiet", [0, 3])
@pytest.mark.parametrize("most", [2, 4096])
@pytest.mark.parametrize("seed", range(5))
def test_answers_are_right_whether_a_context_store_is_filled_or_not(
    monkeypatch: pytest.MonkeyPatch, quiet: int, most: int, seed: int
) -> None:
    monkeypatch.setattr(context_store, "QUIET_COMMITS", quiet)
    monkeypatch.setattr(context_store, "MOST_ROWS", most)
    monkeypatch.setattr(context_store, "COMMITS_TO_RETRY", 2)
    random = Random(seed)
    engine = Engine()
    followers = []
    for number, update in enumerate(updates(random, 120)):
        if number % 15 == 0:
            text = QUERIES[random.randrange(len(QUERIES))] % random.randrange(4)
            followers.append(Follower(engine, PREFIX + text))
        if number % 40 == 39:
            engine.unsubscribe(followers.pop(random.randrange(len(followers))).subscription.id)
        notifications = engine.apply(PREFIX + update, now=0).notifications
        for follower in followers:
            follower.hear(notifications)
            follower.check()
