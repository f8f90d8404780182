"""A view of the store before its last delta, without a copy of it:  before = now - added + removed.

Incremental rules need both states: Δ(A ⋈ B) = ΔA ⋈ B' + A ⋈ ΔB, with A before and B' after the change. A look-up that
the delta does not touch goes straight to the store.
"""

from collections.abc import Iterable, Iterator

from tidings.engine.store.graph import GraphIndex
from tidings.engine.store.store import Store
from tidings.model.terms import Quad, Term, Triple, fold, is_tagged
from tidings.model.zset import ZSet
from tidings.sparql.evaluate.dataset import NOTHING, TripleSource, match

_FEW = 8
"""With fewer removed triples than this, scanning all of them is as quick as an index."""


class Before:
    """A quad source that shows the store before its last change."""

    __slots__ = ("_delta", "_forgotten", "_graphs", "_names", "_store")

    def __init__(self, store: Store) -> None:
        self._store = store
        self._delta: ZSet[Quad] = ZSet()
        self._graphs: dict[Term, GraphBefore] | None = {}
        self._names: list[Term] | None = None
        self._forgotten: dict[Term, Term] | None = {}

    def begin(self, delta: ZSet[Quad]) -> None:
        """The store has just been changed by this delta."""
        self._names = self._forgotten = None
        self._delta = delta
        self._graphs = None  # worked out when a look-up needs it

    def _changed(self) -> "dict[Term, GraphBefore]":
        if self._graphs is not None:
            return self._graphs
        graphs: dict[Term, tuple[set[Triple], list[Triple]]] = {}
        for (s, p, o, g), weight in self._delta.items():
            added, removed = graphs.get(g) or graphs.setdefault(g, (set(), []))
            if weight > 0:
                added.add((s, p, o))
            else:
                removed.append((s, p, o))
        self._graphs = {g: GraphBefore(self._store, self._store.graph(g), *change) for g, change in graphs.items()}
        return self._graphs

    def graph(self, name: Term) -> TripleSource | None:
        changed = self._changed().get(name)
        if changed is None:
            return self._store.graph(name)
        return changed if changed.exists() or not name else None

    def spelling(self, term: Term) -> Term | None:
        """The spelling in use before; if the delta removed its last quad, the store has forgotten it."""
        if self._forgotten is None:
            gone = (o for (_, _, o, _), weight in self._delta.items() if weight < 0 and is_tagged(o))
            self._forgotten = {fold(o): o for o in gone}
        return self._store.spelling(term) or self._forgotten.get(fold(term))

    def names(self) -> Iterable[Term]:
        if self._names is None:
            gone = [g for g in self._changed() if g and g not in self._store.named]
            self._names = [g for g in (*self._store.names(), *gone) if self.graph(g) is not None]
        return self._names

    def graphs_with(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Term]:
        return dict.fromkeys((*self._store.graphs_with(s, p, o), *(g for g in self._changed() if g)))


class GraphBefore:
    """One changed graph before its change."""

    __slots__ = ("_added", "_index", "_now", "_objects", "_predicates", "_removed", "_store", "_subjects")

    def __init__(self, store: Store, now: GraphIndex | None, added: set[Triple], removed: list[Triple]) -> None:
        self._store = store
        self._now: TripleSource = NOTHING if now is None else now
        self._added = added
        self._removed = removed
        self._index: dict[tuple[int, Term], list[Triple]] | None = None
        changed = (*added, *removed)
        self._subjects = {s for s, _, _ in changed}
        self._predicates = {p for _, p, _ in changed}
        self._objects = {o for _, _, o in changed}

    def exists(self) -> bool:
        return bool(self._removed) or next(iter(self.triples()), None) is not None

    def _matches(self, s: Term | None, p: Term | None, o: Term | None) -> Iterator[Triple]:
        added = self._added
        tag = None
        if o is not None and is_tagged(o):
            tag = fold(o)
            o = self._store.spelling(o) or o  # to compare with added triples, which have the store's spelling
        for triple in match(self._now, s, p, o):
            if triple not in added:
                yield triple
        for triple in self._gone(s, p, None if tag is not None else o):
            if s in {None, triple[0]} and p in {None, triple[1]}:
                other = triple[2]
                if o is None or o == other or (tag is not None and is_tagged(other) and fold(other) == tag):
                    yield triple

    def _gone(self, s: Term | None, p: Term | None, o: Term | None) -> list[Triple]:
        """The removed triples that may match: if they are few, all of them; otherwise those with one term in common."""
        if len(self._removed) < _FEW:
            return self._removed
        if self._index is None:
            self._index = {}
            for triple in self._removed:
                for key in enumerate(triple):
                    self._index.setdefault(key, []).append(triple)
        for place, term in ((0, s), (2, o), (1, p)):
            if term is not None:
                return self._index.get((place, term), [])
        return self._removed

    def holds(self, s: Term, p: Term, o: Term) -> bool:
        if s not in self._subjects:
            return self._now.holds(s, p, o)
        return next(self._matches(s, p, o), None) is not None

    def objects(self, s: Term, p: Term) -> Iterable[Term]:
        if s not in self._subjects or p not in self._predicates:
            return self._now.objects(s, p)
        return [o for _, _, o in self._matches(s, p, None)]

    def subjects(self, p: Term, o: Term) -> Iterable[Term]:
        if (o not in self._objects or p not in self._predicates) and not is_tagged(o):
            return self._now.subjects(p, o)
        return [s for s, _, _ in self._matches(None, p, o)]

    def predicates(self, s: Term, o: Term) -> Iterable[Term]:
        return [p for _, p, _ in self._matches(s, None, o)]

    def facts(self, s: Term) -> Iterable[tuple[Term, Term]]:
        if s not in self._subjects:
            return self._now.facts(s)
        return [(p, o) for _, p, o in self._matches(s, None, None)]

    def uses(self, p: Term) -> Iterable[tuple[Term, Term]]:
        if p not in self._predicates:
            return self._now.uses(p)
        return ((s, o) for s, _, o in self._matches(None, p, None))

    def mentions(self, o: Term) -> Iterable[tuple[Term, Term]]:
        if o not in self._objects and not is_tagged(o):
            return self._now.mentions(o)
        return [(s, p) for s, p, _ in self._matches(None, None, o)]

    def triples(self) -> Iterable[Triple]:
        return self._matches(None, None, None)

    def nodes(self) -> Iterable[Term]:
        return dict.fromkeys(node for s, _, o in self.triples() for node in (s, o))

    def count(self, s: Term | None, p: Term | None, o: Term | None) -> float:
        return self._now.count(s, p, o)

    def fan_out(self, p: Term) -> tuple[float, float]:
        return self._now.fan_out(p)
