"""The SPUs in use, by the canonical form of their query and its dataset, which includes the readable graphs."""

from collections import Counter
from collections.abc import Callable, Hashable
from functools import partial
from typing import TypeAlias

from tidings.engine.clock import Clock
from tidings.engine.operators.base import ANY_TRIPLE, Route, States
from tidings.engine.operators.thresholds import Range
from tidings.engine.plans.described_spu import DescribedSpu
from tidings.engine.plans.incremental_spu import IncrementalSpu
from tidings.engine.plans.lift import Lifted, canonical
from tidings.engine.plans.maintainable import SPELT, is_kept_while_spelt, spelt_constants
from tidings.engine.plans.range_spu import RangeSpu
from tidings.engine.plans.reevaluated_spu import Kept, ReevaluatedSpu
from tidings.engine.plans.routes import routes_in
from tidings.engine.plans.spu import Spu
from tidings.engine.store.before import Before
from tidings.engine.updates.executor import Core
from tidings.model.terms import Var
from tidings.sparql.algebra import Describe, Query, Select
from tidings.sparql.evaluate.context import UNLIMITED, Context, Limits, Meter
from tidings.sparql.evaluate.dataset import View
from tidings.sparql.evaluate.layout import picker
from tidings.sparql.evaluate.query import evaluate

SpuKey: TypeAlias = tuple[Query, tuple[Var, ...], Hashable]
Maker: TypeAlias = Callable[[Limits], Spu]
"""Makes another plan of a query, whose evaluations have these limits."""


