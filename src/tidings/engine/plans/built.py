"""What the planner makes of a part of a query: an operator, and the way to its rows."""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from tidings.engine.operators.base import Changes, Explanation, Hits, Operator
from tidings.engine.operators.stateful.memory import Memory
from tidings.sparql.evaluate.layout import Row


class Built(Struct, frozen=True):
    """An operator, and how to get at its present rows for one member."""

    operator: Operator
    rows: Callable[[Row], Iterable[Row]]
    is_ordered: bool = True
    """Whether its columns are in the same order in every plan of the same query, however that joins."""


class Pinned:
    """A part off the spine: its state belongs to all members, and is there from the first to the last."""

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
