"""Range filters on a shared plan: `?d > 80` with many thresholds is a sorted index, not a test for each subscriber.

A changed row (d, ±1) concerns the thresholds on one side of d. Where a value moves, the old row and the new one cancel
for all thresholds but those in between, so only the subscriptions whose threshold is crossed are visited.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from decimal import Decimal

from msgspec import Struct

from tidings.engine.leaves import Leaf, drop, put, values_of
from tidings.model.terms import Term, Var
from tidings.model.zset import add
from tidings.sparql.algebra import Comparator
from tidings.sparql.values import Number, decode, less, less_or_equal
from tidings.sparql.values.numerics import is_nan


class Range(Struct, frozen=True):
    """The condition `variable operator threshold`."""

    variable: Var
    operator: Comparator

    def holds(self, value: Term, threshold: Term) -> bool:
        match self.operator:
            case ">":
                return bool(less(threshold, value))
            case ">=":
                return bool(less_or_equal(threshold, value))
            case "<":
                return bool(less(value, threshold))
            case _:
                return bool(less_or_equal(value, threshold))

    @property
    def is_lower(self) -> bool:
        """Whether values must be above the threshold. Then the thresholds that a value passes are the smallest ones."""
        return self.operator in {">", ">="}


def exact(term: Term) -> int | Decimal | None:
    """The value of an integer or a decimal; None for other terms, which cannot be thresholds.

    Promotion to the type of the other operand keeps the order of integers and decimals. With doubles among them, it
    would not.
    """
    value = decode(term)
    return value.value if isinstance(value, Number) and not isinstance(value.value, float) else None


def _is_comparable(term: Term) -> bool:
    """Whether a term may pass a range filter at all: only numbers do, except NaN."""
    value = decode(term)
    return isinstance(value, Number) and not is_nan(value)


class Thresholds:
    """The thresholds of one range filter, in order."""

    __slots__ = ("_condition", "_count", "_sorted", "_terms")

    def __init__(self, condition: Range) -> None:
        self._condition = condition
        self._count = 0
        self._sorted: list[int | Decimal] = []
        self._terms: dict[int | Decimal, Leaf[Term]] = {}
        """By value: 80 and 80.0 are one place in the order, but different thresholds."""

    def __len__(self) -> int:
        return self._count

    def add(self, threshold: Term) -> None:
        value = _value(threshold)
        if value not in self._terms:
            insort(self._sorted, value)
        self._count += put(self._terms, value, threshold)

    def remove(self, threshold: Term) -> None:
        value = _value(threshold)
        self._count -= drop(self._terms, value, threshold)
        if value not in self._terms:
            del self._sorted[bisect_left(self._sorted, value)]

    def crossed(self, changes: Iterable[tuple[Term, int]]) -> Iterator[tuple[Term, int]]:
        """The thresholds for which the weights of the changes do not add up to zero, each with their sum."""
        steps: dict[int, int] = {}
        for value, weight in changes:
            if _is_comparable(value):
                add(steps, self._boundary(value), weight)
        lower = self._condition.is_lower
        edges = sorted(steps)
        total = sum(steps.values()) if lower else 0
        previous = 0
        for edge in (*edges, len(self._sorted)):
            if total:
                for at in range(previous, edge):
                    for term in values_of(self._terms[self._sorted[at]]):
                        yield term, total
            if edge in steps:
                total += -steps[edge] if lower else steps[edge]
            previous = edge

    def _boundary(self, value: Term) -> int:
        """How many thresholds, from the smallest on, a value passes (`>`) or fails (`<`): a binary search, because the
        filter is monotone in the threshold."""
        lower, holds = self._condition.is_lower, self._condition.holds
        low, high = 0, len(self._sorted)
        while low < high:
            middle = (low + high) // 2
            term = next(iter(values_of(self._terms[self._sorted[middle]])))
            if holds(value, term) == lower:
                low = middle + 1
            else:
                high = middle
        return low


def _value(threshold: Term) -> int | Decimal:
    value = exact(threshold)
    if value is None:
        raise AssertionError("only integers and decimals are lifted as thresholds")
    return value
