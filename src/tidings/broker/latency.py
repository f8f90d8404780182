"""A histogram of durations as Prometheus defines it: counts below fixed bounds, and the sum.

counts[i] = how often bounds[i-1] < seconds <= bounds[i]
"""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate

BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Seconds: from an update in memory to one that had to wait for a disk in trouble."""


class Latency:
    """Counting costs 0.4 µs: it happens once for an update, and once for a batch of the log."""

    __slots__ = ("_counts", "seconds")

    def __init__(self) -> None:
        self._counts = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0
        """The sum."""

    def count(self, seconds: float) -> None:
        self._counts[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds

    def buckets(self) -> Iterator[tuple[float, int]]:
        """Each bound, and how many durations were at most that long."""
        yield from zip((*BOUNDS, float("inf")), accumulate(self._counts), strict=True)
