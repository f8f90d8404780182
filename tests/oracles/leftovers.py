"""What is left in an engine: nothing, once everybody has gone."""

from collections.abc import Sized

from tidings.engine.engine import Engine


def state_of(engine: Engine) -> set[int]:
    """The sizes of everything that an engine keeps for its subscriptions."""
    plans, routing = engine._plans, engine._routing
    kept: list[Sized] = [engine.lutt, engine.subscriptions, routing, routing.sizes, routing.every_commit]
    return {len(each) for each in (*kept, plans._spus, plans._keys, plans._makers, plans._every_commit)}
