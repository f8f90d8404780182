"""One graph, indexed by exactly the shapes that look-ups need.

    spo  subject -> predicate -> objects     (s p o) (s p ?) (s ? o) (s ? ?)
    pos  predicate -> object -> subjects     (? p o) (? p ?)
    op   object -> predicates                (? ? o), by way of pos

Most leaves hold one term, so a leaf is that term itself, and a dict of terms only from the second on: a quarter of the
memory of a set, and replacing a value touches nothing but its slot. Emptied entries go at once, so a value
that is replaced for ever leaves nothing behind.
"""

from collections.abc import Iterable, Iterator
from typing import TypeAlias, TypeVar

from tidings.engine.store.spelling import Spellings
from tidings.model.terms import Term, Triple, intern, is_tagged

K = TypeVar("K")
Leaf: TypeAlias = str | dict[str, None]
Leaves: TypeAlias = dict[str, Leaf]


def put(leaves: dict[K, Leaf], key: K, value: str) -> bool:
    """Add a value under a key; whether it is new there."""
    leaf = leaves.get(key)
    if leaf is None:
        leaves[key] = value
    elif type(leaf) is str:
        if leaf == value:
            return False
        leaves[key] = {leaf: None, value: None}
    elif value in leaf:
        return False
    else:
        leaf[value] = None  # type: ignore[index]  # type() narrows str only one way
    return True


def drop(leaves: dict[K, Leaf], key: K, value: str) -> bool:
    """Take a value from under a key; whether it was there."""
    leaf = leaves.get(key)
    if leaf is None:
        return False
    if type(leaf) is str:
        if leaf != value:
            return False
        del leaves[key]
        return True
    if value not in leaf:
        return False
    del leaf[value]  # type: ignore[union-attr]
    if len(leaf) == 1:
        leaves[key] = next(iter(leaf))
    return True


def terms_of(leaf: Leaf | None) -> Iterable[Term]:
    if leaf is None:
        return ()
    return (leaf,) if type(leaf) is str else leaf


def width(leaf: Leaf | None) -> int:
    if leaf is None:
        return 0
    return 1 if type(leaf) is str else len(leaf)


class GraphIndex:
    """The triples of one graph. Everything it hands out is live: do not change the graph while reading on."""

    __slots__ = ("_spellings", "op", "pos", "sizes", "spo")

    def __init__(self, spellings: Spellings) -> None:
        self._spellings = spellings
        self.spo: dict[Term, Leaves] = {}
        self.pos: dict[Term, Leaves] = {}
        self.op: Leaves = {}
        self.sizes: dict[Term, int] = {}
        """Number of triples by predicate."""

    def __len__(self) -> int:
        return sum(self.sizes.values())

    # -- change -------------------------------------------------------------------------------------------------

    def add(self, s: Term, p: Term, o: Term) -> bool:
        """Add a triple; whether it is new."""
        if is_tagged(o):
            o = self._spellings.of(o)
        facts = self.spo.get(s)
        if facts is None:
            s, p, o = intern(s), intern(p), intern(o)
            self.spo[s] = {p: o}
        else:
            o = intern(o)
            if not put(facts, p, o):
                return False
        values = self.pos.get(p)
        if values is None:
            self.pos[p] = values = {}
            self.sizes[p] = 0
        if o not in values:
            values[o] = s
            put(self.op, o, p)
            if is_tagged(o):
                self._spellings.hold(o)
        else:
            put(values, o, s)
        self.sizes[p] += 1
        return True

    def remove(self, s: Term, p: Term, o: Term) -> bool:
        """Remove a triple; whether it was there."""
        if is_tagged(o):
            o = self._spellings.of(o)
        facts = self.spo.get(s)
        if facts is None or not drop(facts, p, o):
            return False
        if not facts:
            del self.spo[s]
        values = self.pos[p]
        drop(values, o, s)
        if o not in values:
            drop(self.op, o, p)
            if is_tagged(o):
                self._spellings.release(o)
        if values:
            self.sizes[p] -= 1
        else:
            del self.pos[p], self.sizes[p]
        return True

    # -- look-ups, one a shape ----------------------------------------------------------------------------------

    def holds(self, s: Term, p: Term, o: Term) -> bool:
        if is_tagged(o):
            o = self._spellings.of(o)
        facts = self.spo.get(s)
        if facts is None:
            return False
        leaf = facts.get(p)
        if leaf is None:
            return False
        return leaf == o if type(leaf) is str else o in leaf

    def objects(self, s: Term, p: Term) -> Iterable[Term]:
        facts = self.spo.get(s)
        if facts is None:
            return ()
        leaf = facts.get(p)
        if leaf is None:
            return ()
        return (leaf,) if type(leaf) is str else leaf

    def subjects(self, p: Term, o: Term) -> Iterable[Term]:
        if is_tagged(o):
            o = self._spellings.of(o)
        values = self.pos.get(p)
        if values is None:
            return ()
        leaf = values.get(o)
        if leaf is None:
            return ()
        return (leaf,) if type(leaf) is str else leaf

    def predicates(self, s: Term, o: Term) -> Iterator[Term]:
        if is_tagged(o):
            o = self._spellings.of(o)
        for p, leaf in self.spo.get(s, {}).items():
            if leaf == o if type(leaf) is str else o in leaf:
                yield p

    def facts(self, s: Term) -> Iterator[tuple[Term, Term]]:
        """Predicates and objects of a subject."""
        for p, leaf in self.spo.get(s, {}).items():
            for o in terms_of(leaf):
                yield p, o

    def uses(self, p: Term) -> Iterator[tuple[Term, Term]]:
        """Subjects and objects of a predicate."""
        for o, leaf in self.pos.get(p, {}).items():
            if type(leaf) is str:
                yield leaf, o
            else:
                for s in leaf:
                    yield s, o

    def mentions(self, o: Term) -> Iterator[tuple[Term, Term]]:
        """Subjects and predicates of an object."""
        if is_tagged(o):
            o = self._spellings.of(o)
        for p in terms_of(self.op.get(o)):
            for s in terms_of(self.pos[p][o]):
                yield s, p

    def triples(self) -> Iterator[Triple]:
        for s, facts in self.spo.items():
            for p, leaf in facts.items():
                for o in terms_of(leaf):
                    yield s, p, o

    def nodes(self) -> Iterator[Term]:
        """Every term that is a subject or an object, once."""
        yield from self.spo
        for o in self.op:
            if o not in self.spo:
                yield o

    # -- statistics ---------------------------------------------------------------------------------------------

    def count(self, s: Term | None, p: Term | None, o: Term | None) -> float:
        """How many triples match, exactly where it is known at once, else a fair guess."""
        if o is not None and is_tagged(o):
            o = self._spellings.of(o)
        if s is not None:
            facts = self.spo.get(s)
            if facts is None:
                return 0.0
            if p is None:
                return float(len(facts))
            return width(facts.get(p)) if o is None else float(self.holds(s, p, o))
        if p is not None:
            values = self.pos.get(p)
            if values is None:
                return 0.0
            return float(self.sizes[p]) if o is None else float(width(values.get(o)))
        return float(len(self)) if o is None else 4.0 * width(self.op.get(o))

    def fan_out(self, p: Term) -> tuple[float, float]:
        """Objects per subject (guessed at one and a half) and subjects per object of a predicate."""
        values = self.pos.get(p)
        return (1.5, self.sizes[p] / len(values)) if values else (0.0, 0.0)
