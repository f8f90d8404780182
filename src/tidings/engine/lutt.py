"""The LUTT (Look-Up Triples Table) finds the triple patterns that a quad matches, by a handful of hash look-ups.

The table is indexed by graph, then by predicate, then by which of subject and object the pattern fixes:

    graph name | prefix of names | any named graph  ->  predicate | any  ->  (? ?) (s ?) (? o) (s o)

The number of look-ups does not depend on the number of patterns. A hit need not change an answer, but no pattern that a
quad matches is missed.
"""

from collections.abc import Collection, Hashable
from typing import Generic, TypeAlias, TypeGuard, TypeVar

from tidings.engine.leaves import Leaf, drop_once, put_again, values_of
from tidings.model.access import Graphs
from tidings.model.terms import DEFAULT_GRAPH, Quad, Term, fold, is_tagged

T = TypeVar("T", bound=Hashable)

ANY_NAMED = None
"""Stands for every graph but the default graph."""

_MOST_PLACES = 4096
"""For how many pairs of a graph and a predicate the places are cached."""

Items: TypeAlias = list[tuple[Quad, int]]
"""Changed quads, each with its weight."""

Key: TypeAlias = tuple[Term | None, Term | None, Term | None, Term | None]
"""Subject, predicate, object and graph of a pattern, None where it has a variable. A graph that begins with `<` and
does not end with `>` is a prefix: it stands for all graphs whose names begin with it."""


def everything_in(readable: Graphs | None) -> list[Key]:
    """Patterns that together match every quad of the readable graphs; None stands for all graphs."""
    if readable is None:
        return [(None, None, None, DEFAULT_GRAPH), (None, None, None, ANY_NAMED)]
    graphs = (*readable.names, *(f"<{prefix}" for prefix in readable.prefixes))
    return [(None, None, None, graph) for graph in graphs]


class _Place(Generic[T]):
    """The entries for one predicate in one graph, with how often each was put."""

    __slots__ = ("any", "by_both", "by_object", "by_subject")

    def __init__(self) -> None:
        self.any: dict[T, int] = {}
        self.by_subject: dict[Term, Leaf[T]] = {}
        self.by_object: dict[Term, Leaf[T]] = {}
        self.by_both: dict[tuple[Term, Term], Leaf[T]] = {}

    def put(self, s: Term | None, o: Term | None, entry: T) -> None:
        if s is not None:
            if o is None:
                put_again(self.by_subject, s, entry)
            else:
                put_again(self.by_both, (s, o), entry)
        elif o is not None:
            put_again(self.by_object, o, entry)
        else:
            self.any[entry] = self.any.get(entry, 0) + 1

    def drop(self, s: Term | None, o: Term | None, entry: T) -> None:
        if s is not None:
            if o is None:
                drop_once(self.by_subject, s, entry)
            else:
                drop_once(self.by_both, (s, o), entry)
        elif o is not None:
            drop_once(self.by_object, o, entry)
        else:
            self.any[entry] -= 1
            if not self.any[entry]:
                del self.any[entry]

    def note(self, items: Items, found: dict[T, Items]) -> None:
        """Add quads of this predicate and graph to `found`, under every entry whose pattern they match."""
        for entry in self.any:
            if entry in found:
                found[entry] += items
            else:
                found[entry] = items.copy()
        if self.by_subject:
            get = self.by_subject.get
            for item in items:
                if (leaf := get(item[0][0])) is not None:
                    _note(leaf, item, found)
        if self.by_object:
            for item in items:
                if (leaf := self.by_object.get(_folded(item[0][2]))) is not None:
                    _note(leaf, item, found)
        if self.by_both:
            for item in items:
                s, _, o, _ = item[0]
                if (leaf := self.by_both.get((s, _folded(o)))) is not None:
                    _note(leaf, item, found)

    def __len__(self) -> int:
        return len(self.any) + len(self.by_subject) + len(self.by_object) + len(self.by_both)


def _note(leaf: Leaf[T], item: tuple[Quad, int], found: dict[T, Items]) -> None:
    for entry in values_of(leaf):
        found.setdefault(entry, []).append(item)


class Lutt(Generic[T]):
    """Entries by triple pattern."""

    __slots__ = ("_graphs", "_lengths", "_places", "hits", "lookups")

    def __init__(self) -> None:
        self._graphs: dict[Term | None, dict[Term | None, _Place[T]]] = {}
        self._lengths: dict[int, int] = {}
        """The lengths of the prefixes, with how many prefixes have each."""
        self._places: dict[tuple[Term, Term], tuple[_Place[T], ...]] = {}
        """Caches the places for a graph and a predicate, until a place is added. Removed places are empty."""
        self.lookups = 0
        """How many quads were looked up."""
        self.hits = 0
        """How many entries were found, each counted once for a commit."""

    def put(self, key: Key, entry: T) -> None:
        s, p, o, g = key
        level = self._graphs.get(g)
        if level is None:
            level = self._graphs[g] = {}
            if _is_prefix(g):
                self._lengths[len(g)] = self._lengths.get(len(g), 0) + 1
        place = level.get(p)
        if place is None:
            place = level[p] = _Place()
            self._places.clear()
        place.put(s, None if o is None else _folded(o), entry)

    def drop(self, key: Key, entry: T) -> None:
        s, p, o, g = key
        level = self._graphs[g]
        level[p].drop(s, None if o is None else _folded(o), entry)
        if not level[p]:
            del level[p]
        if not level:
            del self._graphs[g]
            if _is_prefix(g):
                self._lengths[len(g)] -= 1
                if not self._lengths[len(g)]:
                    del self._lengths[len(g)]

    def __len__(self) -> int:
        """How many keys there are; 0 if the table is empty."""
        return sum(len(place) for level in self._graphs.values() for place in level.values())

    def find(self, delta: Collection[tuple[Quad, int]]) -> dict[T, Items]:
        """Every entry whose pattern some quad matches, with these quads and their weights."""
        self.lookups += len(delta)
        alike: dict[tuple[Term, Term], Items] = {}
        items: Items = []
        last_p = last_g = None
        for item in delta:
            _, p, _, g = item[0]
            if p is not last_p or g is not last_g:  # most commits have one predicate
                items = alike.setdefault((g, p), [])
                last_p, last_g = p, g
            items.append(item)
        found: dict[T, Items] = {}
        known = self._places
        for key, items in alike.items():
            places = known.get(key)
            if places is None:
                places = self._noted(*key)
            for place in places:
                place.note(items, found)
        self.hits += len(found)
        return found

    def _noted(self, g: Term, p: Term) -> tuple[_Place[T], ...]:
        """Find all places for a predicate in a graph, and cache them."""
        levels: tuple[dict[Term | None, _Place[T]] | None, ...]
        levels = (self._graphs.get(g), self._graphs.get(ANY_NAMED) if g else None)
        if self._lengths:  # one look-up for each length, however many prefixes have it
            levels += tuple([self._graphs.get(g[:length]) for length in self._lengths if length < len(g)])
        there = [level.get(predicate) for level in levels if level is not None for predicate in (p, None)]
        if len(self._places) >= _MOST_PLACES:
            self._places.clear()
        places = self._places[g, p] = tuple([place for place in there if place is not None])
        return places


def _is_prefix(graph: Term | None) -> TypeGuard[Term]:
    return graph is not None and graph[:1] == "<" and graph[-1] != ">"


def _folded(o: Term) -> Term:
    """A term with its language tag in lower case: the case of tags makes no difference."""
    return fold(o) if is_tagged(o) else o
