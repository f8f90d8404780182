"""Rows in the order of one of their values: exact numbers, doubles, texts, moments, each on a scale of its own.

On one scale, `<` is the order of the places there. Between two scales of one family, such as decimals and doubles, it
is monotone on each scale, but rounds: only the terms themselves decide. Between families, it is an error. Values on no
scale, such as durations, can be compared at most with each other, and are kept aside.
"""

from collections.abc import Collection, Iterable, Iterator
from decimal import Decimal
from itertools import islice
from typing import Any, TypeAlias

from tidings.engine.operators.base import Changes
from tidings.engine.operators.thresholds import Range
from tidings.model.ordered import Ordered
from tidings.model.terms import Term
from tidings.model.zset import add
from tidings.sparql.evaluate.layout import Row
from tidings.sparql.values import Boolean, DateTime, LangText, Number, Text, decode
from tidings.sparql.values.numerics import is_nan

Scale: TypeAlias = tuple[str, int]
"""A family of comparable values, and the number of a scale in it."""

Place: TypeAlias = int | Decimal | float | str


def place_of(term: Term) -> tuple[Scale, Place] | None:
    """The scale of a value, and its place there; None if it is on no scale."""
    value = decode(term)
    match value:
        case Number(rank, number):
            exact = not isinstance(number, float)
            return None if is_nan(value) else (("number", 0 if exact else rank), number)
        case DateTime():
            return (value.kind, int(value.offset is None)), value.instant
        case Text(text):
            return ("text", 0), text
        case LangText(text, language):
            return (f"@{language}", 0), text
        case Boolean(truth):
            return ("boolean", 0), int(truth)
        case _:
            return None


class _Ranked:
    """The rows on one scale."""

    __slots__ = ("buckets", "order")

    def __init__(self) -> None:
        self.buckets: dict[Place, tuple[Term, Changes]] = {}
        """For each place, a term with this value, and the rows."""
        self.order: Ordered[Any] = Ordered()

    def from_end(self, greatest: bool) -> Iterator[tuple[Term, Row]]:
        """The distinct rows from one end, each with its first value."""
        seen: set[Row] = set()
        for place in self.order.backwards() if greatest else self.order:
            value, rows = self.buckets[place]
            for row in rows:
                if row not in seen:
                    seen.add(row)
                    yield value, row


class ByValue:
    """Rows in the order of one of their values."""

    __slots__ = ("_scales", "aside")

    def __init__(self) -> None:
        self._scales: dict[Scale, _Ranked] = {}
        self.aside: Changes = {}
        """Rows on no scale; the first cell is the value."""

    def __bool__(self) -> bool:
        return bool(self._scales or self.aside)

    def add(self, value: Term, row: Row, weight: int) -> None:
        found = place_of(value)
        if found is None:
            add(self.aside, (value, *row), weight)
            return
        scale, place = found
        ranked = self._scales.get(scale)
        if ranked is None:
            ranked = self._scales[scale] = _Ranked()
        bucket = ranked.buckets.get(place)
        if bucket is None:
            bucket = ranked.buckets[place] = value, {}
            ranked.order.add(place)
        add(bucket[1], row, weight)
        if not bucket[1]:
            del ranked.buckets[place]
            ranked.order.remove(place)
            if not ranked.buckets:
                del self._scales[scale]

    def items(self) -> Iterable[tuple[Row, int]]:
        """The rows with their counts, in no order."""
        for ranked in self._scales.values():
            for _, rows in ranked.buckets.values():
                yield from rows.items()
        for aside, count in self.aside.items():
            yield aside[1:], count

    def entries(self) -> Iterator[tuple[Term, Row, int]]:
        """The rows, each with a term of its place and its count, in no order."""
        for ranked in self._scales.values():
            for value, rows in ranked.buckets.values():
                for row, count in rows.items():
                    yield value, row, count
        for aside, count in self.aside.items():
            if aside[0] is not None:
                yield aside[0], aside[1:], count

    def leaders(self, *, greatest: bool, most: int) -> dict[Scale, tuple[tuple[Term, Row], ...]]:
        """For each scale, the first `most` distinct rows from one end, with their values."""
        return {scale: tuple(islice(ranked.from_end(greatest), most)) for scale, ranked in self._scales.items()}

    def near(self, moved: Collection[Term], condition: Range, *, cancel: bool) -> Iterator[tuple[Term, Changes]]:
        """The values on scales, with their rows, for which a condition may hold with some of the values that `moved`:
        that were added or removed elsewhere. On each scale, a condition holds from some place on, or up to one. So on
        one side of all moved values it holds with none of them, and on the other side with all. The latter are left
        out, too, if these `cancel`: if as many were added as removed."""
        places = [place_of(term) for term in moved]
        known = [place for place in places if place is not None]
        families = {scale[0] for scale, _ in known}
        scales = {scale for scale, _ in known}
        cancel = cancel and len(families) < 2 and len(known) == len(places)
        for scale, ranked in self._scales.items():
            if scale[0] not in families:
                continue
            if scales == {scale}:
                found = _between(ranked.order, [place for _, place in known], condition.is_lower, cancel)
            else:
                found = _holding(ranked, list(moved), condition, cancel)
            for place in found:
                yield ranked.buckets[place]


def _between(order: Ordered[Any], ends: list[Any], is_lower: bool, cancel: bool) -> Iterator[Place]:
    """The places for which a condition may hold with values at the `ends`, which are on the same scale."""
    low = min(ends) if is_lower or cancel else None
    return order.from_to(low, max(ends) if cancel or not is_lower else None)


def _holding(ranked: _Ranked, others: list[Term], condition: Range, cancel: bool) -> Iterator[Place]:
    """The places for which a condition holds with some of the others, on any scale; if they cancel, not with all."""

    def held(place: Any) -> Iterator[bool]:
        value = ranked.buckets[place][0]
        return (condition.holds(value, other) for other in others)

    if condition.is_lower:
        return ranked.order.within(lambda place: any(held(place)), lambda place: cancel and all(held(place)))
    return ranked.order.within(lambda place: not (cancel and all(held(place))), lambda place: not any(held(place)))
