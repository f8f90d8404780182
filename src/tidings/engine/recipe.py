"""How a query becomes an SPU: what of it is shared with which other queries, and whether it can be maintained."""

from collections.abc import Hashable
from typing import TypeAlias

from msgspec.structs import replace

from tidings.engine.before import Before
from tidings.engine.core import Core
from tidings.engine.lift import Lifted, canonical, lift, mapped, ordered_slices, settled
from tidings.engine.maintain import ANY, routes_in
from tidings.engine.operators.base import Route, States
from tidings.engine.spu import Family, Reread, Spu, variables_of
from tidings.engine.thresholds import Range, RangeFamily
from tidings.model.terms import Term, Var
from tidings.sparql import algebra
from tidings.sparql.algebra import Describe, Query, Select, every_expression
from tidings.sparql.evaluate.calls import is_momentary, names_blanks
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.dataset import View
from tidings.sparql.evaluate.layout import Row, picker
from tidings.sparql.evaluate.query import evaluate

SpuKey: TypeAlias = tuple[Query, tuple[Var, ...], Hashable]


class Workshop:
    """Makes SPUs and remembers them, so that equal queries over equal datasets with equal rights share one."""

    __slots__ = ("_before", "_core", "_keys", "_spus", "naive", "restless")

    def __init__(self, core: Core, before: Before, *, naive: bool) -> None:
        self._core = core
        self._before = before
        self._spus: dict[SpuKey, Spu] = {}
        self._keys: dict[Spu, SpuKey] = {}
        self.naive = naive
        self.restless: dict[Spu, None] = {}
        """Those that are evaluated after every commit, whatever it was about."""

    def family(self, lifted: Lifted, shown: int, rights: Hashable) -> Spu | None:
        """An incrementally maintained plan; None if what is lifted would have to be re-evaluated for all members."""
        plain, names = canonical(lifted.query)
        renamed = tuple(names[parameter] for parameter in lifted.parameters)
        condition = lifted.range
        if condition is not None:
            condition = Range(names[condition.variable], condition.operator)
        key = (plain, renamed, (rights, condition, shown))
        found = self._spus.get(key)
        if found is not None:
            return found
        family = Family(plain, renamed, self._states(plain))
        if family.reevaluates and renamed:
            return None
        if condition is None:
            return self._keep(key, family)
        assert isinstance(plain, Select)
        column = plain.variables.index(condition.variable)
        return self._keep(key, RangeFamily(family, condition, column, picker(range(shown))))

    def reread(self, query: Query, rights: Hashable, why: str, *, restless: bool) -> Spu:
        """A plan that is evaluated in full: after every commit, or after a hit."""
        plain, _ = canonical(query)
        key = (plain, (), (rights, restless))
        found = self._spus.get(key)
        if found is not None:
            return found
        core = self._core
        spu = Reread(
            lambda: evaluate(plain, core.store, core.moment, stable=True),
            () if restless else _routes(plain),
            why,
            plain.dataset,
        )
        if restless:
            self.restless[spu] = None
        return self._keep(key, spu)

    def _keep(self, key: SpuKey, spu: Spu) -> Spu:
        self._spus[key] = spu
        self._keys[spu] = key
        return spu

    def forget(self, spu: Spu) -> None:
        del self._spus[self._keys.pop(spu)]
        self.restless.pop(spu, None)

    def _states(self, query: Query) -> States:
        new, old = (
            Context(View(source, query.dataset), self._core.moment, stable=True)
            for source in (self._core.store, self._before)
        )
        home = self._core.store.default if query.dataset.default is None else None
        return States(new, old, home)


def _routes(query: Query) -> tuple[Route, ...]:
    routes = list(routes_in(query.pattern, ""))
    if isinstance(query, Describe):
        routes.append(Route(ANY, ""))  # any triple may belong to a description
    return tuple(routes)


class Recipe:
    """One kind of query text, its constants lifted out."""

    __slots__ = ("_fixed", "_lifted", "_query", "_spus", "_why", "_workshop", "variables")

    def __init__(self, query: Query, workshop: Workshop) -> None:
        self.variables = variables_of(query)
        self._query = query = _with_ordered_slices(query)
        self._workshop = workshop
        self._why = _unmaintainable(query, workshop.naive)
        self._lifted = Lifted(query, (), ()) if self._why else lift(query)
        self._fixed = tuple(n for n in _constants(self._lifted.query) if n not in self._lifted.numbers)
        self._spus: dict[tuple[Row, Hashable], Spu] = {}

    def spu(self, values: tuple[Term, ...], rights: Hashable) -> tuple[Spu, Row]:
        """The SPU for a query with these constants, and the member of it that the query is."""
        key = (tuple([values[n] for n in self._fixed]), rights)
        member = tuple([values[n] for n in self._lifted.numbers])
        spu = self._spus.get(key)
        if spu is None or not spu.members:
            spu = self._spus[key] = self._make(values, rights)
        return spu, member if spu.variables else ()

    def _make(self, values: tuple[Term, ...], rights: Hashable) -> Spu:
        if self._why:
            restless = self._workshop.naive or _is_momentary(self._query)
            return self._workshop.reread(settled(self._query, values), rights, self._why, restless=restless)
        lifted, shown = self._lifted, len(self.variables)
        query = settled(lifted.query, values)
        spu = self._workshop.family(replace(lifted, query=query), shown, rights)
        if spu is None:
            spu = self._workshop.family(Lifted(settled(self._query, values), (), ()), shown, rights)
        assert spu is not None
        return spu


def _constants(query: Query) -> list[int]:
    """The numbers of the lifted constants that a query still holds as such."""
    found: dict[int, None] = {}

    def note(term: str) -> str:
        if term[0] == "$":
            found[int(term[2:])] = None
        return term

    mapped(query, note)
    return list(found)


def _with_ordered_slices(query: Query) -> Query:
    return algebra.with_pattern(query, ordered_slices(query.pattern))


def _is_momentary(query: Query) -> bool:
    return any(map(is_momentary, every_expression(query.pattern)))


def _unmaintainable(query: Query, naive: bool) -> str:
    """Why a query has to be evaluated in full; empty if it has not."""
    if naive:
        return "naive: evaluated in full after every commit"
    if _is_momentary(query):
        return "depends on the moment (NOW, RAND, UUID): evaluated in full after every commit"
    if isinstance(query, Describe):
        return "DESCRIBE: evaluated in full after a commit to the default graph"
    if any(map(names_blanks, every_expression(query.pattern))):
        return "BNODE: evaluated in full after a hit"
    return ""
