"""One term of the sum: the rows of a conjunction that follow from the changes of one of its patterns.

Look-ups start from the variables that are parameters, or that other patterns share. Quads that agree in these, such as
the old and the new value of a property, share one look-up.
"""

from collections.abc import Iterable
from operator import length_hint

from msgspec import Struct

from tidings.engine.lutt import Items
from tidings.engine.operators.base import Changes, Explanation, Hits, Route, States, shown
from tidings.engine.operators.conjunction.context_store import ContextStore
from tidings.engine.operators.conjunction.lookups import Lookup, best_order, leads_to, variables_of
from tidings.engine.operators.conjunction.ways import MANY, Detours, Start, Way
from tidings.engine.operators.members import FEW, Members
from tidings.model.terms import Quad, Var
from tidings.model.zset import add
from tidings.sparql.evaluate.layout import Layout, Row, picker


class PatternDelta:
    """new(t₁ … tᵢ₋₁) ⋈ Δtᵢ ⋈ old(tᵢ₊₁ … tₖ) for one i."""

    __slots__ = (
        "_few", "_has_hub", "_later", "_members", "_meter", "_seed", "_usual", "_ways",
        "context_store", "route",
    )  # fmt: skip

    def __init__(
        self, number: int, routes: tuple[Route, ...], states: States, members: Members | None, wanted: Layout
    ) -> None:
        self.route = routes[number]
        self._later = routes[number + 1 :]
        self._meter = states.meter
        others = [Lookup(route, i < number) for i, route in enumerate(routes) if i != number]
        parameters = () if members is None else members.variables
        self._seed = seed = _Seed(self.route, others, parameters)
        given = Layout(seed.shared, frozenset(seed.shared))
        self._ways = _Ways(given, others, seed.columns, wanted, states, members)
        self._usual = self._ways.to_members() or self._ways.from_members()
        is_behind = self._usual.first is None and not given.index.keys() >= set(parameters)
        self._members = members if is_behind else None
        """The members, if only look-ups lead from a seed to them."""
        self._few: _Search | None = None
        """The search that begins with the members, once it is made."""
        self._has_hub = False
        """Whether look-ups have found many rows on the way to the members, as of a group that everybody is in."""
        way = self._usual.way
        self.context_store = ContextStore([each.route for each in way.order], seed.shared, way.layout, states, members)

    def look_up(self, found: Items, changes: Changes) -> None:
        """Add the rows that follow from the quads that match this pattern, if the commit hit no other pattern."""
        self._look_up(found, changes, looks_back=False)

    def grow(self, found: Items, hits: Hits, changes: Changes) -> None:
        """The same, if the commit hit other patterns, too."""
        # If no later pattern was hit, the old state is equal to the new one, which is faster to read.
        self._look_up(found, changes, looks_back=any(route in hits for route in self._later))

    def _look_up(self, found: Items, changes: Changes, *, looks_back: bool) -> None:
        seeds = self._seed.group(found)
        search = self._for_few() if self._has_hub else self._usual
        rows: Iterable[Row] = seeds
        if search.first is not None:
            rows = search.first.rows(seeds)
        way, watch = search.way, self._meter.watch
        if search.detours is not None:
            rows = list(rows)
            way = search.detours.find(rows) or way
        for step in way.mixed if looks_back else way.now:
            rows = watch(step(rows))
        finish, width, left = way.finish, len(self._seed.shared), length_hint(self._meter.tokens)
        for row in rows:
            for quad, weight in seeds[row[:width]]:
                add(changes, finish(row + quad), weight)
        if self._members is not None and left - length_hint(self._meter.tokens) > MANY * len(seeds):
            self._has_hub = True

    def _for_few(self) -> "_Search":
        assert self._members is not None
        if len(self._members.tuples) > FEW:
            return self._usual
        if self._few is None:
            self._few = self._ways.from_members()
        return self._few

    def join(self, context: dict[Row, list[Row]], found: Items, changes: Changes) -> None:
        """The same with the rows of the other patterns from the context store."""
        key, agrees, finish = self._seed.key, self._seed.agrees, self._usual.way.finish
        for quad, weight in found:
            rows = context.get(key(quad))
            if rows is not None and agrees(quad):
                for row in rows:
                    add(changes, finish(row + quad), weight)

    def explain(self) -> Explanation:
        way, detours = self._usual.way, self._usual.detours
        then = " then ".join(_shown(lookup.route) for lookup in way.order)
        made = [] if detours is None else [way for way in detours.made.values() if way is not None]
        else_ = "".join(f", or first {_shown(way.order[0].route)} where that is less" for way in made)
        return Explanation("seed", _shown(self.route) + (f", looks up {then}" if then else "") + else_, True)


