"""What each plan costs, in seconds: estimated from a sample of the commits.

To look at the clock twice for every step would cost every step something. So a commit is looked at now and then, at
random, and stands for itself and for those that were passed over before it:

    seconds(plan) = sum over the sample of (seconds of its step · commits that it stands for)

The first commits are all looked at. What was done aside, in forks, is known exactly.
"""

from random import Random

from msgspec import Struct

from tidings.engine.plans.spu import Routed

EVERY = 16
"""Of so many commits one is in the sample, on average."""

FIRST = 256
"""Commits that are all in it: where little happens, little is lost by looking."""


class Cost(Struct, frozen=True):
    """Of one plan, since it was made; those who share it share what it costs."""

    seconds: float = 0.0
    """In which everybody waited for its steps."""
    aside: float = 0.0
    """In which forks worked for it, and nobody waited."""


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
        """With each commit: whether its steps are to be timed."""
        self._left -= 1
        if self._left:
            return False
        self._weight = self._gap
        self._commits += self._gap
        self._gap = self._left = 1 if self._commits < FIRST else self._chance.randrange(1, 2 * EVERY)
        return True

    def count(self, spu: Routed, seconds: float) -> None:
        """What a step of a commit that is in the sample took."""
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
        """The plans that have cost anything, the dearest first."""
        return sorted(self._seconds.keys() | self._aside.keys(), key=self._total, reverse=True)

    def _total(self, spu: Routed) -> float:
        return self._seconds.get(spu, 0.0) + self._aside.get(spu, 0.0)
