"""A large delta, made ready to be applied: its quads are indexed aside, a portion at a time, and then taken over.

To add a quad or to remove one takes some microseconds, and a delta is applied in one go, or others would see a half of
it. Indexes that were made aside are taken over key by key where nothing is under a key yet, at the speed of
`dict.update`; `removal.py` says how keys go. Language-tagged literals have the spelling of the store: they are left to
be added and removed quad by quad.
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
"""Quads of a delta that is worth it."""

PORTION = 1_000
"""Quads indexed at a step: to do that must not hold anybody up."""


class Staged:
    """What a delta adds, by graph, in indexes of their own; and what it removes."""

    __slots__ = ("_gone", "added", "delta", "is_ready", "mentions", "removed", "rest")

    def __init__(self, delta: ZSet[Quad]) -> None:
        self.delta = delta
        self.added: dict[Term, GraphIndex] = {}
        self._gone: dict[Term, GraphIndex] = {}
        self.removed: dict[Term, GraphRemoval] = {}
        self.mentions = Loss(), Loss(), Loss()
        """Which named graphs no longer say anything about a subject, a predicate, an object."""
        self.rest: list[tuple[Quad, int]] = []
        """What has to be changed quad by quad, after everything else is removed."""
        self.is_ready = False

    def portions(self, graph_of: Callable[[Term], GraphIndex | None], mentions: Mentions) -> Iterator[None]:
        """Index everything, a portion at each step; the store must stay as it is until this is applied."""
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
    """Add the triples of another index, none of which is there; how many. The other one is of no use afterwards."""
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
