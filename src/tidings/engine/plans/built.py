"""The planner's result for a part of a query: an operator, and a function that returns its rows."""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from tidings.engine.operators.base import Changes, Explanation, Hits, Operator
from tidings.engine.operators.stateful.memory import Memory
from tidings.sparql.evaluate.layout import Row


class Built(Struct, frozen=True):
    """An operator, and a function that returns its present rows for one member."""

    operator: Operator
    rows: Callable[[Row], Iterable[Row]]
    is_ordered: bool = True
    """Whether its columns have the same order in every plan of the same query, whatever the order of joins."""


class Pinned:
    """A part off the spine: all members share its state, which is built for the first member."""

    __slots__ = ("_inner", "layout", "memories")

    def __init__(self, inner: Operator, memories: list[Memory[Any]]) -> None:
        self._inner = inner
        self.layout = inner.layout
        self.memories = memories

    def pin(self) -> None:
        """Build its state, for the first member."""
        self._inner.admit(())

    def delta(self, hits: Hits) -> Changes:
        return self._inner.delta(hits)

    def admit(self, parameters: Row) -> None:
        pass

    def dismiss(self, parameters: Row) -> None:
        pass

    def explain(self) -> Explanation:
        return self._inner.explain()
