"""Estimates what each plan costs, in seconds, from a sample of the commits.

Reading the clock twice for every step would slow down every step. So the engine times the steps of a random sample of
commits; each stands for itself and for the commits since the one before it in the sample:

    seconds(plan) = sum over the sample of (seconds of its step · commits that it stands for)

The first commits are all timed. The time of forks is measured exactly.
"""

from random import Random

from msgspec import Struct

from tidings.engine.plans.spu import Routed

EVERY = 16
"""On average, one commit of this many is in the sample."""

FIRST = 256
"""The first commits, up to this number, are all in the sample."""


class Cost(Struct, frozen=True):
    """The cost of one plan since it was made, for all its subscribers together."""

    seconds: float = 0.0
    """Seconds that its steps took on the event loop, while everything else waited."""
    aside: float = 0.0
    """Seconds that forks worked for it, while everything else went on."""


class Costs:
    """What the plans of an engine have cost."""

    __slots__ = ("_aside", "_chance", "_commits", "_gap", "_left", "_seconds", "_weight")

    def __init__(self) -> None:
        self._seconds: dict[Routed, float] = {}
        self._aside: dict[Routed, float] = {}
        self._chance = Random(EVERY)
        self._commits = 0
        self._gap = self._left = self._weight = 1

    def is_due(self) -> bool:
        """Called for each commit: whether its steps are to be timed."""
        self._left -= 1
        if self._left:
            return False
        self._weight = self._gap
        self._commits += self._gap
        self._gap = self._left = 1 if self._commits < FIRST else self._chance.randrange(1, 2 * EVERY)
        return True

    def count(self, spu: Routed, seconds: float) -> None:
        """Add the time of a step of a commit in the sample."""
        self.add(spu, seconds * self._weight)

    def add(self, spu: Routed, seconds: float) -> None:
        self._seconds[spu] = self._seconds.get(spu, 0.0) + seconds

    def add_aside(self, spu: Routed, seconds: float) -> None:
        self._aside[spu] = self._aside.get(spu, 0.0) + seconds

    def forget(self, spu: Routed) -> None:
        self._seconds.pop(spu, None)
        self._aside.pop(spu, None)

    def of(self, spu: Routed) -> Cost:
        return Cost(self._seconds.get(spu, 0.0), self._aside.get(spu, 0.0))

    def dearest(self) -> list[Routed]:
        """The plans that have cost anything, the most expensive first."""
        return sorted(self._seconds.keys() | self._aside.keys(), key=self._total, reverse=True)

    def _total(self, spu: Routed) -> float:
        return self._seconds.get(spu, 0.0) + self._aside.get(spu, 0.0)
