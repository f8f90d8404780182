"""A plan made for an empty store is made again once there is something in it; answers are right all the while."""

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given

from oracles.recomputation import Follower, check_through, commit
from strategies.examples import share
from strategies.histories import Steps, histories
from strategies.subscriptions import FEATURES, text_of
from tidings.engine.engine import Engine
from tidings.engine.operators import counts
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.model.terms import Quad
from tidings.model.zset import ZSet

EX = "http://example.org/"
QUERY = f"PREFIX : <{EX}> SELECT * {{ ?a :many ?b . ?a :few ?c . ?a :rare ?d . ?b :is ?e }}"


@pytest.fixture
def every_commit() -> Iterator[None]:
    """Plans are made again after every commit."""
    patch = pytest.MonkeyPatch()
    patch.setattr(counts, "FEW", 0.1)
    patch.setattr(counts, "SEVERALFOLD", 1)
    patch.setattr(counts, "LONGEST_WAIT", 1)
    yield
    patch.undo()


def quads() -> list[Quad]:
    """Of each subject, many objects of one predicate, few of another, two of a third; in no order."""
    found = [(f"<{EX}a{s}>", f"<{EX}many>", f"<{EX}b{o}>", "") for s in range(10) for o in range(40)]
    found += [(f"<{EX}a{s}>", f"<{EX}few>", f"<{EX}c{o}>", "") for s in range(10) for o in range(4)]
    found += [(f"<{EX}a{s}>", f"<{EX}rare>", f"<{EX}d{o}>", "") for s in range(10) for o in range(2)]
    found += [(f"<{EX}b{o}>", f"<{EX}is>", f"<{EX}e>", "") for o in range(40)]
    Random(1).shuffle(found)
    return found


def order(engine: Engine, number: int) -> str:
    """What is looked up from a triple with `:few`, in which order."""
    (line,) = [line for line in engine.explain(number).to_text().splitlines() if f"seed: ?v0 <{EX}few>" in line]
    return line


def test_a_plan_made_for_an_empty_store_becomes_that_of_a_full_one() -> None:
    early, late = Engine(), Engine(Core(Store(quads())))
    follower = Follower(early, QUERY)
    number = late.subscribe(QUERY, now=0)[0].id
    assert order(early, follower.subscription.id) != order(late, number)
    for quad in quads():
        commit(early, ZSet.change(added=[quad]), [follower])
    follower.check()
    assert order(early, follower.subscription.id) == order(late, number)


def test_a_pattern_that_nothing_matched_is_looked_at_as_soon_as_something_does() -> None:
    engine = Engine(Core(Store(quads())))
    follower = Follower(engine, f"PREFIX : <{EX}> SELECT * {{ ?a :few ?b . ?a :many ?c . ?c :is ?d . ?d :lit ?e }}")
    first = "looks up ?v3 <http://example.org/lit> ?v4 then"
    assert first in order(engine, follower.subscription.id)
    lit = [(f"<{EX}e>", f"<{EX}lit>", f"<{EX}w{number}>", "") for number in range(20)]
    for number in range(5_000):  # long after the counts of all patterns were compared
        quad = (f"<{EX}a0>", f"<{EX}few>", f"<{EX}x{number % 2}>", "")
        commit(engine, ZSet.change(removed=[quad]) if quad in engine.core.store else ZSet.change(added=[quad]))
    for quad in lit:
        commit(engine, ZSet.change(added=[quad]), [follower])
    follower.check()
    assert first not in order(engine, follower.subscription.id)


def test_objects_of_a_subject_are_counted_while_they_come_and_go() -> None:
    store = Store(quads())
    many, few = f"<{EX}many>", f"<{EX}few>"
    assert store.default.fan_out(many) == (40, 10)
    assert store.default.fan_out(few) == (4, 10)
    for number in range(20):
        store.remove(f"<{EX}a0>", many, f"<{EX}b{number}>")
    assert store.default.fan_out(many)[0] == 38
    for quad in list(store):
        store.remove(*quad)
    assert store.default.fan_out(many) == (0, 0)


@pytest.mark.usefixtures("every_commit")
@pytest.mark.parametrize("feature", FEATURES)
@share(3)
@given(before=histories, history=histories)
def test_answers_are_right_while_plans_are_made_again(feature: str, before: list[Steps], history: list[Steps]) -> None:
    check_through(map(text_of, FEATURES[feature]), before, history)
