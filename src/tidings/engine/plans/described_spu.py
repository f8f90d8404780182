"""The SPU of a DESCRIBE: a plan for the terms to describe, and for each triple, in how many descriptions it is.

    Δ = Σ new description of t, if t is described now  -  old description of t, if t was      for each t concerned

Concerned are the terms that are newly described or no longer, and those whose description may have a changed triple:
its subject, and if that is a blank node, all terms that lead to it through blank nodes.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tidings.engine.operators.base import ANY_TRIPLE, Cache, Changes, Explanation, Hits, Route, States
from tidings.engine.operators.stateful.memory import Memory, counts
from tidings.engine.plans.incremental_spu import IncrementalSpu
from tidings.engine.plans.spu import Spu, Subscribers
from tidings.model.terms import Term, Var
from tidings.model.zset import absorb, cross_zero
from tidings.sparql.algebra import Dataset
from tidings.sparql.evaluate.context import Meter
from tidings.sparql.evaluate.dataset import TripleSource
from tidings.sparql.evaluate.layout import Row
from tidings.sparql.evaluate.query import bounded_description


class DescribedSpu:
    """A DESCRIBE and its answer: one member without parameters. `inner` finds the rows whose terms are described;
    `fixed` are the terms that the query names."""

    __slots__ = ("__weakref__", "_fixed", "_inner", "_mine", "_states", "_targets", "_triples", "members", "routes")

    def __init__(self, inner: IncrementalSpu, fixed: tuple[Term, ...], states: States) -> None:
        self._inner = inner
        self._fixed = fixed
        self._states = states
        self._mine = Route(ANY_TRIPLE, "")
        self.routes = (*inner.routes, self._mine)
        self.members: dict[Row, Subscribers] = {}
        self._targets: Memory[dict[Row, int]] = counts()
        self._triples: Memory[dict[Row, int]] = counts()

    @property
    def dataset(self) -> Dataset:
        return self._inner.dataset

    @property
    def is_clocked(self) -> bool:
        return False

    def due(self) -> int | None:
        return None

    @property
    def meter(self) -> Meter:
        return self._inner.meter

    @property
    def caches(self) -> Sequence[Cache]:
        return self._inner.caches

    @property
    def variables(self) -> tuple[Var, ...]:
        return ()

    # -- the LUTT -----------------------------------------------------------------------------------------------

    def key(self, route: Route, member: Row) -> tuple[str | None, str | None, str | None]:
        return (None, None, None) if route is self._mine else self._inner.key(route, member)

    def is_own(self, route: Route) -> bool:
        return False

    def enrolled(self, member: Row, by: int) -> None:
        pass  # it has no routes of its own

    def concerned(self, hits: Hits) -> int:
        return 0

    # -- its member ---------------------------------------------------------------------------------------------

    def admit(self, member: Row) -> Iterable[Row]:
        targets: dict[Row, int] = {(term,): 1 for term in self._fixed}
        absorb(targets, _terms((row, 1) for row in self._inner.admit(())))
        self._inner.members[()] = {}
        now = self._states.new.view.default()
        triples: dict[Row, int] = {}
        for (term,) in targets:
            absorb(triples, ((triple, 1) for triple in self._described(term, now)))
        self.meter.check()
        self._targets.states[()], self._triples.states[()] = targets, triples
        return list(triples)

    def _described(self, term: Term | None, source: TripleSource) -> Iterator[Row]:
        assert term is not None
        return self.meter.watch(bounded_description(term, source, set()))

    def answer(self, member: Row) -> Iterable[Row]:
        return list(self._triples.states[()])

    def memories(self, member: Row) -> list[tuple[Memory[Any], Row]]:
        return [*self._inner.memories(()), (self._targets, ()), (self._triples, ())]

    def seat(self, member: Row) -> None:
        self._inner.seat(())
        self._inner.members[()] = {}

    def dismiss(self, member: Row) -> None:
        self._inner.members.pop((), None)
        self._inner.dismiss(())
        del self._targets.states[()], self._triples.states[()]

    # -- change -------------------------------------------------------------------------------------------------

    def advance(self, hits: Hits) -> dict[Row, Changes]:
        told = self._changed(hits)
        return {(): told} if told else {}

    def _changed(self, hits: Hits) -> Changes:
        targets, triples = self._targets.states[()], self._triples.states[()]
        concerned = self._concerned([quad[0] for quad, _ in hits.get(self._mine, ())])
        moved: dict[Row, int] = {}
        rows = {route: found for route, found in hits.items() if route is not self._mine}
        absorb(moved, _terms(self._inner.advance(rows).get((), {}).items()) if rows else ())
        concerned.update(dict.fromkeys(term for (term,) in moved))
        was = {term for term in concerned if (term,) in targets}
        absorb(targets, moved.items())
        now, before = self._states.new.view.default(), self._states.old.view.default()
        changes: Changes = {}
        for term in concerned:
            if (term,) in targets:
                absorb(changes, ((triple, 1) for triple in self._described(term, now)))
            if term in was:
                absorb(changes, ((triple, -1) for triple in self._described(term, before)))
        told: Changes = {}
        for triple, weight in changes.items():
            if crossing := cross_zero(triples, triple, weight):
                told[triple] = crossing
        return told

    def _concerned(self, subjects: list[Term]) -> dict[Term | None, None]:
        """The terms whose description may have changed: subjects of changed triples, and terms that lead to them."""
        sources = (self._states.new.view.default(), self._states.old.view.default())
        found: dict[Term | None, None] = {}
        waiting: list[Term] = subjects
        while waiting:
            term = waiting.pop()
            if term not in found:
                found[term] = None
                if term[0] == "_":
                    waiting += (s for source in sources for s, _ in source.mentions(term))
        return found

    def catch_up(self, member: Row, hits: Hits | None, present: Spu | None) -> Changes:
        return self._changed(hits) if hits else {}

    def become(self, fresh: Spu) -> None:
        assert isinstance(fresh, DescribedSpu)
        for name in self.__slots__[1:]:
            setattr(self, name, getattr(fresh, name))

    def explain(self) -> Explanation:
        return Explanation("describe", "the descriptions of what a change concerns", True, (self._inner.explain(),))


def _terms(rows: Iterable[tuple[Row, int]]) -> Iterator[tuple[Row, int]]:
    """The terms in rows, which are to be described."""
    return (((term,), weight) for row, weight in rows for term in row if term is not None)
