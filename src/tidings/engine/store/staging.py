"""Prepares a large delta: indexes its quads in portions, so that the store can then apply it quickly and at once.

Adding or removing a quad takes some microseconds, and a delta must be applied without a pause, so that no query sees a
half of it. Where a key of a prepared index is new to the store, its values move there at the speed of `dict.update`;
`removal.py` prepares the removals. Quads with language-tagged literals need the spelling of the store, so they are
added and removed one by one.
"""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import TypeAlias

from tidings.engine.leaves import put, put_all
from tidings.engine.store.graph import GraphIndex, Leaves
from tidings.engine.store.removal import GraphRemoval, Loss
from tidings.engine.store.spelling import Spellings
from tidings.model.terms import Quad, Term, is_tagged
from tidings.model.zset import ZSet

Mentions: TypeAlias = tuple[Leaves, Leaves, Leaves]
"""The named graphs by their subjects, predicates and objects."""

LARGE = 4_096
"""Deltas of more quads are staged."""

PORTION = 1_000
"""How many quads are indexed at a step, without blocking the event loop for long."""


class Staged:
    """The quads that a delta adds, indexed by graph, and what it removes."""

    __slots__ = ("_gone", "added", "delta", "is_ready", "mentions", "removed", "rest")

    def __init__(self, delta: ZSet[Quad]) -> None:
        self.delta = delta
        self.added: dict[Term, GraphIndex] = {}
        self._gone: dict[Term, GraphIndex] = {}
        self.removed: dict[Term, GraphRemoval] = {}
        self.mentions = Loss(), Loss(), Loss()
        """The named graphs in which a term no longer occurs as subject, as predicate, as object."""
        self.rest: list[tuple[Quad, int]] = []
        """Quads that have to be removed and added one by one, after the other removals."""
        self.is_ready = False

    def portions(self, graph_of: Callable[[Term], GraphIndex | None], mentions: Mentions) -> Iterator[None]:
        """Prepare everything, a portion at each step. The store must not change until the delta is applied."""
        steps = chain(self._index(), self._find_removals(graph_of), self._find_mentions(mentions))
        for number, _ in enumerate(steps):
            if number % PORTION == 0:
                yield
        self.is_ready = True

    def _index(self) -> Iterator[None]:
        spellings = Spellings()
        for quad, weight in self.delta.items():
            yield
            s, p, o, g = quad
            if is_tagged(o):
                self.rest.append((quad, weight))
                continue
            indexes = self.added if weight > 0 else self._gone
            graph = indexes.get(g)
            if graph is None:
                graph = indexes[g] = GraphIndex(spellings)
            graph.add(s, p, o)

    def _find_removals(self, graph_of: Callable[[Term], GraphIndex | None]) -> Iterator[None]:
        for name, gone in self._gone.items():
            graph = graph_of(name)
            assert graph is not None
            removal = self.removed[name] = GraphRemoval(graph, gone)
            yield from removal.steps()

    def _find_mentions(self, mentions: Mentions) -> Iterator[None]:
        lost: Mentions = {}, {}, {}
        for name, removal in self.removed.items():
            if name:
                for leaves, terms in zip(lost, removal.gone(), strict=True):
                    for term in terms:
                        put(leaves, term, name)
                        yield
        for loss, known, leaves in zip(self.mentions, mentions, lost, strict=True):
            for term, names in leaves.items():
                loss.take(known, term, names)
                yield


def take_over(graph: GraphIndex, staged: GraphIndex) -> int:
    """Add the triples of another index, none of which the graph has. Returns how many they are. `staged` must not be
    used afterwards."""
    spo, sizes, subjects_of = graph.spo, graph.sizes, graph.subjects_of
    for p, count in staged.subjects_of.items():
        subjects_of[p] = subjects_of.get(p, 0) + count
    for s in spo.keys() & staged.spo.keys():
        facts, more = spo[s], staged.spo.pop(s)
        for p in facts.keys() & more.keys():
            subjects_of[p] -= 1
        put_all(facts, more)
    spo.update(staged.spo)
    for p, by_object in staged.pos.items():
        if p in graph.pos:
            put_all(graph.pos[p], by_object)
        else:
            graph.pos[p] = by_object
    put_all(graph.op, staged.op)
    for p, count in staged.sizes.items():
        sizes[p] = sizes.get(p, 0) + count
    return sum(staged.sizes.values())
