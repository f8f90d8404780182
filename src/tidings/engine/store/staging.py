"""A large delta, made ready to be applied: what it adds is indexed aside, a portion at a time, and then taken over.

To add a quad takes some microseconds, and all quads of a delta are added in one go, or others would see a half of it.
Indexes that were made aside are taken over key by key where nothing is under a key yet, at the speed of `dict.update`.
"""

from collections.abc import Iterator

from tidings.engine.leaves import put_all
from tidings.engine.store.graph import GraphIndex
from tidings.engine.store.spelling import Spellings
from tidings.model.terms import Quad, Term, is_tagged
from tidings.model.zset import ZSet

LARGE = 4_096
"""Quads of a delta that is worth it."""

PORTION = 1_000
"""Quads indexed at a step: to do that must not hold anybody up."""


class Staged:
    """What a delta adds, by graph, in indexes of their own; language-tagged literals are left out, as their spelling is
    that of the store."""

    __slots__ = ("delta", "graphs", "rest")

    def __init__(self, delta: ZSet[Quad]) -> None:
        self.delta = delta
        self.graphs: dict[Term, GraphIndex] = {}
        self.rest: list[Quad] = []
        """What has to be added quad by quad."""

    def portions(self) -> Iterator[None]:
        """Index everything, a portion at each step."""
        spellings = Spellings()
        for number, (quad, weight) in enumerate(self.delta.items()):
            if number % PORTION == 0:
                yield
            s, p, o, g = quad
            if weight < 0:
                continue
            if is_tagged(o):
                self.rest.append(quad)
                continue
            graph = self.graphs.get(g)
            if graph is None:
                graph = self.graphs[g] = GraphIndex(spellings)
            graph.add(s, p, o)


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
