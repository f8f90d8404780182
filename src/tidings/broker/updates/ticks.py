"""Time that passes for subscriptions whose answers compare with NOW(): the engine is told when something is due.

Nothing of this is written down: what was told of it could not be told again in the same numbers. But it has its place
among the commits, behind those that are on their way to the disk.
"""

from collections.abc import Callable

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.pending import PendingTick
from tidings.broker.subscriptions.notifier import Notifier
from tidings.broker.subscriptions.stragglers import Stragglers
from tidings.engine.commit import NOTHING
from tidings.engine.engine import Engine


class Ticks:
    """Has the clock of an engine tick."""

    def __init__(self, engine: Engine, commit_log: CommitLog, notifier: Notifier, stragglers: Stragglers) -> None:
        self._engine = engine
        self._commit_log = commit_log
        self._notifier = notifier
        self._stragglers = stragglers
        self.told = 0
        """Notifications of what changed without a commit."""
        engine.clock.is_kept = True

    def begin(self, set_timer: Callable[[], None]) -> None:
        """From here on, `set_timer` is called when something may be due earlier."""
        self._engine.clock.wake = set_timer

    def pause(self, now: int, longest: float) -> float:
        """Seconds until an answer changes, or the longest that may be waited for that."""
        due = self._engine.clock.next()
        return longest if due is None else min(longest, max(0.0, (due - now) / 1e6))

    def carry_out(self, now: int) -> None:
        """Whatever is due by now."""
        due = self._engine.clock.next()
        if due is None or due > now:
            return
        log = self._commit_log
        tick = self._engine.tick(log.now())
        self._notifier.end_failed(tick.failures)
        self._stragglers.begin(tick.behind, log.last_commit + 1)
        if tick.notifications:
            pending = PendingTick(log.last_commit, log.time, tick)
            if log.is_busy:
                log.wait(pending)
            else:
                self.tell(pending)

    # -- for the settlement -------------------------------------------------------------------------------------

    def tell(self, pending: PendingTick) -> None:
        """Everything that it was seen with is durable."""
        self.told += len(pending.tick.notifications)
        self._notifier.notify(pending.commit, pending.time, pending.tick)

    def lose(self, pending: PendingTick) -> None:
        """A commit before it was taken back. Time was not: who should have been told has to begin anew."""
        self._notifier.retract(pending.tick, NOTHING)
