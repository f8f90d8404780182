"""What plans cost is estimated from a sample of the commits, which stands for all of them."""

from itertools import count

import pytest

from tidings.engine.behind.costs import EVERY, FIRST, Costs
from tidings.engine.engine import Engine

STEP = 0.5
"""Seconds that pass between two looks at the clock."""


def test_seconds_are_those_of_the_steps() -> None:
    """Each step takes one look more than it began with: half a second of this clock."""
    ticks = count()
    engine = Engine(clock=lambda: STEP * next(ticks))
    engine.stragglers.slice = 20_000
    often, never = (engine.subscribe(f"SELECT * {{ ?s <urn:{name}> ?o }}", now=0)[0] for name in ("p", "q"))
    for number in range(10):
        engine.apply(f"INSERT DATA {{ <urn:a> <urn:p> {number} }}", now=0)
    costs = engine.stragglers.costs
    assert (costs.of(often.spu).seconds, costs.of(never.spu).seconds) == (10 * STEP, 0)
    assert costs.dearest() == [often.spu]
    engine.unsubscribe(often.id)
    assert costs.dearest() == []


def test_a_commit_of_the_sample_stands_for_those_that_were_passed_over() -> None:
    engine = Engine()
    spu = engine.subscribe("SELECT * { ?s ?p ?o }", now=0)[0].spu
    costs, looks, commits = Costs(), 0, FIRST + 10_000
    for number in range(commits):
        if costs.is_due():
            assert number >= FIRST or number == looks  # the first are all in it
            looks += 1
            costs.count(spu, STEP)
    assert looks - FIRST == pytest.approx(10_000 / EVERY, rel=0.1)
    assert commits - 2 * EVERY < costs.of(spu).seconds / STEP <= commits
