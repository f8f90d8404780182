"""No plan holds up the others: a step has a slice of work, and what does not fit into it goes on aside.

Work is counted, not timed. A plan that uses up a slice gets the next one bit by bit, commit by commit: so one that
costs little less than a slice each time does not hold everybody up each time.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeAlias, cast

from msgspec import Struct

from tidings.engine.behind.costs import Costs
from tidings.engine.behind.straggler import CaughtUp, Round, Straggler, delta_of
from tidings.engine.commit import Notification, notifications_of
from tidings.engine.operators.base import Changes, Hits
from tidings.engine.plans.plan_cache import PlanCache
from tidings.engine.plans.spu import Routed, Spu
from tidings.engine.routing import Routing
from tidings.engine.store.before import Before
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.sparql.evaluate.context import Overrun, Spent
from tidings.sparql.evaluate.layout import Row

REFILLED_IN = 32
"""Commits after which a plan that has used up its slice has all of it again."""

OF_A_QUAD = 4
"""Work that a changed quad costs a plan, before anything is looked up."""


Step: TypeAlias = Callable[[Routed, Hits], dict[Row, Changes]]
"""The changes of a plan's answers, by member."""


class Late(Struct, frozen=True):
    """What the subscribers of a plan are told of some commits together."""

    commits: int
    notifications: list[Notification]


class PlanIsBehind(Exception):
    """Nobody can join a plan before that has caught up."""

    def __init__(self, spu: Spu) -> None:
        super().__init__()
        self.spu = spu


