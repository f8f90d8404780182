"""Walks that find the same from different sides, when it is not known in advance which of them is the shortest.

They take turns with growing budgets until one is done. That takes at most a few times as long as the shortest alone.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from tidings.model.terms import Term
from tidings.model.zset import absorb
from tidings.sparql.evaluate.walk import Look

Found: TypeAlias = dict[tuple[Any, ...], int]
"""The rows or pairs that a walk has found, with weights."""

_FIRST_WALK = 256
_FURTHER = 4


class _Enough(Exception):
    """A walk has used up the budget of its turn."""


class Walk:
    """A walk from several terms, one after the other; `step` returns the results from one of them."""

    __slots__ = ("_left", "_step", "found")

    def __init__(self, terms: Iterable[Term], step: Callable[[Term, Look], Found]) -> None:
        self._left = list(terms)
        self._left.reverse()
        self._step = step
        self.found: Found = {}

    def go_on(self, from_one: int, from_all: int, look: Look) -> None:
        """Take a turn: walk to at most `from_one` terms from each term, and `from_all` in total. Raises _Enough."""
        while self._left:
            left = min(from_one, from_all)

            def count(walked_to: int) -> None:
                nonlocal left, from_all
                left -= walked_to
                from_all -= walked_to
                look(walked_to)
                if left < 0:
                    raise _Enough

            absorb(self.found, self._step(self._left[-1], count).items())
            self._left.pop()


def by_turns(walks: Sequence[Walk], look: Look, terms: int = 1) -> Walk:
    """The walk that is done first. `look` is called with the number of terms that are walked to. The budget of a turn
    is `terms` times that of one term, so that a single term that leads to many others ends a turn early."""
    most = _FIRST_WALK
    while True:
        for walk in walks:
            try:
                walk.go_on(most, most * terms, look)
            except _Enough:
                continue
            return walk
        most *= _FURTHER
