"""DESCRIBE is kept up to date: descriptions grow and shrink with the blank nodes that they lead to."""

from random import Random

import pytest

from oracles.recomputation import Follower, commit
from tidings.engine.engine import Engine
from tidings.model.terms import Quad
from tidings.model.zset import ZSet

EX = "http://example.org/"
QUERIES = (
    f"DESCRIBE <{EX}n0>",
    f"DESCRIBE ?x {{ ?x <{EX}p> ?y }}",
    f"DESCRIBE * {{ ?x <{EX}q> ?y FILTER isBlank(?y) }}",
)
NODES = [f"<{EX}n0>", f"<{EX}n1>", *(f"_:b{n}" for n in range(4))]


def quads(random: Random, size: int) -> set[Quad]:
    """Mostly blank nodes that lead to each other."""
    return {
        (random.choice(NODES), f"<{EX}{random.choice('pq')}>", random.choice([*NODES, '"1"']), "") for _ in range(size)
    }


@pytest.mark.parametrize("seed", range(6))
def test_descriptions_follow_blank_nodes(seed: int) -> None:
    random, engine = Random(seed), Engine()
    followers = [Follower(engine, text) for text in QUERIES]
    for _ in range(25):
        changed = quads(random, random.randrange(1, 4))
        delta = ZSet.owning({quad: -1 if quad in engine.store else 1 for quad in changed})
        commit(engine, delta, followers)
        for follower in followers:
            follower.check()
    for quad in list(engine.store):
        commit(engine, ZSet.owning({quad: -1}), followers)
    assert all(not follower.answer for follower in followers)


def test_a_description_is_not_found_again_for_what_does_not_concern_it() -> None:
    engine = Engine()
    follower = Follower(engine, QUERIES[0])
    engine.stragglers.slice = 20
    made = engine.apply(f"INSERT DATA {{ <{EX}else> <{EX}p> 1 . <{EX}else> <{EX}p> 2 }}", now=0)
    assert not made.behind
    assert "describe" in engine.explain(follower.subscription.id).to_text()
    assert engine.explain(follower.subscription.id).to_json()["incremental"]


def test_a_constant_with_a_language_is_looked_at_again_when_its_spelling_may_have_changed() -> None:
    engine = Engine()
    follower = Follower(engine, f'SELECT * {{ VALUES ?v {{ "a"@en }} ?x <{EX}p> ?y }}')
    before = engine.timing.hits
    engine.apply(f"INSERT DATA {{ <{EX}else> <{EX}q> 1 }}", now=0)
    assert engine.timing.hits == before, "it is not concerned"
    for text in (
        f"INSERT DATA {{ <{EX}n0> <{EX}p> 1 }}",
        f'INSERT DATA {{ GRAPH <{EX}g> {{ <{EX}n0> <{EX}q> "a"@EN }} }}',
        f'DELETE DATA {{ GRAPH <{EX}g> {{ <{EX}n0> <{EX}q> "a"@EN }} }}',
    ):
        follower.hear(engine.apply(text, now=0).notifications)
        follower.check()
    assert follower.told == 3