class PlanCache:
    """Makes SPUs and keeps them, so that equal queries over equal datasets share one.

    The dataset includes the readable graphs, so subscribers who may read different graphs have different plans."""

    __slots__ = ("_before", "_core", "_every_commit", "_held", "_keys", "_makers", "_spus", "clock", "naive")

    def __init__(self, core: Core, before: Before, *, naive: bool) -> None:
        self._core = core
        self._before = before
        self._spus: dict[SpuKey, Spu] = {}
        self._keys: dict[Spu, SpuKey] = {}
        self._makers: dict[Spu, Maker] = {}
        self.naive = naive
        self.clock = Clock()
        self._every_commit: set[Spu] = set()
        self._held: Counter[Spu] = Counter()

    def incremental(self, lifted: Lifted, shown: int) -> Spu | None:
        """An incremental plan; None if a part of it should not work for all members at once."""
        plain, names = canonical(lifted.query, "$")
        renamed = tuple(names[parameter] for parameter in lifted.parameters)
        condition = lifted.range
        key = (plain, renamed, (condition, shown))
        found = self._spus.get(key)
        if found is not None:
            return found
        if isinstance(plain, Describe):
            return self._keep(key, self._described(plain, UNLIMITED), partial(self._described, plain))
        spu = IncrementalSpu(plain, renamed, self._states(plain, UNLIMITED))
        if spu.is_for_one and renamed:
            return None

        def make(limits: Limits) -> Spu:
            return self._ranged(IncrementalSpu(plain, renamed, self._states(plain, limits)), plain, condition, shown)

        return self._keep(key, self._ranged(spu, plain, condition, shown), make)

    def _described(self, query: Describe, limits: Limits) -> Spu:
        states = self._states(query, limits)
        variables = tuple(target for target in query.targets if target[0] == "?")
        inner = IncrementalSpu(Select(query.pattern, variables, query.dataset), (), states)
        return DescribedSpu(inner, tuple(target for target in query.targets if target[0] != "?"), states)

    def _ranged(self, spu: IncrementalSpu, query: Query, condition: Range | None, shown: int) -> Spu:
        """The plan with the thresholds of its members, if there is a range condition."""
        if condition is None:
            return spu
        assert isinstance(query, Select)
        return RangeSpu(spu, condition, query.variables.index(condition.variable), picker(range(shown)))

    def reevaluated(self, query: Query, why: str, *, every_commit: bool) -> Spu:
        """A plan that is evaluated in full, after every commit or after a hit; if the reason is the spelling of
        constants, only when that changes."""
        key = (query, (), every_commit)
        found = self._spus.get(key)
        if found is not None:
            return found
        core = self._core
        is_kept = why is SPELT and not every_commit and is_kept_while_spelt(query)

        def make(limits: Limits) -> Spu:
            return ReevaluatedSpu(
                lambda meter: evaluate(query, core.store, core.moment, limits, stable=True, meter=meter),
                () if every_commit else self._spelt_routes(query) if is_kept else _routes(query),
                why,
                query.dataset,
                self._kept(query, limits) if is_kept else None,
            )

        spu = self._keep(key, make(UNLIMITED), make)
        if every_commit:
            self._every_commit.add(spu)
        return spu

    def _kept(self, query: Query, limits: Limits) -> Kept:
        constants, store = tuple(spelt_constants(query)), self._core.store
        return Kept(
            lambda meter: IncrementalSpu(query, (), self._states(query, limits, meter)),
            lambda: tuple([store.spelling(constant) for constant in constants]),
        )

    def _spelt_routes(self, query: Query) -> tuple[Route, ...]:
        """The routes of a query with language-tagged constants: those of the incremental plan come first."""
        plan = IncrementalSpu(query, (), self._states(query, UNLIMITED))
        return (*plan.routes, *_spelling_routes(query))

    def is_evaluated_every_time(self, spu: Spu) -> bool:
        """Whether a plan is evaluated after every commit."""
        return spu in self._every_commit

    def maker(self, spu: Spu) -> Maker:
        """A function that makes further plans of the same query, which are not shared."""
        return self._makers[spu]

    def _keep(self, key: SpuKey, spu: Spu, make: Maker) -> Spu:
        self._keys[spu] = key
        self._makers[spu] = make
        kept = self._spus.setdefault(key, spu)  # atomically, because threads make plans, too
        if kept is not spu:
            del self._keys[spu], self._makers[spu]
        return kept

    def __len__(self) -> int:
        return len(self._spus)

    def __contains__(self, spu: object) -> bool:
        return spu in self._keys

    def hold(self, spu: Spu) -> None:
        """Keep a plan for a newcomer, even while it has no members."""
        self._held[spu] += 1

    def release(self, spu: Spu) -> None:
        """Called when a newcomer does not need the plan any more."""
        self._held[spu] -= 1
        if not self._held[spu]:
            del self._held[spu]
            if not spu.members:
                self.forget(spu)

    def forget(self, spu: Spu) -> None:
        """Remove a plan without members, unless a newcomer holds it."""
        if spu not in self._held and spu in self._keys:
            del self._spus[self._keys.pop(spu)], self._makers[spu]
            self._every_commit.discard(spu)
            self.clock.forget(spu)

    def _states(self, query: Query, limits: Limits, meter: Meter | None = None) -> States:
        meter = meter or Meter()
        new, old = (
            Context(View(source, query.dataset), moment, limits, stable=True, meter=meter)
            for source, moment in ((self._core.store, self.clock.moment), (self._before, self.clock.past))
        )
        home = self._core.store.default if query.dataset.default is None else None
        return States(new, old, home)


def _routes(query: Query) -> tuple[Route, ...]:
    routes = list(routes_in(query.pattern, ""))
    if isinstance(query, Describe):
        routes.append(Route(ANY_TRIPLE, ""))  # any triple may belong to a description
    return (*routes, *_spelling_routes(query))


def _spelling_routes(query: Query) -> tuple[Route, ...]:
    """Routes for the constants in every graph: a triple in any graph may decide how a constant is spelt."""
    s, p, g = "?:s", "?:p", "?:g"
    return tuple(Route((s, p, literal), graph) for literal in spelt_constants(query) for graph in ("", g))
