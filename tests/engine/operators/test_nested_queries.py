"""Queries that nest everything in everything agree with recomputation, however small the slices and the budgets."""

from contextlib import suppress
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from oracles.recomputation import Follower, bring_up_to_date, commit
from strategies.data import EX
from strategies.examples import share
from strategies.nested_queries import NestedQueries
from strategies.subscriptions import about_another
from tidings.engine.engine import Engine
from tidings.model.errors import SparqlSyntaxError
from tidings.model.terms import XSD, Quad
from tidings.model.zset import ZSet

NUMBERS = (*(f'"{number}"^^<{XSD}integer>' for number in (1, 2, 3)), f'"2.0"^^<{XSD}decimal>')
NAMES = tuple(f"<{EX}{name}>" for name in "abc")
QUADS: list[Quad] = [
    (subject, f"<{EX}{predicate}>", object_, graph)
    for subject in NAMES
    for predicate in "pqr"
    for object_ in (*NAMES, *NUMBERS)
    for graph in ("", "", "", "", f"<{EX}g>", f"<{EX}h>")
]


def toggled(engine: Engine, random: Random) -> ZSet[Quad]:
    """A few quads: those that exist go, the others come."""
    quads = dict.fromkeys(random.sample(QUADS, random.randint(1, 6)))
    there = [quad for quad in quads if quad in engine.core.store]
    return ZSet.change(removed=there, added=[quad for quad in quads if quad not in there])


def followed(engine: Engine, random: Random) -> list[Follower]:
    """Subscribers of a few nested queries, and of the same about something else."""
    queries = NestedQueries(random)
    followers: list[Follower] = []
    while len(followers) < 6:
        text = queries.query()
        with suppress(SparqlSyntaxError):
            followers += [Follower(engine, each) for each in dict.fromkeys((text, about_another(text)))]
    return followers


@share(500)
@given(st.integers(0, 2**32))
def test_nested_queries_agree_with_recomputation(seed: int) -> None:
    engine, random = Engine(), Random(seed)
    for _ in range(random.randint(0, 4)):
        commit(engine, toggled(engine, random))
    followers = followed(engine, random)
    deltas = [toggled(engine, random)]
    for _ in range(random.randint(2, 8)):
        commit(engine, deltas[-1], followers)
        for follower in followers:
            follower.check()
        deltas.append(toggled(engine, random))
    for delta in reversed(deltas[:-1]):
        commit(engine, -delta, followers)
        for follower in followers:
            follower.check()


@share(200)
@given(st.integers(0, 2**32))
def test_nested_queries_agree_where_steps_exceed_their_slices(seed: int) -> None:
    engine, random = Engine(), Random(seed)
    followers = followed(engine, random)
    engine.stragglers.slice = random.choice((1, 4, 16))
    for _ in range(random.randint(2, 8)):
        commit(engine, toggled(engine, random), followers)
        for straggler in list(engine.stragglers):
            if random.random() < 0.5:
                bring_up_to_date(engine, straggler, followers)
        for follower in followers:
            if follower.subscription.spu not in engine.stragglers:
                follower.check()
    while stragglers := list(engine.stragglers):
        for straggler in stragglers:
            bring_up_to_date(engine, straggler, followers)
    for follower in followers:
        follower.check()
