"""One kind of query text, and the way from the constants of a text of this kind to its SPU.

There are three caches on the way; a hit in one saves the work of those behind it:

    sparql.prepared  text      -> template             parsing, planning what can be lifted
    _Variant         constants -> SPU, weakly          putting constants back, renaming, comparing whole queries
    PlanCache        canonical query -> SPU            making a plan; queries of different texts meet here

The last one decides which queries share a plan; it keeps an SPU while it has members. If the sender of a query may not
read every graph, the query is first narrowed to the readable ones (`Dataset.readable`), which is a part of the key.
"""

from weakref import WeakValueDictionary

from msgspec.structs import replace

from tidings.engine.operators.thresholds import exact
from tidings.engine.plans.lift import Lifted, canonical, lift, map_terms, ordered_slices, with_constants
from tidings.engine.plans.maintainable import SPELT, bindable, is_momentary_query, why_not_maintained
from tidings.engine.plans.plan_cache import PlanCache
from tidings.engine.plans.regrouping.sub_selects import opened
from tidings.engine.plans.spu import Spu, variables_of
from tidings.model.access import Graphs
from tidings.model.terms import Term, is_tagged
from tidings.sparql import algebra
from tidings.sparql.algebra import Describe, Query, narrowed
from tidings.sparql.algebra.complexity import parts_of
from tidings.sparql.evaluate.layout import Row

MOST_APART = 8
"""How many classes in queries of a kind get plans of their own; queries with other classes share one plan."""


class QueryTemplate:
    """A query with its constants lifted out."""

    __slots__ = (
        "_bindable",
        "_plans",
        "_query",
        "_shared",
        "_single",
        "_why",
        "_wide",
        "parts",
        "variables",
        "warnings",
    )

    def __init__(self, query: Query, plans: PlanCache) -> None:
        self.variables = variables_of(query)
        self.warnings = query.warnings
        self.parts = parts_of(query.pattern)
        """How many parts the query has, to estimate the time of planning."""
        # Rename variables before anything is moved: what a query does with its solutions depends on the order of names.
        query = canonical(algebra.with_pattern(query, ordered_slices(query.pattern)))[0]
        self._query = query = algebra.with_pattern(query, opened(query.pattern))
        self._plans = plans
        self._why = why_not_maintained(query, plans.naive, plans.clock.is_kept)
        self._bindable = tuple(bindable(query))
        self._single = _Variant(Lifted(query, (), ()))
        """The variant without parameters: for constants that cannot be parameters, and plans that cannot have any."""
        self._shared = self._wide = self._single
        """The variants with parameters: in `_shared`, classes are constants; in `_wide`, they are parameters, too."""
        if not self._why and not isinstance(query, Describe):
            self._shared, self._wide = _Variant(lift(query)), _Variant(lift(query, classes=True))

    def spu(self, values: tuple[Term, ...], readable: Graphs) -> tuple[Spu, Row]:
        """The SPU for a query with these constants over these graphs, and the query's member of it."""
        if any(is_tagged(values[number]) for number in self._bindable):
            query = narrowed(with_constants(self._query, values), readable)
            return self._plans.reevaluated(query, SPELT, every_commit=_is_spelt_elsewhere(query)), ()
        variant = self._variant(values, readable)
        spu = self._find(variant, values, readable)
        if spu is None:  # a plan for all members together cannot be maintained
            variant = self._shared = self._wide = self._single
            spu = self._find(variant, values, readable)
        assert spu is not None
        return spu, variant.member(values) if spu.variables else ()

    def _variant(self, values: tuple[Term, ...], readable: Graphs) -> "_Variant":
        shared = self._shared
        if not shared.suits(values):
            return self._single
        if len(shared) < MOST_APART or shared.known(values, readable) in self._plans:
            return shared
        return self._wide

    def _find(self, variant: "_Variant", values: tuple[Term, ...], readable: Graphs) -> Spu | None:
        spu = variant.known(values, readable)
        if spu is None or spu not in self._plans:
            spu = self._reevaluated(values, readable) if self._why else self._incremental(variant, values, readable)
            if spu is not None:
                variant.remember(values, readable, spu)
        return spu

    def _incremental(self, variant: "_Variant", values: tuple[Term, ...], readable: Graphs) -> Spu | None:
        query = narrowed(with_constants(variant.lifted.query, values), readable)
        return self._plans.incremental(replace(variant.lifted, query=query), len(self.variables))

    def _reevaluated(self, values: tuple[Term, ...], readable: Graphs) -> Spu:
        query = narrowed(with_constants(self._query, values), readable)
        is_elsewhere = self._why is SPELT and _is_spelt_elsewhere(query)
        every_commit = self._plans.naive or is_momentary_query(self._query) or is_elsewhere
        return self._plans.reevaluated(query, self._why, every_commit=every_commit)


def _is_spelt_elsewhere(query: Query) -> bool:
    """Whether a graph that the query does not see may change the spelling of its constants."""
    dataset = query.dataset
    return dataset.default is not None or dataset.named is not None or dataset.readable is not None


class _Variant:
    """A query with some of its constants as parameters, and its SPUs by the values of the other constants."""

    __slots__ = ("_fixed", "_spus", "lifted")

    def __init__(self, lifted: Lifted) -> None:
        self.lifted = lifted
        self._fixed = tuple(number for number in _constants(lifted.query) if number not in lifted.numbers)
        self._spus: WeakValueDictionary[tuple[Row, Graphs], Spu] = WeakValueDictionary()

    def __len__(self) -> int:
        return len(self._spus)

    def suits(self, values: tuple[Term, ...]) -> bool:
        """Whether these constants can be parameters."""
        return self.lifted.range is None or exact(values[self.lifted.numbers[-1]]) is not None

    def member(self, values: tuple[Term, ...]) -> Row:
        return tuple([values[number] for number in self.lifted.numbers])

    def _key(self, values: tuple[Term, ...], readable: Graphs) -> tuple[Row, Graphs]:
        return tuple([values[number] for number in self._fixed]), readable

    def known(self, values: tuple[Term, ...], readable: Graphs) -> Spu | None:
        """An SPU that was made before, if it still exists."""
        return self._spus.get(self._key(values, readable))

    def remember(self, values: tuple[Term, ...], readable: Graphs, spu: Spu) -> None:
        self._spus[self._key(values, readable)] = spu


def _constants(query: Query) -> list[int]:
    """The numbers of the lifted constants in a query that are no parameters."""
    found: dict[int, None] = {}

    def note(term: str) -> str:
        if term[0] == "$":
            found[int(term[2:])] = None
        return term

    map_terms(query, note)
    return list(found)
