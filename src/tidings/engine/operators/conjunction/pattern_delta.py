"""One term of the sum: the rows of a conjunction that grow from the changes of one of its patterns.

Only the variables that other patterns or parameters share are looked up from: quads that agree in these, such as the
old and the new value of a property, take one look-up together.
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
        """Who is known only behind the look-ups."""
        self._few: _Search | None = None
        """Begins with the members."""
        self._has_hub = False
        """Whether a seed has met many rows on the way to them, as of the one group that everybody is in."""
        way = self._usual.way
        self.context_store = ContextStore([each.route for each in way.order], seed.shared, way.layout, states, members)

    def look_up(self, found: Items, changes: Changes) -> None:
        """Add the rows that grow from the quads found for this pattern, where no other one was hit."""
        self._look_up(found, changes, looks_back=False)

    def grow(self, found: Items, hits: Hits, changes: Changes) -> None:
        """The same, where others were hit as well."""
        # Where no later pattern was hit, the state before is the state now, and needs no looking through the delta.
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
        """The same where all that the other patterns have to say is at hand."""
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
    """How the rows are looked up that go with a seed: from it alone, or with each member as well."""

    first: "_MembersFirst | None"
    way: Way
    detours: Detours | None


class _Ways(Struct, frozen=True):
    """What a pattern's searches are made of."""

    given: Layout
    others: list[Lookup]
    columns: dict[Var, int]
    wanted: Layout
    states: States
    members: Members | None

    def to_members(self) -> _Search | None:
        """From the seeds; None if they do not lead to the members."""
        order = best_order(self.given, self.others, self.states)
        if self.members is not None and not leads_to(self.members.variables, self.given, order):
            return None
        return self._search(None, self.given, order, self.members)

    def from_members(self) -> _Search:
        """From the seeds and the members that each may concern."""
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
    """How a changed quad of a pattern is read: what its variables are, and which of them lead on."""

    __slots__ = ("_twice", "columns", "key", "shared")

    def __init__(self, route: Route, others: list[Lookup], parameters: tuple[Var, ...]) -> None:
        self.columns: dict[Var, int] = {}
        """Where in a quad each variable stands."""
        self._twice: list[tuple[int, int]] = []
        """Places that must agree because a variable stands at both."""
        for place, term in enumerate((*route.pattern, route.graph)):
            if term[:1] == "?" and self.columns.setdefault(term, place) != place:
                self._twice.append((self.columns[term], place))
        elsewhere = {variable for lookup in others for variable in variables_of(lookup.route)}.union(parameters)
        self.shared = tuple(variable for variable in self.columns if variable in elsewhere)
        self.key = picker([self.columns[variable] for variable in self.shared])
        """From a quad to its terms for the shared variables."""

    def agrees(self, quad: Quad) -> bool:
        """Whether no variable would need two values."""
        return not self._twice or all(quad[a] == quad[b] for a, b in self._twice)

    def group(self, found: Items) -> dict[Row, Items]:
        """The quads by what they are looked up from."""
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
    """Starts from the whole parameter tuples of the members that a seed may concern, where no look-up leads there."""

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
