"""The quad store: graphs by name, and an index of the named graphs in which a term occurs.

A graph exists while it has a triple. So the state of the store is exactly the set of its quads, which is the sum of all
committed deltas.
"""

from collections.abc import Iterable, Iterator

from tidings.engine.leaves import drop, put, put_all, size_of, values_of
from tidings.engine.store.graph import GraphIndex, Leaves
from tidings.engine.store.spelling import Spellings
from tidings.engine.store.staging import LARGE, Staged, take_over
from tidings.model.terms import DEFAULT_GRAPH, Quad, Term, fold, is_tagged
from tidings.model.zset import ZSet


class Store:
    """All quads of the knowledge graph, in memory."""

    __slots__ = ("_by_object", "_by_predicate", "_by_subject", "_spellings", "_staged", "default", "named", "size")

    def __init__(self, quads: Iterable[Quad] = ()) -> None:
        self._spellings = Spellings()
        self.default = GraphIndex(self._spellings)
        self.named: dict[Term, GraphIndex] = {}
        self.size = 0
        # The named graphs in which a term occurs: GRAPH ?g { :lamp :status ?x } must not look into every graph.
        self._by_subject: Leaves = {}
        self._by_predicate: Leaves = {}
        self._by_object: Leaves = {}
        self._staged: Staged | None = None
        for s, p, o, g in quads:
            self.add(s, p, o, g)

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Quad]:
        for triple in self.default.triples():
            yield (*triple, DEFAULT_GRAPH)
        for name, graph in self.named.items():
            for triple in graph.triples():
                yield (*triple, name)

    def __contains__(self, quad: Quad) -> bool:
        s, p, o, g = quad
        graph = self.named.get(g) if g else self.default
        return graph is not None and graph.holds(s, p, o)

    # -- change -------------------------------------------------------------------------------------------------

    def add(self, s: Term, p: Term, o: Term, g: Term = DEFAULT_GRAPH) -> bool:
        """Add a quad. Returns whether it is new."""
        self._staged = None
        if not g:
            new = self.default.add(s, p, o)
            self.size += new
            return new
        if is_tagged(o):
            o = self._spellings.of(o)
        graph = self.named.get(g)
        if graph is None:
            graph = self.named[g] = GraphIndex(self._spellings)
        if not graph.add(s, p, o):
            return False
        put(self._by_subject, s, g)
        put(self._by_predicate, p, g)
        put(self._by_object, o, g)
        self.size += 1
        return True

    def remove(self, s: Term, p: Term, o: Term, g: Term = DEFAULT_GRAPH) -> bool:
        """Remove a quad. Returns whether it was there."""
        self._staged = None
        if not g:
            there = self.default.remove(s, p, o)
            self.size -= there
            return there
        if is_tagged(o):
            o = self._spellings.of(o)
        graph = self.named.get(g)
        if graph is None or not graph.remove(s, p, o):
            return False
        if s not in graph.spo:
            drop(self._by_subject, s, g)
        if p not in graph.pos:
            drop(self._by_predicate, p, g)
        if o not in graph.op:
            drop(self._by_object, o, g)
        if not graph.spo:
            del self.named[g]
        self.size -= 1
        return True

    def apply(self, delta: ZSet[Quad]) -> None:
        """Remove, then add. The delta must be exact: the store has every removed quad, and no added one."""
        staged, self._staged = self._staged, None
        if staged is not None and staged.is_ready and staged.delta is delta:
            self._apply_staged(staged)
            return
        for (s, p, o, g), weight in delta.items():
            if weight < 0:
                self.remove(s, p, o, g)
        for (s, p, o, g), weight in delta.items():
            if weight > 0:
                self.add(s, p, o, g)

    def stage(self, delta: ZSet[Quad], large: int = LARGE) -> Iterator[None]:
        """Prepare a delta of more than `large` quads for `apply`, a portion at each step. The store does not change; if
        something else changes it before `apply`, the preparation is void."""
        yield
        if len(delta) > large:
            staged = self._staged = Staged(delta)
            for _ in staged.portions(self.graph, (self._by_subject, self._by_predicate, self._by_object)):
                yield
                if self._staged is not staged:
                    return

    def _apply_staged(self, staged: Staged) -> None:
        for name, removal in staged.removed.items():
            self.size -= removal.carry_out()
            if name and not self.named[name].spo:
                del self.named[name]
        for here, loss in zip((self._by_subject, self._by_predicate, self._by_object), staged.mentions, strict=True):
            loss.carry_out(here)
        for quad, weight in staged.rest:
            if weight < 0:
                self.remove(*quad)
        for name, index in staged.added.items():
            self._take_over(name, index)
        for quad, weight in staged.rest:
            if weight > 0:
                self.add(*quad)

    def _take_over(self, name: Term, index: GraphIndex) -> None:
        if not name:
            self.size += take_over(self.default, index)
            return
        graph = self.named.setdefault(name, GraphIndex(self._spellings))
        for here, known, new in (
            (self._by_subject, graph.spo, index.spo),
            (self._by_predicate, graph.pos, index.pos),
            (self._by_object, graph.op, index.op),
        ):
            put_all(here, dict.fromkeys(new.keys() - known.keys(), name))
        self.size += take_over(graph, index)

    def spelled(self, quads: Iterable[Quad]) -> dict[Quad, None]:
        """The quads, each once, with language-tagged literals as the store spells them or would from now on."""
        result: dict[Quad, None] = {}
        new: dict[Term, Term] = {}
        for quad in quads:
            o = quad[2]
            if o[-1] in '">' or not is_tagged(o):  # the first test decides mostly, in a third of the time of the call
                result[quad] = None
            else:
                s, p, _, g = quad
                result[s, p, new.setdefault(fold(o), self._spellings.of(o)), g] = None
        return result

    def spelling(self, term: Term) -> Term | None:
        """A language-tagged literal as the store spells it; None if the store does not have it."""
        return self._spellings.known(term)

    # -- look-ups -----------------------------------------------------------------------------------------------

    def graph(self, name: Term) -> GraphIndex | None:
        """A graph by its name, the default graph by the empty name; None if there is no such graph."""
        return self.named.get(name) if name else self.default

    def names(self) -> Iterable[Term]:
        """The named graphs."""
        return self.named

    def graphs_with(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Term]:
        """Named graphs that may have a matching triple: all that do, and perhaps others."""
        leaves = []
        if s is not None:
            leaves.append(self._by_subject.get(s))
        if o is not None:
            leaves.append(self._by_object.get(self._spellings.of(o) if is_tagged(o) else o))
        if p is not None:
            leaves.append(self._by_predicate.get(p))
        return values_of(min(leaves, key=size_of)) if leaves else self.named
