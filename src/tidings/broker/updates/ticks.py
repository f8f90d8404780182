"""Updates answers that compare with NOW(): when one changes by the clock alone, the engine advances it in a *tick*.

Ticks are not in the log, because a replay could not repeat their notifications with the same sequences. But they keep
their place among the commits: the notifications of a tick wait until all commits before it are durable.
"""

from collections.abc import Callable

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.pending import PendingTick
from tidings.broker.subscriptions.notifier import Notifier
from tidings.broker.subscriptions.stragglers import Stragglers
from tidings.engine.commit import NOTHING
from tidings.engine.engine import Engine


class Ticks:
    """Makes the ticks of an engine, and notifies the subscribers of what they change."""

    def __init__(self, engine: Engine, commit_log: CommitLog, notifier: Notifier, stragglers: Stragglers) -> None:
        self._engine = engine
        self._commit_log = commit_log
        self._notifier = notifier
        self._stragglers = stragglers
        self.told = 0
        """How many notifications ticks have caused."""
        engine.clock.is_kept = True

    def begin(self, set_timer: Callable[[], None]) -> None:
        """From here on, the engine calls `set_timer` when an answer may change earlier than the timer is set to."""
        self._engine.clock.wake = set_timer

    def pause(self, now: int, longest: float) -> float:
        """Seconds until the next answer changes, but at most `longest`."""
        due = self._engine.clock.next()
        return longest if due is None else min(longest, max(0.0, (due - now) / 1e6))

    def carry_out(self, now: int) -> None:
        """Make a tick, if an answer is due to change."""
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
        """Everything before the tick is durable: notify the subscribers."""
        self.told += len(pending.tick.notifications)
        self._notifier.notify(pending.commit, pending.time, pending.tick)

    def lose(self, pending: PendingTick) -> None:
        """A commit before the tick was reversed, which cannot reverse the tick: its subscribers need fresh answers."""
        self._notifier.retract(pending.tick, NOTHING)
