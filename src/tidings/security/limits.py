"""Token buckets: each key may do `burst` things at once, and `per_second` in the long run. Memory is bounded.

A bucket that is full again is as good as one that never was, so those are forgotten first.
"""

from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv6Address, ip_address

from msgspec import Struct


class Rate(Struct, frozen=True):
    """How much somebody may do."""

    burst: float
    per_second: float


class Limiter:
    """Counts what keys do, for at most `most` of them; `clock` counts seconds."""

    __slots__ = ("_buckets", "_clock", "_most", "_rate")

    def __init__(self, rate: Rate, clock: Callable[[], float], most: int = 10_000) -> None:
        self._rate = rate
        self._clock = clock
        self._most = most
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """What is left of each, and when that was; who came last is last."""

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, key: str) -> float:
        """Count one thing: 0.0 if it may be done, else the seconds after which it may, and it was not counted."""
        now, rate = self._clock(), self._rate
        left, then = self._buckets.pop(key, (rate.burst, now))
        left = min(rate.burst, left + (now - then) * rate.per_second)
        wait = 0.0 if left >= 1 else (1 - left) / rate.per_second
        self._buckets[key] = (left if wait else left - 1, now)
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        return wait


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
