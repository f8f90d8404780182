"""A hub is not walked through where another pattern has fewer rows; whichever comes first, the answer is the same."""

from collections.abc import Iterator

import pytest
from hypothesis import given

from oracles.recomputation import Follower, check_through, commit
from strategies.examples import share
from strategies.histories import Steps, histories
from strategies.subscriptions import FEATURES, text_of
from tidings.engine.engine import Engine
from tidings.engine.operators.conjunction import ways
from tidings.model.terms import Quad
from tidings.model.zset import ZSet


@pytest.fixture
def _always_another_way() -> Iterator[None]:
    """The usual order is never good enough."""
    patch = pytest.MonkeyPatch()
    patch.setattr(ways, "MANY", 0)
    patch.setattr(ways, "SEVERALFOLD", 0)
    yield
    patch.undo()


@pytest.mark.usefixtures("_always_another_way")
@pytest.mark.parametrize(
    "feature", ["joins of patterns", "a variable more than once", "OPTIONAL", "FROM and FROM NAMED"]
)
@share(15)
@given(before=histories, history=histories)
def test_answers_are_right_whichever_pattern_comes_first(
    feature: str, before: list[Steps], history: list[Steps]
) -> None:
    check_through(map(text_of, FEATURES[feature]), before, history)


def world() -> list[Quad]:
    """Nearly everybody lives in one country; there are three guides."""
    lives = [(f"<urn:p{n}>", "<urn:country>", "<urn:hub>" if n % 10 else f"<urn:c{n}>", "") for n in range(200)]
    return [*lives, *((f"<urn:p{n}>", "<urn:guides>", "<urn:x>", "") for n in (7, 17, 27))]


def test_a_hub_is_entered_from_the_smaller_side() -> None:
    engine = Engine()
    engine.core.store.apply(ZSet.change(added=world()))
    text = "SELECT ?v ?p { ?v <urn:visits> ?c . ?p <urn:country> ?c . ?p <urn:guides> ?x }"
    follower = Follower(engine, text)
    for place, detours in (("c10", 0), ("hub", 1)):
        visit: Quad = ("<urn:v>", "<urn:visits>", f"<urn:{place}>", "")
        commit(engine, ZSet.change(added=[visit]), [follower])
        follower.check()
        explained = engine.explain(follower.subscription.id).to_text()
        assert explained.count("or first ?v2 <urn:guides> ?v3 where that is less") == detours
    assert follower.answer.total() == 3