class Stragglers:
    """The plans of an engine that are behind, and the steps of all others. Without a `slice`, no step ends early."""

    __slots__ = (
        "_before",
        "_behind",
        "_commit",
        "_is_large",
        "_left",
        "_new",
        "_plans",
        "_routing",
        "costs",
        "slice",
        "times",
    )

    def __init__(self, plans: PlanCache, before: Before, routing: Routing) -> None:
        self._plans = plans
        self._before = before
        self._routing = routing
        self.slice: int | None = None
        """Work that a step may do."""
        self._behind: dict[Routed, Straggler] = {}
        self._new: list[Straggler] = []
        self._left: dict[Routed, tuple[int, int]] = {}
        """What those have left that have used much, and since which commit."""
        self._commit = 0
        self._is_large = False
        self.times: dict[Routed, int] = {}
        """How often each plan has been worked out aside."""
        self.costs = Costs()

    def __len__(self) -> int:
        return len(self._behind)

    def __iter__(self) -> Iterator[Straggler]:
        return iter(self._behind.values())

    def __contains__(self, spu: Routed) -> bool:
        return spu in self._behind

    def check(self, spu: Spu) -> None:
        """Raises PlanIsBehind."""
        if spu in self._behind:
            raise PlanIsBehind(spu)

    def forget(self, spu: Routed) -> None:
        """Nobody has a plan any more."""
        straggler = self._behind.pop(spu, None)
        if straggler is not None:
            straggler.end()
        self._left.pop(spu, None)
        self.times.pop(spu, None)
        self.costs.forget(spu)

    # -- steps --------------------------------------------------------------------------------------------------

    def begin(self, delta: ZSet[Quad], clock: Callable[[], float]) -> Step:
        """The steps of another commit: how each is taken."""
        self._commit += 1
        self._is_large = self.slice is not None and OF_A_QUAD * len(delta) > self.slice
        return partial(self._timed, clock) if self.costs.is_due() else self.step

    def _timed(self, clock: Callable[[], float], spu: Routed, hits: Hits) -> dict[Row, Changes]:
        begun = clock()
        try:
            return self.step(spu, hits)
        finally:
            if spu in self._plans:  # what newcomers add up is nobody's yet
                self.costs.count(spu, clock() - begun)

    def step(self, spu: Routed, hits: Hits) -> dict[Row, Changes]:
        """The changes of answers, by member. A plan that is behind, or would be too slow, only adds up what hits it."""
        straggler = self._behind.get(spu) if self._behind else None
        if straggler is not None:
            straggler.add(hits)
            return {}
        if self._is_large and self._is_hit_much(spu, hits):
            self._fall_behind(spu).add(hits)
            return {}
        changes = self._sliced(spu, hits)
        if changes is None:
            self._fall_behind(spu).add(hits)
            return {}
        return changes

    def _is_hit_much(self, spu: Routed, hits: Hits) -> bool:
        """Whether its slice is used up by looking at what hit it."""
        size = sum(map(len, hits.values()))
        return self.slice is not None and OF_A_QUAD * size > self.slice and spu in self._plans

    def _sliced(self, spu: Routed, hits: Hits) -> dict[Row, Changes] | None:
        """The changes, if they can be had within the slice."""
        meter, allowed = spu.meter, self.slice
        if allowed is None:
            return spu.advance(hits)
        if self._left:
            allowed = self._allowed(spu, allowed)
        meter.begin(allowed)
        try:
            changes = spu.advance(hits)
            left = meter.check()
        except (Overrun, Spent):
            return None
        finally:
            meter.begin(None)
        if (allowed - left) * REFILLED_IN > allowed:
            self._left[spu] = left, self._commit
        return changes

    def _allowed(self, spu: Routed, most: int) -> int:
        if spu not in self._left:
            return most
        left, since = self._left[spu]
        refilled = left + (self._commit - since) * most // REFILLED_IN
        if refilled < most:
            return max(refilled, 1)
        del self._left[spu]
        return most

    def _fall_behind(self, spu: Routed) -> Straggler:
        plan = cast(Spu, spu)
        straggler = self._behind[spu] = Straggler(plan, self._plans.maker(plan), self._plans.clock)
        self._left[spu] = 0, self._commit
        self._new.append(straggler)
        return straggler

    def taken(self) -> tuple[Straggler, ...]:
        """Those that have fallen behind since this was last asked."""
        if not self._new:
            return ()
        new, self._new = tuple(self._new), []
        return new

    # -- catching up --------------------------------------------------------------------------------------------

    def rejoin(self, straggler: Straggler, plan: Spu, found: Round, caught_up: CaughtUp) -> tuple[Late, ...]:
        """Go on with what a fork has found, once a new plan has taken it up: what its subscribers are told of that, and
        of all that has changed since, if that fits into a slice. If it does not, the plan is behind still."""
        spu = straggler.spu
        self.times[spu] = self.times.get(spu, 0) + 1
        straggler.move_in(plan, found)
        self._routing.exchange(spu)
        first = _late(spu, caught_up.changes, found.commits)
        if not straggler.is_hit:
            self._left[spu] = 0, self._commit
            self._is_back(spu)
            return (first,)
        if straggler.is_outdated:
            return (first,)
        rest = straggler.begin()
        self._before.begin(delta_of(rest.hits))
        changes = self._sliced(spu, rest.hits)
        self._left[spu] = 0, self._commit
        if changes is None:
            straggler.put_back(rest)
            return (first,)
        self._is_back(spu)
        return first, _late(spu, changes, rest.commits)

    def look(self, touched: Iterable[Routed]) -> None:
        """At when the answers of plans change next; nothing is due of those that are behind."""
        clock = self._plans.clock
        for spu in touched:
            if spu in self._behind:
                clock.wait(spu)
            elif spu in clock and spu in self._plans:
                clock.look(cast(Spu, spu))

    def _is_back(self, spu: Spu) -> None:
        """It has caught up."""
        del self._behind[spu]
        self._plans.clock.look(spu)


def _late(spu: Spu, changes: dict[Row, Changes], commits: int) -> Late:
    still = {member: change for member, change in changes.items() if member in spu.members}
    return Late(commits, notifications_of([(spu, still)]))
