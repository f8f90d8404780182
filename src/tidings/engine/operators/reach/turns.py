"""Walks that find the same from different sides, and which of them ends first is not known before.

Each goes a little way, then each goes on a little further: that takes no longer than a few times the shortest.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from tidings.model.terms import Term
from tidings.model.zset import absorb
from tidings.sparql.evaluate.walk import Look

Found: TypeAlias = dict[tuple[Any, ...], int]
"""What a walk has found, with weights."""

_FIRST_WALK = 256
_FURTHER = 4


class _Enough(Exception):
    """A walk has come to more terms than it may this time."""


class Walk:
    """A walk from some terms, one after the other; `step` finds what there is to find from one of them."""

    __slots__ = ("_left", "_step", "found")

    def __init__(self, terms: Iterable[Term], step: Callable[[Term, Look], Found]) -> None:
        self._left = list(terms)
        self._left.reverse()
        self._step = step
        self.found: Found = {}

    def go_on(self, from_one: int, from_all: int, look: Look) -> None:
        """To so many terms from each, and from all together. Raises _Enough."""
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
    """The walk that ends first; `look` is told of all terms that are walked to. From all terms together, a walk goes so
    many times as far as from one: it is held up by a single term that leads to a lot."""
    most = _FIRST_WALK
    while True:
        for walk in walks:
            try:
                walk.go_on(most, most * terms, look)
            except _Enough:
                continue
            return walk
        most *= _FURTHER
