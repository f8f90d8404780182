"""DISTINCT:  Δ = +1 for a row whose count rises above zero, -1 for one whose count falls to it."""

from collections.abc import Iterable

from tidings.engine.operators.base import Changes, Explanation, Hits, Loader, Operator
from tidings.engine.operators.stateful.memory import counts as counting
from tidings.model.zset import absorb, cross_zero
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.layout import Row


class Distinct:
    """δ: the answer has a row while its count is above zero."""

    __slots__ = ("_context", "_counts", "_inner", "_load", "_width", "layout", "memory")

    def __init__(self, inner: Operator, load: Loader, width: int, context: Context) -> None:
        self._inner = inner
        self._load = load
        self._width = width
        self._context = context
        self.memory = counting()
        self._counts = self.memory.states
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
        absorb(counts, ((row, 1) for row in self._context.keep(self._load(parameters), counts)))
        self._counts[parameters] = counts

    def rows(self, parameters: Row) -> Iterable[Row]:
        """The rows of a member, each once."""
        return list(self._counts[parameters])

    def dismiss(self, parameters: Row) -> None:
        self._inner.dismiss(parameters)
        del self._counts[parameters]

    def explain(self) -> Explanation:
        return Explanation("distinct", "counts each row", True, (self._inner.explain(),))
