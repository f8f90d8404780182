"""What the store counted when a plan was made: once that has changed severalfold, the plan is made again."""

from tidings.engine.operators.base import Hits, Route, States

SEVERALFOLD = 4
"""How much more or less there has to be of the triples that a pattern matches."""

FEW = 8
"""Triples that any order of joins can cope with."""

LONGEST_WAIT = 4096
"""Changed triples after which counts are compared at the latest."""

AT_ONCE = 64
"""Changed triples of one pattern in one commit after which counts are compared in any case."""


class Counts:
    """How many triples match each pattern of a plan. They are compared after one changed triple, then after two, four,
    eight, so that a plan for an empty store is made again while that is loaded."""

    __slots__ = ("_due", "_known", "_routes", "_states", "_wait")

    def __init__(self, routes: tuple[Route, ...], states: States) -> None:
        self._routes = [route for route in routes if route.graph[:1] != "?"] if len(routes) > 1 else []
        self._states = states
        self._known = self._now()
        self._wait = 1
        self._due = 1

    def are_due(self, hits: Hits) -> bool:
        """Whether it is time to compare them."""
        due = self._due
        for found in hits.values():
            size = len(found)
            due -= size if size < AT_ONCE else LONGEST_WAIT
        self._due = due
        return due <= 0

    def compare(self) -> None:
        """Begin another epoch if they have changed severalfold."""
        self._wait = min(2 * self._wait, LONGEST_WAIT)
        self._due = self._wait
        now = self._now()
        if any(_differ(before, after) for before, after in zip(self._known, now, strict=True)):
            self._known = now
            self._states.epoch.number += 1

    def _now(self) -> list[float]:
        view = self._states.new.view
        counts = []
        for route in self._routes:
            source = view.named(route.graph) if route.graph else view.default()
            s, p, o = (None if term[0] == "?" else term for term in route.pattern)
            counts.append(source.count(s, p, o))
        return counts


def _differ(before: float, after: float) -> bool:
    less, more = sorted((max(before, FEW), max(after, FEW)))
    return more >= SEVERALFOLD * less
