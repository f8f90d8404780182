"""Brings plans that are behind up to date, in forks. Their notifications come late, but exact and in order.

    a step takes too long  -->  fork: its changes, and the state of the plan  -->  absorbed in portions  -->  notify
                                    changes meanwhile are added up for the next round

Other subscriptions do not wait: there is a pause between two forks of a plan, and the event loop absorbs the outcome in
portions. The broker ends subscriptions whose plan takes longer than the time limit, or falls behind by more than the
limits of rows and seconds, and tells their clients why.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from weakref import WeakKeyDictionary

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.errors import ShuttingDown, TooExpensive
from tidings.broker.forks import Forks
from tidings.broker.pending import PendingLate
from tidings.broker.policy import Policy
from tidings.broker.spawn import Spawn
from tidings.broker.subscriptions.notifier import Notifier
from tidings.broker.subscriptions.registry import Subscriptions
from tidings.broker.subscriptions.subscriber import Parcel, Subscriber
from tidings.engine.behind.straggler import CaughtUp, Round, Straggler
from tidings.engine.engine import Engine
from tidings.engine.leaves import values_of
from tidings.engine.plans.spu import Spu
from tidings.model.errors import TidingsError, internal_error
from tidings.model.results import Row
from tidings.model.zset import ZSet
from tidings.sparql.evaluate.context import Limits

PACE = 200
"""Of so many seconds, the event loop spends at most one on a plan that is behind: fewer than one update in a hundred
meets it."""

LONGEST_PAUSE = 2.0

_SPOILT = "the log failed; come back for a fresh answer"

_NOTHING: ZSet[Row] = ZSet()

log = logging.getLogger("tidings")

_SHARE = "plans that are behind"
"""The client name under which they take room for forks: one at a time."""


class Stragglers:
    """Follows the plans of an engine that are behind. Meanwhile, at most as many changed quads may be added up as an
    evaluation may have rows. `clock` counts seconds."""

    def __init__(
        self,
        engine: Engine,
        subscriptions: Subscriptions,
        commit_log: CommitLog,
        forks: Forks,
        notifier: Notifier,
        spawn: Spawn,
        policy: Policy,
        clock: Callable[[], float],
    ) -> None:
        self._engine = engine
        self._subscriptions = subscriptions
        self._commit_log = commit_log
        self._forks = forks
        self._notifier = notifier
        self._spawn = spawn
        self._limits = Limits(policy.seconds, policy.rows, clock)
        self._seconds = policy.behind
        self._clock = clock
        self._on_the_way: Counter[Spu] = Counter()
        """How many outcomes of each plan wait to be settled."""
        self._rested: WeakKeyDictionary[Spu, float] = WeakKeyDictionary()
        """When the next round of a plan may begin."""
        self.rounds = 0

    def begin(self, behind: Iterable[Straggler], commit: int) -> None:
        """Follow plans that fell behind with a commit."""
        for straggler in behind:
            self._subscriptions.behind.setdefault(straggler.spu, commit - 1)
            self._spawn(self._follow(straggler))

    def spoil(self) -> None:
        """A commit was reversed, which a fork may have seen: its subscribers will need fresh answers."""
        for straggler in self._engine.stragglers:
            straggler.is_spoilt = True

    # -- rounds -------------------------------------------------------------------------------------------------

    async def _follow(self, straggler: Straggler) -> None:
        """Work on a plan until it has caught up, or has no subscriber any more."""
        spu, since = straggler.spu, self._clock()
        try:
            while spu in self._engine.stragglers and not straggler.is_over:
                await asyncio.sleep(max(self._rested.get(spu, 0.0) - self._clock(), 0.0))
                begun, held = self._clock(), await self._round(straggler, since)
                since = begun
                self._rested[spu] = self._clock() + min(PACE * held, LONGEST_PAUSE)
        except ShuttingDown as error:  # clients that resume after the restart get what they missed
            self._subscriptions.caught_up(spu, error)
        except TidingsError as error:
            self._let_go(straggler, error)
        except Exception:
            log.exception("internal error while a subscription is brought up to date")
            self._let_go(straggler, internal_error())
        finally:
            self._settle(spu)
            self._subscriptions.caught_up(spu)

    async def _round(self, straggler: Straggler, since: float) -> float:
        """Have a fork work out the changes, and notify of them. Returns how many seconds the event loop was busy."""
        async with self._forks.room.taken(_SHARE):
            if straggler.is_over:
                return 0.0
            self._check(straggler, since)
            begun = self._clock()
            found = straggler.begin()
            commit, at = self._commit_log.last_commit, self._commit_log.now()
            seconds = self._limits.seconds
            fork = self._forks.launch(partial(self._work_out, straggler, found), seconds=seconds)
            held = self._clock() - begun
            caught_up = await self._forks.outcome(fork, seconds=seconds)
            self._engine.stragglers.costs.add_aside(straggler.spu, self._clock() - begun - held)
        self.rounds += 1
        plan = straggler.fresh()
        for _ in straggler.take(plan, found, caught_up):
            await asyncio.sleep(0)
        if not straggler.is_over:
            begun = self._clock()
            self._rejoin(straggler, plan, found, caught_up, commit, at)
            held += self._clock() - begun
            self._engine.stragglers.costs.add(straggler.spu, held)
        return held

    def _check(self, straggler: Straggler, since: float) -> None:
        """Raises TooExpensive."""
        behind = self._clock() - since
        if behind > self._seconds:
            raise TooExpensive(f"it is {behind:.0f} s behind, and the limit of max_behind is {self._seconds:g} s")
        if self._limits.rows is not None and straggler.size > self._limits.rows:
            raise TooExpensive(f"more than {self._limits.rows:,} quads have changed meanwhile, the limit of max_rows")
        if straggler.is_outdated:
            raise TooExpensive("meanwhile a literal came back with its language tag spelt otherwise")

    def _work_out(self, straggler: Straggler, found: Round) -> CaughtUp:
        """Runs in the fork."""
        engine = self._engine
        engine.begin_apart(self._commit_log.time)
        return straggler.work_out(found, engine.store, engine.before, self._limits)

    def _rejoin(self, straggler: Straggler, plan: Spu, found: Round, caught_up: CaughtUp, commit: int, at: int) -> None:
        spu, now = straggler.spu, self._commit_log.now()
        self._engine.core.tell_time(now)
        late = self._engine.stragglers.rejoin(straggler, plan, found, caught_up)
        subscribers = self._subscribers(spu)
        if straggler.is_spoilt:
            straggler.is_spoilt = False
            for subscriber in subscribers:
                self._notifier.invalidate(subscriber, _SPOILT)
        for each, number, when in zip(late, (commit, self._commit_log.last_commit), (at, now), strict=False):
            self._on_the_way[spu] += 1
            self._commit_log.wait(PendingLate(number, when, spu, each, subscribers))

    def _subscribers(self, spu: Spu) -> tuple[Subscriber, ...]:
        by_handle = self._subscriptions.by_handle
        handles = (handle for leaf in spu.members.values() for handle in values_of(leaf))
        return tuple(by_handle[handle.id] for handle in handles if handle.id in by_handle)

    def _let_go(self, straggler: Straggler, error: TidingsError) -> None:
        """End the subscriptions of a plan that costs too much."""
        log.warning("a plan that was behind cannot catch up, and its subscriptions end: %s", error)
        self._notifier.let_go(self._subscribers(straggler.spu), str(error))

    # -- for the settlement -------------------------------------------------------------------------------------

    def tell(self, pending: PendingLate) -> None:
        """All commits that the fork has seen are durable: notify the subscribers."""
        self._arrived(pending)
        changes = {each.subscription.id: each.changes for each in pending.late.notifications}
        parcel: Parcel | None = None
        for subscriber in pending.subscribers:
            change, variables = changes.get(subscriber.handle.id, _NOTHING), subscriber.handle.variables
            if parcel is None or parcel.changes is not change or parcel.variables != variables:
                parcel = Parcel(pending.commit, pending.time, variables, change, merged=pending.late.commits)
            self._notifier.tell_late(subscriber, parcel)

    def lose(self, pending: PendingLate, error: TidingsError) -> None:
        """A commit that the fork has seen was reversed."""
        self._arrived(pending)
        for subscriber in pending.subscribers:
            if subscriber in self._subscriptions:
                self._notifier.invalidate(subscriber, str(error))

    def _arrived(self, pending: PendingLate) -> None:
        spu, behind = pending.spu, self._subscriptions.behind
        self._on_the_way[spu] -= 1
        if spu in behind:
            behind[spu] = pending.commit
        self._settle(spu)

    def _settle(self, spu: Spu) -> None:
        """A plan is not behind any more once all its rounds are settled and it has caught up."""
        if not self._on_the_way[spu]:
            del self._on_the_way[spu]
            if spu not in self._engine.stragglers:
                self._subscriptions.behind.pop(spu, None)
