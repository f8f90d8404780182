"""What lives long is taken out of the garbage collector's sight, and the longest pause is known."""

import gc
from collections.abc import Iterator
from itertools import count

import pytest

from tidings.engine import pauses
from tidings.engine.pauses import Pauses


@pytest.fixture(autouse=True)
def nothing_is_frozen() -> Iterator[None]:
    """An engine of another test in this process may have put something out of sight."""
    gc.unfreeze()
    yield
    gc.unfreeze()


def test_what_has_settled_is_not_looked_at_again() -> None:
    kept: list[list[int]] = [[] for _ in range(1000)]
    Pauses().settle()
    assert gc.get_freeze_count() >= len(kept)
    assert not any(each is kept for each in gc.get_objects())


def test_long_lived_things_are_put_out_of_sight_every_so_often() -> None:
    held = Pauses()
    for _ in range(pauses._EVERY - 1):
        held.count()
    assert gc.get_freeze_count() == 0
    held.count()
    assert gc.get_freeze_count() > 0


def test_the_longest_collection_is_known() -> None:
    watched = Pauses()
    gc.collect()
    assert watched.longest == 0.0
    ticks = count()
    watched.watch(lambda: float(next(ticks)))
    try:
        gc.collect()
    finally:
        watched.unwatch()
    assert watched.longest == 1.0
