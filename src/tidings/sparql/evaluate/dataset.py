"""The graphs that a request sees: those that its dataset selects from the store (section 13)."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from tidings.model.terms import DEFAULT_GRAPH, Term, Triple
from tidings.sparql.algebra import Dataset


class TripleSource(Protocol):
    """A graph to look triples up in, with one method for each shape of triple pattern."""

    def holds(self, s: Term, p: Term, o: Term) -> bool: ...
    def objects(self, s: Term, p: Term) -> Iterable[Term]: ...
    def subjects(self, p: Term, o: Term) -> Iterable[Term]: ...
    def predicates(self, s: Term, o: Term) -> Iterable[Term]: ...
    def facts(self, s: Term) -> Iterable[tuple[Term, Term]]: ...
    def uses(self, p: Term) -> Iterable[tuple[Term, Term]]: ...
    def mentions(self, o: Term) -> Iterable[tuple[Term, Term]]: ...
    def triples(self) -> Iterable[Triple]: ...
    def nodes(self) -> Iterable[Term]: ...
    def count(self, s: Term | None, p: Term | None, o: Term | None) -> float: ...
    def fan_out(self, p: Term) -> tuple[float, float]: ...


class QuadSource(Protocol):
    """A store of graphs."""

    def graph(self, name: Term) -> TripleSource | None: ...
    def names(self) -> Iterable[Term]: ...
    def graphs_with(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Term]: ...
    def spelling(self, term: Term) -> Term | None: ...


def match(source: TripleSource, s: Term | None, p: Term | None, o: Term | None) -> Iterator[Triple]:
    """All triples of a source that agree with the terms given."""
    if s is not None:
        if p is not None:
            if o is not None:
                return iter([(s, p, o)] if source.holds(s, p, o) else ())
            return ((s, p, found) for found in source.objects(s, p))
        if o is not None:
            return ((s, found, o) for found in source.predicates(s, o))
        return ((s, p_, o_) for p_, o_ in source.facts(s))
    if p is not None:
        if o is not None:
            return ((found, p, o) for found in source.subjects(p, o))
        return ((s_, p, o_) for s_, o_ in source.uses(p))
    if o is not None:
        return ((s_, p_, o) for s_, p_ in source.mentions(o))
    return iter(source.triples())


class Merged:
    """The merge of several graphs: each triple once, even if several graphs hold it."""

    __slots__ = ("_parts",)

    def __init__(self, parts: Iterable[TripleSource]) -> None:
        self._parts = tuple(parts)

    def holds(self, s: Term, p: Term, o: Term) -> bool:
        return any(part.holds(s, p, o) for part in self._parts)

    def objects(self, s: Term, p: Term) -> Iterable[Term]:
        return dict.fromkeys(o for part in self._parts for o in part.objects(s, p))

    def subjects(self, p: Term, o: Term) -> Iterable[Term]:
        return dict.fromkeys(s for part in self._parts for s in part.subjects(p, o))

    def predicates(self, s: Term, o: Term) -> Iterable[Term]:
        return dict.fromkeys(p for part in self._parts for p in part.predicates(s, o))

    def facts(self, s: Term) -> Iterable[tuple[Term, Term]]:
        return dict.fromkeys(pair for part in self._parts for pair in part.facts(s))

    def uses(self, p: Term) -> Iterable[tuple[Term, Term]]:
        return dict.fromkeys(pair for part in self._parts for pair in part.uses(p))

    def mentions(self, o: Term) -> Iterable[tuple[Term, Term]]:
        return dict.fromkeys(pair for part in self._parts for pair in part.mentions(o))

    def triples(self) -> Iterable[Triple]:
        return dict.fromkeys(triple for part in self._parts for triple in part.triples())

    def nodes(self) -> Iterable[Term]:
        return dict.fromkeys(node for part in self._parts for node in part.nodes())

    def count(self, s: Term | None, p: Term | None, o: Term | None) -> float:
        return sum(part.count(s, p, o) for part in self._parts)

    def fan_out(self, p: Term) -> tuple[float, float]:
        pairs = [part.fan_out(p) for part in self._parts]
        return sum(a for a, _ in pairs), sum(b for _, b in pairs)


NOTHING = Merged(())


class View:
    """A store as seen through a dataset. Graphs are looked up anew each time, so a view outlives updates."""

    __slots__ = ("_default", "_named", "_readable", "_store")

    def __init__(self, store: QuadSource, dataset: Dataset) -> None:
        self._store = store
        self._default = dataset.default
        self._named = None if dataset.named is None else dict.fromkeys(dataset.named)
        self._readable = dataset.readable

    def _sees(self, name: Term) -> bool:
        """Whether the dataset includes a named graph of this name, existing or not."""
        if self._named is not None:
            return name in self._named
        return self._readable is None or self._readable.has(name)

    def default(self) -> TripleSource:
        names = self._default
        if names is None or len(names) == 1:
            graph = self._store.graph(DEFAULT_GRAPH if names is None else names[0])
            return NOTHING if graph is None else graph
        return Merged(graph for name in names if (graph := self._store.graph(name)) is not None)

    def named(self, name: Term) -> TripleSource:
        """A named graph of the dataset; an empty graph if the dataset does not include it."""
        if self._named is not None:
            if name not in self._named:
                return NOTHING
        elif self._readable is not None and not self._readable.has(name):
            return NOTHING
        graph = self._store.graph(name) if name else None
        return NOTHING if graph is None else graph

    def spelling(self, term: Term) -> Term | None:
        """A language-tagged literal as the store spells it; None if no graph that the sender may read holds it."""
        found = self._store.spelling(term)
        if found is None or self._readable is None:
            return found
        graphs = [name for name in self._store.graphs_with(None, None, found) if self._readable.has(name)]
        if self._readable.has(DEFAULT_GRAPH):
            graphs.append(DEFAULT_GRAPH)
        sources = (graph for name in graphs if (graph := self._store.graph(name)) is not None)
        return found if any(True for graph in sources for _ in graph.mentions(found)) else None

    def has(self, name: Term) -> bool:
        """Whether the dataset includes a named graph, and the store has it."""
        return self._sees(name) and self._store.graph(name) is not None

    def names(self) -> list[Term]:
        """The named graphs of the dataset that hold anything."""
        if self._named is None:
            names = self._store.names()
            return list(names) if self._readable is None else [name for name in names if self._readable.has(name)]
        return [name for name in self._named if self._store.graph(name) is not None]

    def graphs_with(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Term]:
        """Named graphs of the dataset that may hold a matching triple."""
        if self._named is None and self._readable is None:
            return self._store.graphs_with(s, p, o)
        if self._named is not None and len(self._named) < 8:
            return self.names()
        return [name for name in self._store.graphs_with(s, p, o) if self._sees(name)]
