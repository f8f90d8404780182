"""The LUTT: which triple patterns of which plans does a quad match? A handful of hash look-ups, however many there are.

Patterns are filed by their constants under one table a shape (which of subject, predicate, object and graph are
fixed). It may over-report, as a hit need not change an answer; it never misses.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from operator import itemgetter
from typing import Generic, TypeAlias, TypeVar

from tidings.model.terms import Quad, Term, fold, is_tagged

T = TypeVar("T")
K = TypeVar("K", bound="Key | Quad")

ANY_NAMED = None
"""In the place of a graph's name: every graph but the default one."""

Key = tuple[Term | None, Term | None, Term | None, Term | None]


_Finder: TypeAlias = tuple[
    Callable[[Sequence[str | None]], object], Callable[[object], "dict[T, int] | T | None"], bool
]


class _Table(Generic[T]):
    """The entries of one shape: which of the four places are fixed."""

    __slots__ = ("entries", "named_only", "pick")

    def __init__(self, places: tuple[int, ...]) -> None:
        self.pick: Callable[[Sequence[str | None]], object] = itemgetter(*places) if places else lambda _: None
        self.named_only = 3 not in places
        self.entries: dict[object, dict[T, int] | T] = {}


class Lutt(Generic[T]):
    """Entries by triple pattern, each as often as it was put."""

    __slots__ = ("_finders", "_tables", "hits", "lookups")

    def __init__(self) -> None:
        self._tables: dict[tuple[int, ...], _Table[T]] = {}
        self._finders: list[_Finder[T]] = []
        self.lookups = 0
        self.hits = 0

    def put(self, key: Key, entry: T) -> None:
        places = _places(key)
        table = self._tables.get(places)
        if table is None:
            table = self._tables[places] = _Table(places)
            self._finders = self._ready()
        entries, found = table.entries, table.pick(_folded(key))
        leaf = entries.get(found)
        if leaf is None:
            entries[found] = entry
        elif isinstance(leaf, dict):
            leaf[entry] = leaf.get(entry, 0) + 1
        else:
            counts = {leaf: 1}
            counts[entry] = counts.get(entry, 0) + 1
            entries[found] = counts

    def drop(self, key: Key, entry: T) -> None:
        places = _places(key)
        table = self._tables[places]
        entries, found = table.entries, table.pick(_folded(key))
        leaf = entries[found]
        if not isinstance(leaf, dict):
            del entries[found]
        else:
            leaf[entry] -= 1
            if not leaf[entry]:
                del leaf[entry]
            if not leaf:
                del entries[found]
        if not entries:
            del self._tables[places]
            self._finders = self._ready()

    def _ready(self) -> "list[_Finder[T]]":
        return [(table.pick, table.entries.get, table.named_only) for table in self._tables.values()]

    def __len__(self) -> int:
        return sum(len(table.entries) for table in self._tables.values())

    def find(self, delta: Collection[tuple[Quad, int]]) -> dict[T, list[tuple[Quad, int]]]:
        """Every entry whose pattern a quad matches, with the quads that do, and their weights."""
        found: dict[T, list[tuple[Quad, int]]] = {}
        finders = self._finders
        self.lookups += len(delta) * len(finders)
        for item in delta:
            quad = item[0]
            o = quad[2]
            if o[-1] not in '">' and is_tagged(o):
                quad = _folded(quad)
            for pick, get, named_only in finders:
                leaf = get(pick(quad))
                if leaf is None or (named_only and not quad[3]):
                    continue  # a variable graph is never the default one
                entries: Iterable[T] = leaf if isinstance(leaf, dict) else (leaf,)
                for entry in entries:
                    if entry in found:
                        found[entry].append(item)
                    else:
                        found[entry] = [item]
        self.hits += len(found)
        return found


def _places(key: Key) -> tuple[int, ...]:
    """Which places of a pattern are fixed; for a variable graph the fourth is not."""
    return tuple([place for place, term in enumerate(key) if term is not None])


def _folded(key: K) -> K:
    """Language tags match whatever their case."""
    s, p, o, g = key
    return (s, p, fold(o), g) if o is not None and is_tagged(o) else key  # type: ignore[return-value]
