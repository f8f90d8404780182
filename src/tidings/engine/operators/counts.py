"""Remembers the counts of the store when a plan was made: when they have changed severalfold, it is made again."""

from tidings.engine.operators.base import Hits, Route, States

SEVERALFOLD = 4
"""How much more or less there has to be of the triples that a pattern matches."""

FEW = 2
"""Triples that any order of joins can cope with."""

LONGEST_WAIT = 4096
"""Changed triples after which counts are compared at the latest."""

AT_ONCE = 64
"""Changed triples of one pattern in one commit after which counts are compared in any case."""


class Counts:
    """How many triples match each pattern of a plan. They are compared after one changed triple, then after two, four,
    eight, so that a plan for an empty store is made again while that is loaded. A pattern of which there was next to
    nothing may come first in every join, connected or not: its count is looked at with every change."""

    __slots__ = ("_due", "_known", "_routes", "_scarce", "_states", "_wait")

    def __init__(self, routes: tuple[Route, ...], states: States) -> None:
        self._routes = [route for route in routes if route.graph[:1] != "?"] if len(routes) > 1 else []
        self._states = states
        self._know(self._now())
        self._wait = 1
        self._due = 1

    def are_due(self, hits: Hits) -> bool:
        """Whether it is time to compare them."""
        due = self._due
        for found in hits.values():
            size = len(found)
            due -= size if size < AT_ONCE else LONGEST_WAIT
        self._due = due
        if due <= 0:
            return True
        return self._are_there(hits) if self._scarce else False

    def _are_there(self, hits: Hits) -> bool:
        """Whether a pattern that next to nothing matched is matched by something now."""
        return any(self._count(route) >= SEVERALFOLD * FEW for route in self._scarce if route in hits)

    def compare(self) -> None:
        """Begin another epoch if they have changed severalfold."""
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
