"""DISTINCT:  Δ = +1 for a row whose count rises above zero, -1 for one whose count falls to it."""

from tidings.engine.operators.base import Changes, Explanation, Hits, Loader, Operator
from tidings.model.zset import absorb, cross_zero
from tidings.sparql.evaluate.layout import Row


class Distinct:
    """δ: a row is there while its count is above zero."""

    __slots__ = ("_counts", "_inner", "_load", "_width", "layout")

    def __init__(self, inner: Operator, load: Loader, width: int) -> None:
        self._inner = inner
        self._load = load
        self._width = width
        self._counts: dict[Row, dict[Row, int]] = {}
        self.layout = inner.layout

    def delta(self, hits: Hits) -> Changes:
        changes: Changes = {}
        for row, weight in self._inner.delta(hits).items():
            counts = self._counts.get(row[: self._width])
            if counts is not None and (crossing := cross_zero(counts, row, weight)):
                changes[row] = crossing
        return changes

    def admit(self, parameters: Row) -> None:
        self._inner.admit(parameters)
        counts: dict[Row, int] = {}
        absorb(counts, ((row, 1) for row in self._load(parameters)))
        self._counts[parameters] = counts

    def dismiss(self, parameters: Row) -> None:
        self._inner.dismiss(parameters)
        del self._counts[parameters]

    def explain(self) -> Explanation:
        return Explanation("distinct", "counts each row", True, (self._inner.explain(),))