class _Search(Struct, frozen=True):
    """How to look up the rows for a seed: from the seed alone, or from the seed with each member (`first`)."""

    first: "_MembersFirst | None"
    way: Way
    detours: Detours | None


class _Ways(Struct, frozen=True):
    """Makes the searches of a pattern."""

    given: Layout
    others: list[Lookup]
    columns: dict[Var, int]
    wanted: Layout
    states: States
    members: Members | None

    def to_members(self) -> _Search | None:
        """A search from the seeds alone; None if look-ups do not lead from them to the members."""
        order = best_order(self.given, self.others, self.states)
        if self.members is not None and not leads_to(self.members.variables, self.given, order):
            return None
        return self._search(None, self.given, order, self.members)

    def from_members(self) -> _Search:
        """A search from the seeds, each with the members that it may concern."""
        assert self.members is not None
        first = _MembersFirst(self.members, self.given)
        return self._search(first, first.layout, best_order(first.layout, self.others, self.states), None)

    def _search(
        self, first: "_MembersFirst | None", given: Layout, order: list[Lookup], members: Members | None
    ) -> _Search:
        start = Start(given, self.columns, self.wanted, self.states, members)
        is_free = len(order) > 1 and self.states.graph[:1] != "?"
        return _Search(first, start.way(order), Detours(start, order) if is_free else None)


class _Seed:
    """Reads the changed quads of a pattern: the places of its variables, and the terms from which look-ups start."""

    __slots__ = ("_twice", "columns", "key", "shared")

    def __init__(self, route: Route, others: list[Lookup], parameters: tuple[Var, ...]) -> None:
        self.columns: dict[Var, int] = {}
        """The place of each variable in a quad."""
        self._twice: list[tuple[int, int]] = []
        """Pairs of places that must be equal, because both have the same variable."""
        for place, term in enumerate((*route.pattern, route.graph)):
            if term[:1] == "?" and self.columns.setdefault(term, place) != place:
                self._twice.append((self.columns[term], place))
        elsewhere = {variable for lookup in others for variable in variables_of(lookup.route)}.union(parameters)
        self.shared = tuple(variable for variable in self.columns if variable in elsewhere)
        self.key = picker([self.columns[variable] for variable in self.shared])
        """From a quad to its terms for the shared variables."""

    def agrees(self, quad: Quad) -> bool:
        """Whether a quad is equal at all places of the same variable."""
        return not self._twice or all(quad[a] == quad[b] for a, b in self._twice)

    def group(self, found: Items) -> dict[Row, Items]:
        """The quads by their key, without those that do not agree."""
        seeds: dict[Row, Items] = {}
        key, twice = self.key, self._twice
        for item in found:
            quad = item[0]
            if twice and not self.agrees(quad):
                continue
            at = key(quad)
            if at in seeds:
                seeds[at].append(item)
            else:
                seeds[at] = [item]
        return seeds


class _MembersFirst:
    """Combines the keys of seeds with the parameters of the members that they may concern, before any look-up."""

    __slots__ = ("_columns", "_members", "_rest", "_values", "layout")

    def __init__(self, members: Members, given: Layout) -> None:
        variables = members.variables
        known = [i for i, variable in enumerate(variables) if variable in given.index]
        missing = [i for i, variable in enumerate(variables) if variable not in given.index]
        self._members = members
        self._columns = tuple(known)
        self._values = picker([given.index[variables[i]] for i in known])
        self._rest = picker(missing)
        fresh = tuple(variables[i] for i in missing)
        self.layout = given.extended(fresh, fresh)

    def rows(self, keys: Iterable[Row]) -> list[Row]:
        columns, values, rest, matching = self._columns, self._values, self._rest, self._members.matching
        return [key + rest(member) for key in keys for member in matching(columns, values(key))]


def _shown(route: Route) -> str:
    text = " ".join(shown(term) for term in route.pattern)
    return f"{text} in {shown(route.graph)}" if route.graph else text
