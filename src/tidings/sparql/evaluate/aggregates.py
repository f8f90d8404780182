"""The aggregates as accumulators: each is a function of the *multiset* of its values, whatever their order.

So an accumulator can remove values again (`add` with a weight of -1), and the aggregate of a group does not depend on
the history of the group. For that reason SAMPLE takes the least value, GROUP_CONCAT joins values in order, and sums of
floating point numbers are exact until `result` rounds them.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable
from decimal import Decimal
from fractions import Fraction
from math import inf, isfinite, isnan, nan
from typing import Protocol, TypeAlias

from tidings.model.ordered import Ordered
from tidings.model.terms import Term, lexical_form, literal
from tidings.sparql.algebra import Aggregate
from tidings.sparql.functions.strings import check_length
from tidings.sparql.values import (
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER,
    Number,
    OrderKey,
    decode,
    divide_numbers,
    encode_integer,
    encode_number,
    order_key,
)
from tidings.sparql.values.numerics import EXACT, to_single


class Accumulator(Protocol):
    """Takes the values of one group. A value that is None is an error, with which most aggregates are errors."""

    def add(self, value: Term | None, weight: int = 1) -> None: ...
    def result(self) -> Term | None: ...


class Count:
    """COUNT: the number of values that are not errors."""

    __slots__ = ("_count",)

    def __init__(self) -> None:
        self._count = 0

    def add(self, value: Hashable | None, weight: int = 1) -> None:
        if value is not None:
            self._count += weight

    def result(self) -> Term | None:
        return encode_integer(self._count)


class Sum:
    """Exact in every type: integers and decimals as such, floats and doubles as fractions, infinities counted."""

    __slots__ = ("_decimal", "_errors", "_infinite", "_integer", "_nans", "_ranks", "_real", "count")

    def __init__(self) -> None:
        self._integer = 0
        self._decimal = Decimal(0)
        self._real = Fraction(0)
        self._infinite = {inf: 0, -inf: 0}
        self._nans = 0
        self._errors = 0
        self._ranks = [0, 0, 0, 0]
        self.count = 0

    def add(self, value: Term | None, weight: int = 1) -> None:
        number = None if value is None else decode(value)
        if type(number) is not Number:
            self._errors += weight
            return
        self.count += weight
        self._ranks[number.rank] += weight
        amount = number.value
        if isinstance(amount, int):
            self._integer += weight * amount
        elif isinstance(amount, Decimal):
            self._decimal = EXACT.add(self._decimal, EXACT.multiply(amount, weight))
        elif isfinite(amount):
            self._real += weight * Fraction(amount)
        elif isnan(amount):
            self._nans += weight
        else:
            self._infinite[amount] += weight

    def total(self) -> Number | None:
        """The sum in the highest rank among the values; None if one of them was no number."""
        if self._errors:
            return None
        ranks = self._ranks
        if ranks[FLOAT] or ranks[DOUBLE]:
            rank = DOUBLE if ranks[DOUBLE] else FLOAT
            real = self._real_total()
            return Number(rank, real if rank == DOUBLE else to_single(real))
        if ranks[DECIMAL]:
            return Number(DECIMAL, EXACT.add(self._decimal, Decimal(self._integer)))
        return Number(INTEGER, self._integer)

    def _real_total(self) -> float:
        up, down = self._infinite[inf], self._infinite[-inf]
        if self._nans or (up and down):
            return nan
        if up or down:
            return inf if up else -inf
        exact = self._real + self._integer + Fraction(self._decimal)
        try:
            return float(exact)
        except OverflowError:
            return inf if exact > 0 else -inf

    def result(self) -> Term | None:
        return encode_number(self.total())


class Average:
    """AVG: the sum divided by the count; 0 for an empty group."""

    __slots__ = ("_sum",)

    def __init__(self) -> None:
        self._sum = Sum()

    def add(self, value: Term | None, weight: int = 1) -> None:
        self._sum.add(value, weight)

    def result(self) -> Term | None:
        total = self._sum.total()
        if total is None or not self._sum.count:
            return encode_number(total)
        return encode_number(divide_numbers(total, Number(INTEGER, self._sum.count)))


_Ranked: TypeAlias = tuple[OrderKey, Term]


def _ranked(value: Term) -> _Ranked:
    """A value with its sort key of ORDER BY. The value breaks ties, so the order is total."""
    return order_key(value), value


class Extreme:
    """MIN, MAX and SAMPLE: the first value in the order of ORDER BY, or the last.

    Most groups only grow, and keep only the extreme. Once the extreme is removed, a group keeps all values in order."""

    __slots__ = ("_best", "_errors", "_greatest", "_ordered", "_strict", "_values")

    def __init__(self, *, greatest: bool = False, strict: bool = True) -> None:
        self._values: dict[Term, int] = {}
        self._errors = 0
        self._greatest = greatest
        self._strict = strict
        self._best: _Ranked | None = None
        """The extreme; None if there are no values, or if `_ordered` has them."""
        self._ordered: Ordered[_Ranked] | None = None

    def add(self, value: Term | None, weight: int = 1) -> None:
        if value is None:
            self._errors += weight
            return
        before = self._values.get(value, 0)
        if before + weight:
            self._values[value] = before + weight
        else:
            del self._values[value]
        if self._ordered is not None:
            if not before:
                self._ordered.add(_ranked(value))
            elif not before + weight:
                self._ordered.remove(_ranked(value))
        elif not before:
            candidate, best = _ranked(value), self._best
            if best is None or (candidate > best if self._greatest else candidate < best):
                self._best = candidate
        elif not before + weight and self._best is not None and self._best[1] == value:
            self._best = None
            if self._values:
                self._ordered = Ordered(map(_ranked, self._values))

    def result(self) -> Term | None:
        if not self._values or (self._strict and self._errors):
            return None
        if self._ordered is not None:
            return (self._ordered.last() if self._greatest else self._ordered.first())[1]
        assert self._best is not None
        return self._best[1]


class Concatenation:
    """GROUP_CONCAT: the strings of all values, in order, with a separator between."""

    __slots__ = ("_errors", "_ordered", "_separator", "_texts", "_values")

    def __init__(self, separator: str) -> None:
        self._values: Counter[Term] = Counter()
        self._errors = 0
        self._separator = separator
        self._ordered: list[_Ranked] | None = None
        """All values in order, from the first call of `result` on; `_texts` has their strings."""
        self._texts: list[str] = []

    def add(self, value: Term | None, weight: int = 1) -> None:
        if value is None or value[0] == "_":
            self._errors += weight
            return
        self._values[value] += weight
        if not self._values[value]:
            del self._values[value]
        if self._ordered is not None:
            at = bisect_left(self._ordered, ranked := _ranked(value))
            if weight > 0:
                self._ordered[at:at] = [ranked] * weight
                self._texts[at:at] = [lexical_form(value)] * weight
            else:
                del self._ordered[at : at - weight], self._texts[at : at - weight]

    def result(self) -> Term | None:
        if self._errors:
            return None
        if self._ordered is None:
            self._ordered = sorted(map(_ranked, self._values.elements()))
            self._texts = [lexical_form(value) for _, value in self._ordered]
        texts = self._texts
        check_length(sum(map(len, texts)) + len(self._separator) * len(texts))
        return literal(self._separator.join(texts))


class DistinctValues:
    """DISTINCT: passes each value only once to another accumulator."""

    __slots__ = ("_inner", "_seen")

    def __init__(self, inner: Accumulator) -> None:
        self._inner = inner
        self._seen: dict[Term | None, int] = {}

    def add(self, value: Term | None, weight: int = 1) -> None:
        before = self._seen.get(value, 0)
        after = before + weight
        if after:
            self._seen[value] = after
        else:
            del self._seen[value]
        if (before > 0) != (after > 0):
            self._inner.add(value, 1 if after > 0 else -1)

    def result(self) -> Term | None:
        return self._inner.result()


def accumulator(aggregate: Aggregate) -> Accumulator:
    """A fresh accumulator for one group."""
    plain = _plain(aggregate)
    return DistinctValues(plain) if aggregate.distinct else plain


def _plain(aggregate: Aggregate) -> Accumulator:
    match aggregate.function:
        case "COUNT":
            return Count()
        case "SUM":
            return Sum()
        case "AVG":
            return Average()
        case "MIN":
            return Extreme()
        case "MAX":
            return Extreme(greatest=True)
        case "SAMPLE":
            return Extreme(strict=False)
        case "GROUP_CONCAT":
            return Concatenation(aggregate.separator)
        case unknown:
            raise AssertionError(f"the parser knows no aggregate {unknown}")
