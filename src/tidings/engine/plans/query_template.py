"""How a query becomes an SPU: what of it is shared with which other queries, and whether it can be maintained."""

from collections.abc import Hashable, Iterable, Iterator
from typing import TypeAlias
from weakref import WeakValueDictionary

from msgspec.structs import replace

from tidings.engine.operators.base import Route, States
from tidings.engine.plans.lift import Lifted, canonical, lift, mapped, ordered_slices, settled
from tidings.engine.plans.planner import ANY, exists_patterns, routes_in
from tidings.engine.plans.spu import Family, Reread, Spu, variables_of
from tidings.engine.plans.thresholds import RangeFamily, exact
from tidings.engine.store.before import Before
from tidings.engine.updates.executor import Core
from tidings.model.terms import Term, Var, is_tagged
from tidings.sparql import algebra
from tidings.sparql.algebra import Describe, Expression, Node, Query, Select, every_expression
from tidings.sparql.evaluate.calls import is_momentary, names_blanks
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.dataset import View
from tidings.sparql.evaluate.layout import Row, picker
from tidings.sparql.evaluate.query import evaluate

_SPELT = "binds a language-tagged constant, which is spelt as the store spells it: evaluated in full after every commit"

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
        plain, names = canonical(lifted.query, "$")
        renamed = tuple(names[parameter] for parameter in lifted.parameters)
        condition = lifted.range
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
        key = (query, (), (rights, restless))
        found = self._spus.get(key)
        if found is not None:
            return found
        core = self._core
        spu = Reread(
            lambda: evaluate(query, core.store, core.moment, stable=True),
            () if restless else _routes(query),
            why,
            query.dataset,
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

    __slots__ = ("_bindable", "_lifted", "_plain", "_query", "_why", "_workshop", "variables", "warnings")

    def __init__(self, query: Query, workshop: Workshop) -> None:
        self.variables = variables_of(query)
        self.warnings = query.warnings
        # Names first, before anything is moved: what a query makes of its solutions goes by the order of their names.
        self._query = query = canonical(_with_ordered_slices(query))[0]
        self._workshop = workshop
        self._why = _unmaintainable(query, workshop.naive)
        self._bindable = tuple(_bindable(query))
        self._plain = _Variant(Lifted(query, (), ()))
        self._lifted = self._plain if self._why else _Variant(lift(query))

    def spu(self, values: tuple[Term, ...], rights: Hashable) -> tuple[Spu, Row]:
        """The SPU for a query with these constants, and the member of it that the query is."""
        if any(is_tagged(values[number]) for number in self._bindable):
            return self._workshop.reread(settled(self._query, values), rights, _SPELT, restless=True), ()
        variant = self._lifted if self._lifted.suits(values) else self._plain
        spu = variant.known(values, rights) or self._make(variant, values, rights)
        if spu is None:
            variant = self._lifted = self._plain  # what would be shared cannot be maintained for all at once
            spu = variant.known(values, rights) or self._make(variant, values, rights)
        assert spu is not None
        return spu, variant.member(values) if spu.variables else ()

    def _make(self, variant: "_Variant", values: tuple[Term, ...], rights: Hashable) -> Spu | None:
        if self._why:
            restless = self._workshop.naive or _is_momentary(self._query) or self._why is _SPELT
            spu: Spu | None = self._workshop.reread(settled(self._query, values), rights, self._why, restless=restless)
        else:
            lifted = replace(variant.lifted, query=settled(variant.lifted.query, values))
            spu = self._workshop.family(lifted, len(self.variables), rights)
        if spu is not None:
            variant.remember(values, rights, spu)
        return spu


class _Variant:
    """A query with some of its constants as parameters, and the SPUs made of it, by the constants that are not."""

    __slots__ = ("_fixed", "_spus", "lifted")

    def __init__(self, lifted: Lifted) -> None:
        self.lifted = lifted
        self._fixed = tuple(number for number in _constants(lifted.query) if number not in lifted.numbers)
        self._spus: WeakValueDictionary[tuple[Row, Hashable], Spu] = WeakValueDictionary()

    def suits(self, values: tuple[Term, ...]) -> bool:
        """Whether these constants can be parameters."""
        return self.lifted.range is None or exact(values[self.lifted.numbers[-1]]) is not None

    def member(self, values: tuple[Term, ...]) -> Row:
        return tuple([values[number] for number in self.lifted.numbers])

    def _key(self, values: tuple[Term, ...], rights: Hashable) -> tuple[Row, Hashable]:
        return tuple([values[number] for number in self._fixed]), rights

    def known(self, values: tuple[Term, ...], rights: Hashable) -> Spu | None:
        """An SPU made before, if it is still in use."""
        spu = self._spus.get(self._key(values, rights))
        return spu if spu is not None and spu.members else None

    def remember(self, values: tuple[Term, ...], rights: Hashable, spu: Spu) -> None:
        self._spus[self._key(values, rights)] = spu


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


def _nodes(node: Node) -> Iterator[Node]:
    """Every node of a pattern, those inside EXISTS included."""
    yield node
    for inner in algebra.inputs(node):
        yield from _nodes(inner)
    for expression in algebra.expressions(node):
        for pattern in exists_patterns(expression):
            yield from _nodes(pattern)


def _spells(pattern: Node) -> bool:
    """Whether VALUES holds a language-tagged literal."""
    found = (node for node in _nodes(pattern) if isinstance(node, algebra.Values))
    return any(cell is not None and is_tagged(cell) for node in found for row in node.rows for cell in row)


def _bindable(query: Query) -> Iterator[int]:
    """The numbers of the constants that a BIND, a SELECT expression or zero steps of a path may give to a variable."""
    for node in _nodes(query.pattern):
        terms: Iterable[str] = ()
        match node:
            case algebra.Extend(_, _, expression):
                terms = _parts(expression)
            case algebra.PathPattern(subject, path, object_) if algebra.may_stand_still(path):
                terms = (subject, object_)
        yield from (int(term[2:]) for term in terms if term[:2] == "$x")


def _parts(expression: Expression) -> Iterator[str]:
    if isinstance(expression, str):
        yield expression
    for part in algebra.operands(expression):
        yield from _parts(part)


def _is_momentary(query: Query) -> bool:
    return any(map(is_momentary, every_expression(query.pattern)))


def _unmaintainable(query: Query, naive: bool) -> str:
    """Why a query has to be evaluated in full; empty if it has not."""
    if naive:
        return "naive: evaluated in full after every commit"
    if _is_momentary(query):
        return "depends on the moment (NOW, RAND, UUID): evaluated in full after every commit"
    if _spells(query.pattern):
        return _SPELT
    if isinstance(query, Describe):
        return "DESCRIBE: evaluated in full after a commit to the default graph"
    if any(map(names_blanks, every_expression(query.pattern))):
        return "BNODE: evaluated in full after a hit"
    return ""
