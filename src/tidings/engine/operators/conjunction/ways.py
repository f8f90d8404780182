"""Orders of look-ups from a seed to complete solutions, and the choice among them for the present terms.

Averages decide the usual order of look-ups. For a term that is a hub, the first look-up may find thousands of rows,
hardly any of which remain in the end. Then another pattern with fewer rows, by the counts of the store, comes first.
"""

from collections.abc import Callable, Collection
from operator import itemgetter

from msgspec import Struct

from tidings.engine.operators.base import States
from tidings.engine.operators.conjunction.lookups import Lookup, best_order, chain, leads_to, variables_of
from tidings.engine.operators.members import Members
from tidings.model.terms import Term, Var
from tidings.sparql.evaluate.dataset import TripleSource
from tidings.sparql.evaluate.layout import Layout, Row, Step, picker

MANY = 64
"""If the first look-up finds this many rows or more, the counts of the others are compared."""

SEVERALFOLD = 4
"""Another look-up comes first if it finds fewer rows by this factor."""

FEW_SEEDS = 16
"""The most seeds for which rows are counted; for more seeds, the averages are good enough."""


class Start(Struct, frozen=True):
    """What all ways of a pattern have in common: their beginning, and the wanted columns."""

    given: Layout
    """The terms that a seed gives to look-ups."""
    seed: dict[Var, int]
    """The places of its variables in a quad."""
    wanted: Layout
    states: States
    members: Members | None
    """The members whose rows are wanted; None if there are none, or if the beginning has their parameters."""

    def way(self, order: list[Lookup]) -> "Way":
        layout, mixed = chain(self.given, order, self.states, self.members)
        _, now = chain(self.given, [Lookup(each.route, True) for each in order], self.states, self.members)
        columns = {**{v: at + len(layout.variables) for v, at in self.seed.items()}, **layout.index}
        return Way(order, layout, mixed, now, picker([columns[variable] for variable in self.wanted.variables]))


class Way(Struct, frozen=True):
    """One order of look-ups."""

    order: list[Lookup]
    layout: Layout
    mixed: list[Step]
    """The steps if the commit hit other patterns, too: each look-up in its own state."""
    now: list[Step]
    """The steps if it did not: all look-ups in the new state."""
    finish: Callable[[Row], Row]
    """Picks the wanted columns of a found row with the seed's quad appended."""


class Detours:
    """The ways that begin with another look-up than the usual way. Each is made when it is first needed."""

    __slots__ = ("_firsts", "_sizes", "_start", "made")

    def __init__(self, start: Start, usual: list[Lookup]) -> None:
        self._start = start
        self._firsts = usual
        self._sizes = [_size(lookup, start.given) for lookup in usual]
        self.made: dict[int, Way | None] = {}
        """By the number of the first look-up; None if it does not lead to the members."""

    def find(self, seeds: Collection[Row]) -> Way | None:
        """A way whose first look-up finds far fewer rows; None if the usual way is good enough."""
        if len(seeds) > FEW_SEEDS:
            return None
        states, sizes = self._start.states, self._sizes
        source = states.source(states.new)
        usual = sum(sizes[0](source, seed) for seed in seeds)
        if usual < MANY:
            return None
        others = [(sum(size(source, seed) for seed in seeds), n) for n, size in enumerate(sizes[1:], 1)]
        least, number = min(others, key=itemgetter(0))
        if least * SEVERALFOLD > usual:
            return None
        if number not in self.made:
            self.made[number] = self._make(self._firsts[number])
        return self.made[number]

    def _make(self, first: Lookup) -> Way | None:
        given, members = self._start.given, self._start.members
        known = variables_of(first.route)
        rest = [lookup for lookup in self._firsts if lookup is not first]
        order = [first, *best_order(given.extended(known, known), rest, self._start.states)]
        if members is not None and not leads_to(members.variables, given, order):
            return None
        return self._start.way(order)


def _size(lookup: Lookup, given: Layout) -> Callable[[TripleSource, Row], float]:
    """How many rows a look-up finds from the terms of a seed."""
    s, p, o = (_term(term, given.index) for term in lookup.route.pattern)
    return lambda source, seed: source.count(s(seed), p(seed), o(seed))


def _term(term: str, index: dict[Var, int]) -> Callable[[Row], Term | None]:
    if term[0] != "?":
        return lambda _: term
    at = index.get(term)
    return (lambda _: None) if at is None else itemgetter(at)
