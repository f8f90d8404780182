"""A store that is smaller than the graph: it keeps what is selected by patterns that somebody holds, and nothing else.

    store  =  { quad of the graph : some held pattern selects it }

By that, the answer of a subscription whose patterns are held is the same over the store as over the graph. Of a delta,
only the part that is selected concerns the store; for what concerns nobody, a look-up says so.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import product

from tidings.engine.lutt import ANY_NAMED, Key, Lutt
from tidings.engine.store.store import Store
from tidings.model.terms import DEFAULT_GRAPH, Quad, Term
from tidings.model.zset import ZSet
from tidings.sparql.evaluate.dataset import match
from tidings.sparql.values.compare import equals

PORTION = 1_000
"""Quads that are forgotten at once."""


class Contexts:
    """The patterns that are held, each as often as somebody holds it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lutt: Lutt[Key] = Lutt()
        self._holders: dict[Key, int] = {}
        self._incomplete: frozenset[Key] = frozenset()
        """Those that are held, and of which not everything is here yet."""
        self._watchers: list[dict[Quad, bool]] = []
        self.most: int | None = None
        """Quads that there is room for, if that is limited."""
        self.overfull: Callable[[], None] = _nothing
        """Called when a delta may have brought more than that; it must not change anything at once."""

    def __len__(self) -> int:
        return len(self._holders)

    def keys(self) -> list[Key]:
        """The patterns that are held, each once."""
        return list(self._holders)

    def covers(self, key: Key) -> bool:
        """Whether what a pattern selects is kept already."""
        return any(each in self._holders for each in _wider(key))

    def has(self, key: Key) -> bool:
        """Whether everything that a pattern selects is here."""
        return any(each in self._holders and each not in self._incomplete for each in _wider(key))

    @contextmanager
    def fetching(self, keys: Iterable[Key]) -> Iterator[None]:
        """While what these select is being fetched, of which one at a time is."""
        self._incomplete = frozenset(keys)
        try:
            yield
        finally:
            self._incomplete = frozenset()

    def hold(self, keys: Iterable[Key]) -> None:
        """From here on, changes of what these select are kept up with."""
        for key in keys:
            if key not in self._holders:
                self._lutt.put(key, key)
            self._holders[key] = self._holders.get(key, 0) + 1

    def release(self, keys: Iterable[Key]) -> list[Key]:
        """They are held once less; those that nobody holds any more, whose quads are to be forgotten."""
        left: list[Key] = []
        for key in keys:
            self._holders[key] -= 1
            if not self._holders[key]:
                del self._holders[key]
                self._lutt.drop(key, key)
                left.append(key)
        return left

    def selects(self, quad: Quad) -> bool:
        return bool(self._lutt.find(((quad, 1),)))

    def part(self, delta: ZSet[Quad]) -> ZSet[Quad]:
        """What of a delta of the graph is one of the store. Where the graph spells a literal otherwise than it was
        published, the store's own spelling is meant."""
        for states in self._watchers:
            states.update((quad, weight > 0) for quad, weight in delta.items())
        store, found = self._store, self._lutt.find(self._spelled(delta).items()).values()
        part = {quad: weight for items in found for quad, weight in items if (quad in store) == (weight < 0)}
        if self.most is not None and len(store) + len(part) > self.most:
            self.overfull()
        return ZSet.owning(part)

    def _spelled(self, delta: ZSet[Quad]) -> ZSet[Quad]:
        others = {quad: other for quad, weight in delta.items() if weight < 0 and (other := self._other(quad))}
        if not others:
            return delta
        return ZSet.owning({others.get(quad, quad): weight for quad, weight in delta.items()})

    def _other(self, quad: Quad) -> Quad | None:
        """The quad that the store has in place of this one: a literal of the same value."""
        s, p, o, g = quad
        graph = self._store.graph(g) if o[0] == '"' else None
        if graph is None or graph.holds(s, p, o):
            return None
        found = (each for each in graph.objects(s, p) if each[0] == '"' and equals(o, each) is True)
        return next(((s, p, each, g) for each in found), None)

    @contextmanager
    def watched(self, states: dict[Quad, bool]) -> Iterator[None]:
        """Have all changes of the graph noted, whoever they concern: which quads are there, and which are not."""
        self._watchers.append(states)
        try:
            yield
        finally:
            self._watchers.remove(states)

    def size(self, key: Key) -> float:
        """About how many quads a pattern selects."""
        s, p, o, g = key
        graphs = map(self._store.graph, _graphs(self._store, g))
        return sum(graph.count(s, p, o) for graph in graphs if graph is not None)

    # -- what is kept -----------------------------------------------------------------------------------------------

    def learn(self, quads: Iterable[Quad]) -> None:
        """Take in quads that were there all along: they concern nobody who is here already."""
        for s, p, o, g in quads:
            self._store.add(s, p, o, g)

    def forget(self, keys: Iterable[Key]) -> Iterator[int]:
        """Let go of what these selected and nothing else does, in portions: how many quads that were."""
        for key in keys:
            unseen = [quad for quad in matching(self._store, key) if not self.selects(quad)]
            for start in range(0, len(unseen), PORTION):
                for s, p, o, g in unseen[start : start + PORTION]:
                    self._store.remove(s, p, o, g)
                yield min(PORTION, len(unseen) - start)


def _nothing() -> None:
    pass


def _wider(key: Key) -> Iterator[Key]:
    """The patterns that select all that a pattern does: that one, and those that leave more open."""
    s, p, o, g = key
    graphs = (g, ANY_NAMED) if g != DEFAULT_GRAPH else (g,)
    subjects, predicates, objects = ((each, None) if each is not None else (None,) for each in (s, p, o))
    return product(subjects, predicates, objects, graphs)


def matching(store: Store, key: Key) -> Iterator[Quad]:
    """The quads of a store that a pattern selects."""
    s, p, o, g = key
    for name in _graphs(store, g):
        graph = store.graph(name)
        if graph is not None:
            yield from ((s_, p_, o_, name) for s_, p_, o_ in match(graph, s, p, o))


def _graphs(store: Store, graph: Term | None) -> Iterable[Term]:
    if graph is ANY_NAMED:
        return list(store.named)
    if graph and graph[-1] != ">":
        return [name for name in store.named if name.startswith(graph)]
    return (graph,)
