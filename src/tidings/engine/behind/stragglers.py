"""Limits each step of a plan to a slice of work, so that no plan delays the others. A longer step goes on in a fork.

Work is counted in rows, not timed. The slice of a plan that has used it up refills gradually, commit by commit. So a
plan whose every step needs almost a slice does not delay every commit.
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
"""After this many commits, a plan that has used up its slice has a full one again."""

OF_A_QUAD = 4
"""The work that a changed quad costs a plan, before any look-up."""


Step: TypeAlias = Callable[[Routed, Hits], dict[Row, Changes]]
"""The changes of a plan's answers, by member."""


class Late(Struct, frozen=True):
    """The notifications of a plan for the sum of several commits."""

    commits: int
    notifications: list[Notification]


class PlanIsBehind(Exception):
    """A subscription cannot join this plan before it has caught up."""

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
        """The work that a step may do; None is no limit."""
        self._behind: dict[Routed, Straggler] = {}
        self._new: list[Straggler] = []
        self._left: dict[Routed, tuple[int, int]] = {}
        """For plans that have used much of their slice: the work they had left, and after which commit."""
        self._commit = 0
        self._is_large = False
        self.times: dict[Routed, int] = {}
        """How many rounds each plan has had in forks."""
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
        """Called when a plan has no subscriber any more."""
        straggler = self._behind.pop(spu, None)
        if straggler is not None:
            straggler.end()
        self._left.pop(spu, None)
        self.times.pop(spu, None)
        self.costs.forget(spu)

    # -- steps --------------------------------------------------------------------------------------------------

    def begin(self, delta: ZSet[Quad], clock: Callable[[], float]) -> Step:
        """Begin a commit. Returns the function that takes the step of each plan."""
        self._commit += 1
        self._is_large = self.slice is not None and OF_A_QUAD * len(delta) > self.slice
        return partial(self._timed, clock) if self.costs.is_due() else self.step

    def _timed(self, clock: Callable[[], float], spu: Routed, hits: Hits) -> dict[Row, Changes]:
        begun = clock()
        try:
            return self.step(spu, hits)
        finally:
            if spu in self._plans:  # not for newcomers, which only add up changes
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
        """Whether the hits alone would use up the slice of a plan."""
        size = sum(map(len, hits.values()))
        return self.slice is not None and OF_A_QUAD * size > self.slice and spu in self._plans

    def _sliced(self, spu: Routed, hits: Hits) -> dict[Row, Changes] | None:
        """The changes of answers; None if they take more than the slice."""
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
        """The plans that have fallen behind since the last call."""
        if not self._new:
            return ()
        new, self._new = tuple(self._new), []
        return new

    # -- catching up --------------------------------------------------------------------------------------------

    def rejoin(self, straggler: Straggler, plan: Spu, found: Round, caught_up: CaughtUp) -> tuple[Late, ...]:
        """Go on with the new plan that has the state from a fork. Returns the notifications of the fork's round, and
        those of the changes since, if these fit into a slice; if not, the plan is still behind."""
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
        """Ask these plans when their answers change next by the clock; those that are behind are not due."""
        clock = self._plans.clock
        for spu in touched:
            if spu in self._behind:
                clock.wait(spu)
            elif spu in clock and spu in self._plans:
                clock.look(cast(Spu, spu))

    def _is_back(self, spu: Spu) -> None:
        """Called when a plan has caught up."""
        del self._behind[spu]
        self._plans.clock.look(spu)


def _late(spu: Spu, changes: dict[Row, Changes], commits: int) -> Late:
    still = {member: change for member, change in changes.items() if member in spu.members}
    return Late(commits, notifications_of([(spu, still)]))
