"""What a test gets besides its target: the number of iterations, the seed, and a callback for progress."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from tidings.bench.configuration import Knowledge


def _silent(done: float, all_: float, what: str) -> None:
    """Report no progress."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The surroundings of one test on one target."""

    test: str
    target: str
    iterations: int
    warmup: int
    seed: int
    knowledge: Knowledge
    progress: Callable[[float, float, str], None] = _silent
    """Called with the amount of work done, the total, and a description."""

    def random(self) -> Random:
        return Random(f"{self.seed}/{self.test}")


def now() -> float:
    """Seconds, for differences."""
    return time.perf_counter()


def ms(since: float, until: float | None = None) -> float:
    return ((now() if until is None else until) - since) * 1000.0
