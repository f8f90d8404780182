"""No operator spends more on a delta than on evaluating again; what it does instead is exact, and EXPLAIN says so."""

from collections.abc import Iterator

import pytest
from hypothesis import given

from oracles.recomputation import Follower, commit
from strategies.examples import share
from strategies.histories import Steps, histories, net_delta
from strategies.subscriptions import FEATURES, about_another, text_of
from tidings.engine.engine import Engine
from tidings.engine.operators import law
from tidings.engine.store.store import Store
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.sparql.algebra import Repeat
from tidings.sparql.evaluate import context
from tidings.sparql.evaluate.walk import ends

EX = "http://example.org/"
PREFIX = f"PREFIX : <{EX}> "


@pytest.fixture(autouse=True, scope="module")
def _counted_from_the_first_row() -> Iterator[None]:
    """Whatever is looked up is too much, and what an evaluation costs is known from the first one on."""
    patch = pytest.MonkeyPatch()
    patch.setattr(context, "_WORK_OF_A_LOOK", 1)
    patch.setattr(law, "UNNOTICED", 1)
    patch.setattr(law, "OF_A_MEMBER", 0)
    patch.setattr(law, "OF_A_CHANGE", 0)
    patch.setattr(law, "LONGEST_WAIT", 2)
    yield
    patch.undo()


def play(engine: Engine, history: list[Steps], followers: list[Follower]) -> None:
    for steps in history:
        commit(engine, net_delta(engine.core.store, steps), followers)
        for follower in followers:
            follower.check()


@pytest.mark.parametrize("feature", FEATURES)
@share(5)
@given(before=histories, history=histories)
def test_answers_are_right_while_operators_stop_and_evaluate_again(
    feature: str, before: list[Steps], history: list[Steps]
) -> None:
    engine = Engine()
    play(engine, before[1:], [])
    texts = [text_of(query) for query in FEATURES[feature]]
    followers = [Follower(engine, text) for each in texts for text in dict.fromkeys((each, about_another(each)))]
    play(engine, history, followers)


def node(name: object) -> str:
    return f"<{EX}{name}>"


def hub(spokes: int) -> list[Quad]:
    """Everything leads to one hub, and from there to few."""
    return [
        *((node(f"a{number}"), node("p"), node("hub"), "") for number in range(spokes)),
        (node("hub"), node("q"), node("b"), ""),
        (node("b"), node("r"), node("a1"), ""),
    ]


def test_explain_says_how_often_an_operator_has_evaluated_again() -> None:
    engine = Engine()
    commit(engine, ZSet.change(added=hub(50)))
    follower = Follower(engine, PREFIX + "SELECT * { ?a :p ?h . ?h :q ?b . ?b :r ?c }")
    changed = ZSet.change(removed=[(node("hub"), node("q"), node("b"), "")])
    for delta in (changed, -changed, changed, -changed):
        commit(engine, delta, [follower])
        follower.check()
    assert "evaluated again" in engine.explain(follower.subscription.id).to_text()


def test_a_walk_counts_the_terms_that_it_walks_to() -> None:
    store = Store()
    store.apply(ZSet.change(added=[(node(number), node("p"), node(number + 1), "") for number in range(600)]))
    store.apply(ZSet.change(added=[(node("hub"), node("p"), node(f"spoke{number}"), "") for number in range(600)]))
    counted: list[int] = []
    for start, walked_to in (("0", 601), ("590", 11), ("hub", 601), ("nowhere", 1)):
        counted.clear()
        reached = ends(Repeat(node("p"), 0, True), store.default, node(start), counted.append)
        assert sum(counted) == walked_to == len(list(reached))


def test_short_walks_from_many_rows_are_not_too_much() -> None:
    engine = Engine()
    tree = [(node(number), node("p"), node((number - 1) // 2), "") for number in range(1, 1_000)]
    commit(engine, ZSet.change(added=tree))
    follower = Follower(engine, PREFIX + "SELECT * { ?a :p ?b OPTIONAL { ?a :p+ ?x . ?x :note ?n } }")
    noted = ZSet.change(added=[(node(0), node("note"), node("n"), "")])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(law, "UNNOTICED", 16_384)
        patch.setattr(law, "OF_A_CHANGE", 64)
        for delta in (noted, -noted):
            commit(engine, delta, [follower])
            follower.check()
    assert "evaluated again" not in engine.explain(follower.subscription.id).to_text()
