"""A straggler is a plan whose step takes longer than a slice. A fork works it out, while the engine adds up changes.

    engine    aborts the step; D is the delta that hit it   fork   removes D from its store, admits all members to a new
              adds up the quads that hit the plan now              plan, and advances that by D: this gives the changes
              takes over the state of the new plan          <-     and the state
              notifies of the changes; then advances the plan by what was added up, or begins another round

An aborted step may have changed a part of the plan's state. That is why the plan goes on with a new state.
"""

import marshal
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from msgspec import Struct

from tidings.engine.clock import Clock
from tidings.engine.operators.base import Cache, Changes, Hits, Route
from tidings.engine.operators.stateful.memory import PORTION, Memory
from tidings.engine.plans.plan_cache import Maker
from tidings.engine.plans.reevaluated_spu import ReevaluatedSpu
from tidings.engine.plans.spu import Spu
from tidings.engine.store.before import Before
from tidings.engine.store.store import Store
from tidings.model.terms import Quad, fold, is_tagged
from tidings.model.zset import ZSet, absorb
from tidings.sparql.evaluate.context import UNLIMITED, Limits
from tidings.sparql.evaluate.layout import Row


class Round(Struct, frozen=True):
    """What a fork has to work out for a plan."""

    members: tuple[Row, ...]
    hits: Hits
    commits: int
    """How many commits the hits are from."""
    since: int
    """The instant of the last answers, for plans that change with the clock."""
    until: int
    """The instant of the new answers."""


class CaughtUp(Struct, frozen=True):
    """The outcome of a fork."""

    changes: dict[Row, Changes]
    memories: list[list[bytes]]
    """The content of each memory of the plan for each member, in portions."""
    caches: list[list[bytes]]
    """The content of each cache of its operators, in portions."""


class Straggler:
    """One plan that is behind."""

    __slots__ = ("_clock", "_commits", "_is_over", "_make", "_since", "_sums", "is_spoilt", "spu", "told")

    def __init__(self, spu: Spu, make: Maker, clock: Clock) -> None:
        self.spu = spu
        self._clock = clock
        self._since = clock.past.now
        self._make = make
        self._sums: dict[Route, dict[Quad, int]] = {}
        self._commits = 0
        self._is_over = False
        self.told = 0
        """The last commit whose changes were sent."""
        self.is_spoilt = False
        """Whether a commit that a fork may have seen was reversed."""

    def add(self, hits: Hits) -> None:
        """Add up the quads that hit its routes."""
        self._commits += 1
        for route, items in hits.items():
            absorb(self._sums.setdefault(route, {}), items)

    @property
    def size(self) -> int:
        """How many quads have been added up."""
        return sum(map(len, self._sums.values()))

    @property
    def is_hit(self) -> bool:
        """Whether any commit was added up."""
        return self._commits > 0

    @property
    def is_over(self) -> bool:
        """Whether the plan has no subscriber any more."""
        return self._is_over or not self.spu.members

    def end(self) -> None:
        self._is_over = True

    @property
    def is_outdated(self) -> bool:
        """Whether the sum of the commits is no valid delta: a language-tagged literal was removed and added in another
        spelling, which no single commit does."""
        tagged = {quad[2] for sums in self._sums.values() for quad in sums if is_tagged(quad[2])}
        return len({fold(literal) for literal in tagged}) < len(tagged)

    def begin(self) -> Round:
        """Begin a round with everything that was added up. Later changes are for the next round."""
        hits: Hits = {route: list(sums.items()) for route, sums in self._sums.items() if sums}
        found = Round(tuple(self.spu.members), hits, self._commits, self._since, self._clock.instant)
        self._sums, self._commits, self._since = {}, 0, found.until
        return found

    def put_back(self, found: Round) -> None:
        """Add up a round again that could not be worked out within a slice."""
        self._commits += found.commits
        self._since = found.since
        for route, items in found.hits.items():
            absorb(self._sums.setdefault(route, {}), items)

    # -- in the fork --------------------------------------------------------------------------------------------

    def work_out(self, found: Round, store: Store, before: Before, limits: Limits) -> CaughtUp:
        """The changes of the answers, and the new state of the plan."""
        if isinstance(self.spu, ReevaluatedSpu):  # its last answer is the only record of what was sent
            plan: Spu = self.spu
            changes = self.spu.again()
        else:
            plan = self._make(limits)
            delta = delta_of(found.hits)
            store.apply(-delta)
            before.begin(ZSet())
            self._clock.moment.now = self._clock.past.now = found.since
            for member in found.members:
                plan.admit(member)
                plan.members[member] = {}
            store.apply(delta)
            before.begin(delta)
            self._clock.moment.now = found.until
            changes = plan.advance(translated(found.hits, self.spu.routes, plan.routes))
        memories = [memory.packed(key) for memory, key in _memories(plan, found.members)]
        return CaughtUp(changes, memories, [_portions(cache) for cache in plan.caches])

    # -- in the broker ------------------------------------------------------------------------------------------

    def fresh(self) -> Spu:
        """A new plan of the same query, without any state. Raises RuntimeError."""
        plan = self._make(UNLIMITED)
        listens, listened = ([(each.pattern, each.graph) for each in spu.routes] for spu in (plan, self.spu))
        if listens != listened:
            raise RuntimeError("a plan that was made again listens to other patterns than before")
        return plan

    def take(self, plan: Spu, found: Round, caught_up: CaughtUp) -> Iterator[None]:
        """Fill a new plan with the state that a fork has found, a portion at each step."""
        for (memory, key), portions in zip(_memories(plan, found.members), caught_up.memories, strict=True):
            memory.begin(key)
            for portion in portions:
                memory.take(key, portion)
                yield
            memory.complete(key)
        for cache, portions in zip(plan.caches, caught_up.caches, strict=True):
            for portion in portions:
                cache.extend(marshal.loads(portion))  # written by a copy of ourselves
                yield

    def move_in(self, plan: Spu, found: Round) -> tuple[Route, ...]:
        """Replace the straggler's plan by a new one that has the whole state. Returns the routes of the old one."""
        spu, routes = self.spu, self.spu.routes
        for member in found.members:
            plan.seat(member)
            plan.members[member] = spu.members.get(member, {})
        for cache in plan.caches:
            cache.complete()
        for member in found.members:
            if member not in spu.members:
                del plan.members[member]
                plan.dismiss(member)
        self._sums = {new: self._sums[old] for old, new in zip(routes, plan.routes, strict=True) if old in self._sums}
        spu.become(plan)
        return routes


def _portions(cache: Cache) -> list[bytes]:
    items = iter(cache.items())
    return [marshal.dumps(portion) for portion in iter(lambda: list(islice(items, PORTION)), [])]


def _memories(plan: Spu, members: Iterable[Row]) -> Iterator[tuple[Memory[Any], Row]]:
    """The memories of some members, with their keys, each once: members share some of them."""
    known: set[tuple[int, Row]] = set()
    for member in members:
        for memory, key in plan.memories(member):
            if (id(memory), key) not in known:
                known.add((id(memory), key))
                yield memory, key


def delta_of(hits: Hits) -> ZSet[Quad]:
    """The quads that hit any route, as one delta."""
    changed: dict[Quad, int] = {}
    for items in hits.values():
        changed.update(items)
    return ZSet.owning(changed)


def translated(hits: Hits, old: Iterable[Route], new: Iterable[Route]) -> Hits:
    """The hits for the routes of another plan of the same query."""
    return {there: hits[here] for here, there in zip(old, new, strict=True) if here in hits}
