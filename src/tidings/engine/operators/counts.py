"""Keeps the counts of the store from when a plan was made: when they have changed severalfold, it is made again."""

from tidings.engine.operators.base import Hits, Route, States

SEVERALFOLD = 4
"""The factor by which the number of a pattern's triples must have grown or shrunk."""

FEW = 2
"""Smaller counts are taken for this one: with so few triples, every order of joins is good enough."""

LONGEST_WAIT = 4096
"""The most changed triples between two comparisons of counts."""

AT_ONCE = 64
"""If a commit changes this many triples of one pattern, or more, counts are compared in any case."""


class Counts:
    """How many triples match each pattern of a plan. The counts are compared after one changed triple, then after two,
    four, eight, so that a plan made for an empty store is made again while the store is loaded. A pattern with fewer
    than FEW triples may come first in every join, even unconnected: its count is checked whenever it is hit."""

    __slots__ = ("_due", "_known", "_routes", "_scarce", "_states", "_wait")

    def __init__(self, routes: tuple[Route, ...], states: States) -> None:
        self._routes = [route for route in routes if route.graph[:1] != "?"] if len(routes) > 1 else []
        self._states = states
        self._know(self._now())
        self._wait = 1
        self._due = 1

    def are_due(self, hits: Hits) -> bool:
        """Whether to compare the counts after these hits."""
        due = self._due
        for found in hits.values():
            size = len(found)
            due -= size if size < AT_ONCE else LONGEST_WAIT
        self._due = due
        if due <= 0:
            return True
        return self._are_there(hits) if self._scarce else False

    def _are_there(self, hits: Hits) -> bool:
        """Whether a pattern that had fewer than FEW triples, and was hit, has several times as many now."""
        return any(self._count(route) >= SEVERALFOLD * FEW for route in self._scarce if route in hits)

    def compare(self) -> None:
        """Compare the counts with the earlier ones. Begin another epoch if one of them has changed severalfold."""
        self._wait = min(2 * self._wait, LONGEST_WAIT)
        self._due = self._wait
        now = self._now()
        if any(_differ(before, after) for before, after in zip(self._known, now, strict=True)):
            self._know(now)
            self._states.epoch.number += 1

    def _know(self, counts: list[float]) -> None:
        self._known = counts
        self._scarce = [route for route, count in zip(self._routes, counts, strict=True) if count < FEW]

    def _now(self) -> list[float]:
        return [self._count(route) for route in self._routes]

    def _count(self, route: Route) -> float:
        view = self._states.new.view
        source = view.named(route.graph) if route.graph else view.default()
        s, p, o = (None if term[0] == "?" else term for term in route.pattern)
        return source.count(s, p, o)


def _differ(before: float, after: float) -> bool:
    less, more = sorted((max(before, FEW), max(after, FEW)))
    return more >= SEVERALFOLD * less
