"""A mergeable histogram of latencies: buckets of equal ratio, so that every percentile has an error of at most 1 %.

    bucket(v) = ceil(log v / log γ)      γ = (1 + α) / (1 - α)      value of bucket i = 2 γ^i / (γ + 1)

This is the mapping of DDSketch (Masson, Rim, Lee; VLDB 2019). Neither library is suitable: ddsketch has had no release
since April 2024, and its serialised form loses minimum, maximum and sum; hdrhistogram counts only whole numbers in a
range fixed beforehand, and needs a setuptools that other dependencies of Tidings exclude.
"""

from collections.abc import Iterable
from math import ceil, fsum, isfinite, log
from typing import Any

ERROR = 0.01
"""α: the relative error of a percentile."""
LEAST = 1e-6
"""ms. Smaller values, and zero, count as this much: no clock here resolves a nanosecond."""

_GAMMA = (1 + ERROR) / (1 - ERROR)
_PER_LOG = 1 / log(_GAMMA)


class Histogram:
    """Counts by bucket; also the exact sum and extremes, which buckets lose."""

    __slots__ = ("_buckets", "count", "max", "min", "sum")

    def __init__(self) -> None:
        self._buckets: dict[int, int] = {}
        self.count = 0
        self.sum = 0.0
        self.min = float("inf")
        self.max = float("-inf")

    @classmethod
    def of(cls, samples: Iterable[float]) -> "Histogram":
        histogram = cls()
        for sample in samples:
            histogram.record(sample)
        return histogram

    def record(self, ms: float) -> None:
        """Count a latency. Raises ValueError if it is negative or not finite."""
        if not isfinite(ms) or ms < 0:
            raise ValueError(f"a latency is a number that is not negative, not {ms}")
        bucket = ceil(log(ms if ms > LEAST else LEAST) * _PER_LOG)
        self._buckets[bucket] = self._buckets.get(bucket, 0) + 1
        self.count += 1
        self.sum += ms
        self.min = min(self.min, ms)
        self.max = max(self.max, ms)

    def merge(self, other: "Histogram") -> None:
        """Add the counts of another histogram."""
        for bucket, count in other._buckets.items():
            self._buckets[bucket] = self._buckets.get(bucket, 0) + count
        self.count += other.count
        self.sum += other.sum
        self.min = min(self.min, other.min)
        self.max = max(self.max, other.max)

    @classmethod
    def merged(cls, parts: Iterable["Histogram"]) -> "Histogram":
        whole = cls()
        for part in parts:
            whole.merge(part)
        return whole

    @property
    def mean(self) -> float:
        if not self.count:
            raise ValueError("nothing was recorded")
        return self.sum / self.count

    def percentile(self, per_cent: float) -> float:
        """The value at rank ceil(p · count), within 1 %; the extremes are exact."""
        if not 0 <= per_cent <= 100:
            raise ValueError(f"a percentile is between 0 and 100, not {per_cent:g}")
        if not self.count:
            raise ValueError("nothing was recorded")
        rank = max(1, ceil(per_cent / 100 * self.count))
        if rank == self.count:
            return self.max
        seen = 0
        for bucket in sorted(self._buckets):
            seen += self._buckets[bucket]
            if seen >= rank:
                return min(max(_value(bucket), self.min), self.max)
        raise AssertionError("the buckets hold fewer than were counted")

    def bars(self) -> list[tuple[float, float, int]]:
        """The bounds and the count of each bucket that is not empty, in order."""
        return [(_GAMMA ** (bucket - 1), _GAMMA**bucket, self._buckets[bucket]) for bucket in sorted(self._buckets)]

    def to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "error": ERROR,
            "count": self.count,
            "sum": self.sum,
            "buckets": {str(bucket): self._buckets[bucket] for bucket in sorted(self._buckets)},
        }
        return document | ({"min": self.min, "max": self.max} if self.count else {})

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> "Histogram":
        """Raises ValueError if it is not what `to_json` writes."""
        histogram = cls()
        try:
            if document["error"] != ERROR:
                raise ValueError(f"its buckets are for an error of {document['error']}, ours for {ERROR}")
            histogram._buckets = {int(bucket): int(count) for bucket, count in document["buckets"].items()}
            histogram.count = int(document["count"])
            histogram.sum = float(document["sum"])
            if histogram.count:
                histogram.min, histogram.max = float(document["min"]), float(document["max"])
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a histogram: {error!r}") from error
        if fsum(histogram._buckets.values()) != histogram.count:
            raise ValueError("not a histogram: its buckets do not add up to its count")
        return histogram


def _value(bucket: int) -> float:
    """The value of a bucket, with the same relative distance to both its ends."""
    value: float = 2 * _GAMMA**bucket / (_GAMMA + 1)
    return value
