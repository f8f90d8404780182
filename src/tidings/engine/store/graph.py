"""One graph, indexed for exactly the shapes of look-ups.

    spo  subject -> predicate -> objects     (s p o) (s p ?) (s ? o) (s ? ?)
    pos  predicate -> object -> subjects     (? p o) (? p ?)
    op   object -> predicates                (? ? o), by way of pos

The leaves of all three are those of `engine.leaves`: mostly one term, which stands for itself. Empty entries are
deleted at once, so a value that is replaced again and again leaves nothing behind.
"""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from tidings.engine.leaves import Leaf, drop, put, size_of, values_of
from tidings.engine.store.spelling import Spellings
from tidings.model.terms import Term, Triple, intern, is_tagged

Leaves: TypeAlias = dict[Term, Leaf[Term]]


class GraphIndex:
    """The triples of one graph. Look-ups return live views: do not change the graph while reading one."""

    __slots__ = ("_spellings", "op", "pos", "sizes", "spo", "subjects_of")

    def __init__(self, spellings: Spellings) -> None:
        self._spellings = spellings
        self.spo: dict[Term, Leaves] = {}
        self.pos: dict[Term, Leaves] = {}
        self.op: Leaves = {}
        self.sizes: dict[Term, int] = {}
        """Number of triples by predicate."""
        self.subjects_of: dict[Term, int] = {}
        """Number of subjects by predicate."""

    def __len__(self) -> int:
        return sum(self.sizes.values())

    # -- change -------------------------------------------------------------------------------------------------

    def add(self, s: Term, p: Term, o: Term) -> bool:
        """Add a triple. Returns whether it is new."""
        if o[-1] not in '">' and is_tagged(o):
            o = self._spellings.of(o)
        facts = self.spo.get(s)
        if facts is None:
            s, p, o = intern(s), intern(p), intern(o)
            self.spo[s] = {p: o}
            self.subjects_of[p] = self.subjects_of.get(p, 0) + 1
        else:
            o = intern(o)
            if p not in facts:
                facts[p] = o
                self.subjects_of[p] = self.subjects_of.get(p, 0) + 1
            elif not put(facts, p, o):
                return False
        by_object = self.pos.get(p)
        if by_object is None:
            self.pos[p] = by_object = {}
            self.sizes[p] = 0
        if o not in by_object:
            by_object[o] = s
            put(self.op, o, p)
            if is_tagged(o):
                self._spellings.hold(o)
        else:
            put(by_object, o, s)
        self.sizes[p] += 1
        return True

    def remove(self, s: Term, p: Term, o: Term) -> bool:
        """Remove a triple. Returns whether it was there."""
        if o[-1] not in '">' and is_tagged(o):
            o = self._spellings.of(o)
        facts = self.spo.get(s)
        if facts is None or not drop(facts, p, o):
            return False
        if p not in facts:
            self.subjects_of[p] -= 1
            if not facts:
                del self.spo[s]
        by_object = self.pos[p]
        drop(by_object, o, s)
        if o not in by_object:
            drop(self.op, o, p)
            if is_tagged(o):
                self._spellings.release(o)
        if by_object:
            self.sizes[p] -= 1
        else:
            del self.pos[p], self.sizes[p], self.subjects_of[p]
        return True

    # -- look-ups, one a shape ----------------------------------------------------------------------------------

    def holds(self, s: Term, p: Term, o: Term) -> bool:
        if o[-1] not in '">' and is_tagged(o):
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
        by_object = self.pos.get(p)
        if by_object is None:
            return ()
        leaf = by_object.get(o)
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
            for o in values_of(leaf):
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
        for p in values_of(self.op.get(o)):
            for s in values_of(self.pos[p][o]):
                yield s, p

    def triples(self) -> Iterator[Triple]:
        for s, facts in self.spo.items():
            for p, leaf in facts.items():
                for o in values_of(leaf):
                    yield s, p, o

    def nodes(self) -> Iterator[Term]:
        """Every term that is a subject or an object, once."""
        yield from self.spo
        for o in self.op:
            if o not in self.spo:
                yield o

    # -- statistics ---------------------------------------------------------------------------------------------

    def count(self, s: Term | None, p: Term | None, o: Term | None) -> float:
        """How many triples match: exact if the indexes know it at once, otherwise an estimate."""
        if o is not None and is_tagged(o):
            o = self._spellings.of(o)
        if s is not None:
            facts = self.spo.get(s)
            if facts is None:
                return 0.0
            if p is None:
                return float(len(facts))
            return size_of(facts.get(p)) if o is None else float(self.holds(s, p, o))
        if p is not None:
            by_object = self.pos.get(p)
            if by_object is None:
                return 0.0
            return float(self.sizes[p]) if o is None else float(size_of(by_object.get(o)))
        return float(len(self)) if o is None else 4.0 * size_of(self.op.get(o))

    def fan_out(self, p: Term) -> tuple[float, float]:
        """Objects per subject and subjects per object of a predicate."""
        by_object = self.pos.get(p)
        return (self.sizes[p] / self.subjects_of[p], self.sizes[p] / len(by_object)) if by_object else (0.0, 0.0)
