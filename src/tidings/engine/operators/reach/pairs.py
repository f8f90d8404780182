"""Finds the pairs of a root and an end that a path connects, and those that a commit connects or disconnects.

Few roots have a search tree each. Of many roots, a changed edge mostly concerns few. A walk backwards from the edge
finds these roots, and a walk on from it finds the ends that they may reach through it. Then walks between the two, from
either side in turns, compare the pairs before and after.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Protocol, TypeAlias

from tidings.engine.lutt import Items
from tidings.engine.operators.base import States
from tidings.engine.operators.path import Backwards
from tidings.engine.operators.reach.automaton import Automaton
from tidings.engine.operators.reach.search_tree import Edges, SearchTree
from tidings.engine.operators.reach.turns import Found, Walk, by_turns
from tidings.model.terms import Term
from tidings.sparql.algebra import Path
from tidings.sparql.evaluate.dataset import TripleSource
from tidings.sparql.evaluate.walk import Look, ends, is_node, reverse

Roots: TypeAlias = Mapping[Term, int]
Pairs: TypeAlias = dict[tuple[Term | None, ...], int]
"""Pairs of a root and an end: 1 if the path connects them now and did not before, -1 for the reverse."""

Targets: TypeAlias = Collection[Term] | None
"""The ends that matter; None if all do."""

MOST_TREES = 64
"""The most roots for which trees are made; trees are given up at twice as many."""

IDLE_TREES = 64
"""The most trees that are kept for former roots, which may become roots again."""


class Ground:
    """A path in its graph, before and after a commit. If `rooted`, zero steps are possible only at nodes of that."""

    __slots__ = ("_states", "automaton", "charge", "path", "rooted")

    def __init__(self, path: Path, states: States, *, rooted: bool) -> None:
        self.path = path
        self.automaton = Automaton(path)
        self.rooted = rooted
        self._states = states
        self.charge = states.meter.charge
        """Counts the work on trees. It counts for the slice of a step, but not for the budget of a delta."""

    def look(self, terms: int) -> None:
        """Walks call this now and then with the number of terms that they have walked to."""
        self._states.new.look(terms)

    def now(self) -> TripleSource:
        return self._states.source(self._states.new)

    def before(self) -> TripleSource:
        return self._states.source(self._states.old)

    def stands(self, root: Term, source: TripleSource) -> bool:
        """Whether zero steps lead from the root to itself."""
        return self.automaton.stands_still and (not self.rooted or is_node(root, source))


def starts_lead_to_less(
    path: Path, starts: Collection[Term], ends_: Collection[Term], source: TripleSource, charge: Callable[[int], None]
) -> bool:
    """Whether a walk from the starts of a path is done sooner than a walk backwards from its ends, in turns."""

    def walk(way: Path, terms: Iterable[Term]) -> Walk:
        def step(term: Term, look: Look) -> Found:
            ends(way, source, term, look)
            return {}

        return Walk(terms, step)

    walks = [walk(path, starts), walk(reverse(path), ends_)]
    return by_turns(walks if len(starts) <= len(ends_) else walks[::-1], charge) is walks[0]


class Connected(Protocol):
    """The pairs that are connected. At each commit, the methods are called in this order."""

    def roots_of(self, end: Term, roots: Roots) -> Iterable[Term]:
        """The roots that reach an end before the commit."""

    def changed(self, items: Items, roots: Roots, targets: Targets) -> Pairs:
        """The pairs of roots and targets that the changed triples connect or disconnect."""

    def ends_of(self, root: Term) -> Collection[Term]:
        """The ends that a root reaches after the commit."""


class ByTrees:
    """Keeps a search tree for each root, and for some former roots."""

    __slots__ = ("_ground", "_trees", "planted")

    def __init__(self, ground: Ground, roots: Iterable[Term]) -> None:
        self._ground = ground
        self.planted = 0
        """How many trees were made later, for new roots."""
        source = ground.before()
        self._trees = {root: self._planted(root, source) for root in roots}

    def items(self) -> Iterable[Any]:
        """The trees, each followed by its places."""
        for root, tree in self._trees.items():
            yield root, tree.stands
            yield from tree.places()

    def extend(self, items: Iterable[Any]) -> None:
        """Add trees that a fork has made."""
        ground = self._ground
        for item in items:
            if len(item) == 3:
                next(reversed(self._trees.values())).take(*item)
            else:
                root, stands = item
                self._trees[root] = SearchTree(root, ground.automaton, None, ground.charge, stands=stands)

    def _planted(self, root: Term, source: TripleSource) -> SearchTree:
        ground = self._ground
        return SearchTree(root, ground.automaton, source, ground.charge, stands=ground.stands(root, source))

    def roots_of(self, end: Term, roots: Roots) -> Iterable[Term]:
        trees = self._trees
        return [root for root in roots if end in trees[root].ends]

    def changed(self, items: Items, roots: Roots, targets: Targets) -> Pairs:
        ground = self._ground
        removed: Edges = []
        added: Edges = []
        for quad, weight in items:
            (added if weight > 0 else removed).extend(ground.automaton.edges(quad))
        source, may_stand = ground.now(), ground.automaton.stands_still
        pairs: Pairs = {}
        for root, tree in self._trees.items():
            told = tree.advance(removed, added, source, stands=may_stand and ground.stands(root, source))
            if told and root in roots:
                pairs.update({(root, end): told[end] for end in told if targets is None or end in targets})
        return pairs

    def ends_of(self, root: Term) -> Collection[Term]:
        tree = self._trees.pop(root, None)
        if tree is None:
            self.planted += 1
            tree = self._planted(root, self._ground.now())
        self._trees[root] = tree  # now the last one: the first ones are dropped first
        return tree.ends

    def forget_all_but(self, roots: Roots) -> None:
        """Drop the trees of former roots, except the IDLE_TREES that were used last."""
        idle = [root for root in self._trees if root not in roots]
        for root in idle[: max(len(idle) - IDLE_TREES, 0)]:
            del self._trees[root]


class ByWalking:
    """Keeps nothing: walks from the changed edges."""

    __slots__ = ("_backwards", "_forwards", "_ground")

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._backwards = Backwards(ground.path)
        self._forwards = Backwards(reverse(ground.path))

    def roots_of(self, end: Term, roots: Roots) -> Iterable[Term]:
        ground = self._ground
        return [root for root in ends(reverse(ground.path), ground.before(), end) if root in roots]

    def changed(self, items: Items, roots: Roots, targets: Targets) -> Pairs:
        ground = self._ground
        sources = (ground.now(), ground.before())
        quads = [quad for quad, _ in items]
        starts = {root: None for root in self._backwards.starts(quads, sources, ground.look) if root in roots}
        if not starts:
            return {}
        found = self._forwards.starts(quads, sources, ground.look)
        finals = found if targets is None else {end: None for end in found if end in targets}

        def from_start(start: Term, look: Look) -> Found:
            now, before = (self._ends(start, source, look) for source in sources)
            came = {(start, end): 1 for end in now if end in finals and end not in before}
            return came | {(start, end): -1 for end in before if end in finals and end not in now}

        def from_final(end: Term, look: Look) -> Found:
            now, before = (self._starts(end, source, look) for source in sources)
            came = {(start, end): 1 for start in now if start in starts and start not in before}
            return came | {(start, end): -1 for start in before if start in starts and start not in now}

        return by_turns((Walk(starts, from_start), Walk(finals, from_final)), ground.look, MOST_TREES).found

    def _starts(self, end: Term, source: TripleSource, look: Look) -> Collection[Term]:
        ground = self._ground
        found = dict.fromkeys(ends(reverse(ground.path), source, end, look))
        if end in found and ground.automaton.stands_still and not ground.stands(end, source):
            del found[end]
        return found

    def ends_of(self, root: Term) -> Collection[Term]:
        return self._ends(root, self._ground.now(), self._ground.look)

    def _ends(self, root: Term, source: TripleSource, look: Look) -> Collection[Term]:
        ground = self._ground
        if ground.automaton.stands_still and not ground.stands(root, source):
            return ()
        return dict.fromkeys(ends(ground.path, source, root, look))
