"""Token buckets: each key may do `burst` things at once, and `per_second` in the long run. Memory is bounded.

A bucket that is full again is as good as one that never was, so those are forgotten first.
"""

from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv6Address, ip_address

from msgspec import Struct


class Rate(Struct, frozen=True):
    """The limit of one key."""

    burst: float
    per_second: float


class Limiter:
    """Counts what keys do, for at most `most` of them; `clock` counts seconds."""

    __slots__ = ("_buckets", "_burst", "_clock", "_most", "_per_second")

    def __init__(self, rate: Rate, clock: Callable[[], float], most: int = 10_000) -> None:
        self._burst, self._per_second = rate.burst, rate.per_second
        self._clock = clock
        self._most = most
        self._buckets: OrderedDict[str, list[float]] = OrderedDict()
        """What is left of each, and when that was; who came last is last."""

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, key: str) -> float:
        """Count one thing: 0.0 if it may be done, else the seconds after which it may, and it was not counted."""
        now, bucket = self._clock(), self._buckets.get(key)
        if bucket is None:
            return self._begin(key, now)
        self._buckets.move_to_end(key)
        left = bucket[0] + (now - bucket[1]) * self._per_second
        bucket[1] = now
        if left >= 1:
            bucket[0] = (left if left < self._burst else self._burst) - 1
            return 0.0
        bucket[0] = left
        return (1 - left) / self._per_second

    def _begin(self, key: str, now: float) -> float:
        left = self._burst
        self._buckets[key] = [left - 1 if left >= 1 else left, now]
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        return 0.0 if left >= 1 else (1 - left) / self._per_second


@lru_cache(maxsize=4096)
def neighbourhood(address: str) -> str:
    """What counts as one address: an IPv6 address with the 2^64 others that its owner has as well."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return f"{IPv6Address(int(parsed) >> 64 << 64)}/64"
    return str(parsed)
