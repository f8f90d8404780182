"""Z-sets: multisets whose multiplicities may be negative, the one algebra of change in Tidings.

    (a + b)(x) = a(x) + b(x)      (-a)(x) = -a(x)      a is nothing  <=>  a(x) = 0 for all x

A Z-set has no items of weight zero, so an empty one means that nothing changed. `add`, `absorb` and `cross_zero` work
on a plain dict of weights, a Z-set under construction: the inner loops of the operators call nothing else.
"""

from collections.abc import Hashable, ItemsView, Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


def add(weights: dict[T, int], item: T, weight: int) -> None:
    """weights + {item: weight}, in place."""
    total = weights.get(item, 0) + weight
    if total:
        weights[item] = total
    else:
        weights.pop(item, None)


def absorb(weights: dict[T, int], weighted: Iterable[tuple[T, int]]) -> None:
    """weights + weighted, in place. `add` is inlined, because calling it would take longer than its work."""
    get = weights.get
    for item, weight in weighted:
        total = get(item, 0) + weight
        if total:
            weights[item] = total
        else:
            weights.pop(item, None)


def cross_zero(counts: dict[T, int], item: T, weight: int) -> int:
    """Add to the count of an item, in place: 1 if that brings it above zero, -1 if it takes it back, else 0."""
    before = counts.get(item, 0)
    after = before + weight
    if after:
        counts[item] = after
    else:
        counts.pop(item, None)
    return (after > 0) - (before > 0)


class ZSet(Generic[T]):
    """A consolidated Z-set: the weight of every item is not zero."""

    __slots__ = ("_weights",)

    def __init__(self, weighted: Iterable[tuple[T, int]] = ()) -> None:
        self._weights: dict[T, int] = {}
        absorb(self._weights, weighted)

    @classmethod
    def change(cls, *, removed: Iterable[T] = (), added: Iterable[T] = ()) -> "ZSet[T]":
        """The Z-set added - removed."""
        result = cls((item, -1) for item in removed)
        absorb(result._weights, ((item, 1) for item in added))
        return result

    @classmethod
    def owning(cls, weights: dict[T, int]) -> "ZSet[T]":
        """Wrap consolidated weights without a copy; the caller must not use them any more."""
        result = cls.__new__(cls)
        result._weights = weights
        return result

    def add(self, item: T, weight: int = 1) -> None:
        add(self._weights, item, weight)

    def absorb(self, other: "ZSet[T]") -> None:
        """Add another Z-set into this one."""
        absorb(self._weights, other.items())

    def __add__(self, other: "ZSet[T]") -> "ZSet[T]":
        total = ZSet.owning(dict(self._weights))
        total.absorb(other)
        return total

    def __neg__(self) -> "ZSet[T]":
        return ZSet.owning({item: -weight for item, weight in self._weights.items()})

    def __sub__(self, other: "ZSet[T]") -> "ZSet[T]":
        return self + -other

    def __getitem__(self, item: T) -> int:
        return self._weights.get(item, 0)

    def items(self) -> ItemsView[T, int]:
        return self._weights.items()

    def added(self) -> Iterator[T]:
        """Each item of positive weight, repeated by its weight."""
        for item, weight in self._weights.items():
            for _ in range(weight):
                yield item

    def removed(self) -> Iterator[T]:
        """Each item of negative weight, repeated by the absolute value of its weight."""
        for item, weight in self._weights.items():
            for _ in range(-weight):
                yield item

    def __bool__(self) -> bool:
        return bool(self._weights)

    def __len__(self) -> int:
        """The number of distinct items."""
        return len(self._weights)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ZSet) and self._weights == other._weights

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        inside = ", ".join(f"{weight:+d} {item!r}" for item, weight in self._weights.items())
        return f"ZSet({inside})"
