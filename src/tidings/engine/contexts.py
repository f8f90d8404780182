"""Keeps a store that is smaller than the graph: it has the quads that subscriptions need, selected by held patterns.

    store  =  { quad of the graph : some held pattern selects it }

If the patterns of a subscription are held, its answer over the store is the same as over the graph. Only the selected
part of a delta is applied to the store; a look-up in a LUTT finds it.
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
"""How many quads are removed from the store at once."""


class Contexts:
    """The held patterns, with how many holders each has."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lutt: Lutt[Key] = Lutt()
        self._holders: dict[Key, int] = {}
        self._incomplete: frozenset[Key] = frozenset()
        """Held patterns whose quads are still being fetched."""
        self._watchers: list[dict[Quad, bool]] = []
        self.most: int | None = None
        """How many quads the store may have; None is no limit."""
        self.overfull: Callable[[], None] = _nothing
        """Called when a delta may exceed this limit. It must not change the store itself, only schedule that."""

    def __len__(self) -> int:
        return len(self._holders)

    def keys(self) -> list[Key]:
        """The held patterns, each once."""
        return list(self._holders)

    def covers(self, key: Key) -> bool:
        """Whether a held pattern selects everything that this pattern does."""
        return any(each in self._holders for each in _wider(key))

    def has(self, key: Key) -> bool:
        """Whether the store has everything that a pattern selects."""
        return any(each in self._holders and each not in self._incomplete for each in _wider(key))

    @contextmanager
    def fetching(self, keys: Iterable[Key]) -> Iterator[None]:
        """Within this context, the quads of these patterns are being fetched. There is one such context at a time."""
        self._incomplete = frozenset(keys)
        try:
            yield
        finally:
            self._incomplete = frozenset()

    def hold(self, keys: Iterable[Key]) -> None:
        """Hold these patterns: from here on, the store gets the changes that they select."""
        for key in keys:
            if key not in self._holders:
                self._lutt.put(key, key)
            self._holders[key] = self._holders.get(key, 0) + 1

    def release(self, keys: Iterable[Key]) -> list[Key]:
        """Release these patterns once. Returns those without a holder: their quads are to be forgotten."""
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
        """The part of a graph's delta that changes the store. If the graph spells a literal otherwise than its
        publisher did, the part has the spelling of the store."""
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
        """Within this context, note all changes of the graph in `states`: whether each changed quad is there now."""
        self._watchers.append(states)
        try:
            yield
        finally:
            self._watchers.remove(states)

    def size(self, key: Key) -> float:
        """An estimate of how many quads a pattern selects."""
        s, p, o, g = key
        graphs = map(self._store.graph, _graphs(self._store, g))
        return sum(graph.count(s, p, o) for graph in graphs if graph is not None)

    # -- the store --------------------------------------------------------------------------------------------------

    def learn(self, quads: Iterable[Quad]) -> None:
        """Add quads that the graph has had all along. They change no answer of the present subscriptions."""
        for s, p, o, g in quads:
            self._store.add(s, p, o, g)

    def forget(self, keys: Iterable[Key]) -> Iterator[int]:
        """Remove the quads that only these patterns selected, in portions. Yields the size of each portion."""
        for key in keys:
            unseen = [quad for quad in matching(self._store, key) if not self.selects(quad)]
            for start in range(0, len(unseen), PORTION):
                for s, p, o, g in unseen[start : start + PORTION]:
                    self._store.remove(s, p, o, g)
                yield min(PORTION, len(unseen) - start)


def _nothing() -> None:
    pass


def _wider(key: Key) -> Iterator[Key]:
    """The patterns that select everything that a pattern does: itself, and those with more variables."""
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
