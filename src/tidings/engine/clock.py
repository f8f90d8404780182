"""The instant for answers of subscriptions that compare with NOW(), and when one of these answers changes next.

    commit at t   the instant advances to t, but not to or past an instant at which some answer changes by the clock
    tick at t     the instant advances to t, and the answers that change by that are brought up to date

So a commit has only changes by its data, and can be reversed; a tick has only changes by the clock.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tidings.engine.due_times import DueTimes
from tidings.engine.plans.spu import Routed, Spu
from tidings.sparql.evaluate.context import Moment


def _nobody() -> None:
    """The default of `wake`: there is no timer."""


class Clock:
    """The instant, and the plans whose answers change with it. Plans depend on it only if it `is_kept`, which says that
    somebody makes its ticks. Otherwise queries with NOW() are evaluated after every commit."""

    __slots__ = ("_due_times", "_plans", "is_kept", "moment", "past", "wake")

    def __init__(self) -> None:
        self.moment = Moment()
        self.past = Moment()
        """For look-ups in the state before: the instant before the last tick, or that of the last commit."""
        self.is_kept = False
        self._plans: set[Routed] = set()
        self._due_times: DueTimes[Routed] = DueTimes()
        self.wake: Callable[[], None] = _nobody
        """Called when the next change is earlier than it was."""

    def __contains__(self, spu: Routed) -> bool:
        return spu in self._plans

    def __bool__(self) -> bool:
        """Whether any answer changes with the clock."""
        return bool(self._plans)

    @property
    def instant(self) -> int:
        return self.moment.now

    def next(self) -> int | None:
        """When an answer will change next by the clock; None if none will."""
        return self._due_times.next()

    def go_on(self, now: int) -> None:
        """Advance the instant to `now`, but not as far as the next change by the clock."""
        if self._plans and (due := self._due_times.next()) is not None and now >= due:
            now = due - 1
        moment = self.moment
        moment.now = max(moment.now, now)
        self.past.now = moment.now

    def strike(self, now: int) -> list[Routed]:
        """Advance the instant to `now`. Returns the plans whose answers may change by that."""
        self.past.now = self.moment.now
        self.moment.now = max(self.moment.now, now)
        return [spu for spu, _ in self._due_times.due(self.moment.now)]

    @contextmanager
    def since(self, instant: int) -> Iterator[None]:
        """Within this context, the state before has this earlier instant: a newcomer catches up from there."""
        before, self.past.now = self.past.now, instant
        try:
            yield
        finally:
            self.past.now = before

    def look(self, spu: Spu) -> None:
        """Ask a plan when its answers change next; call this whenever that may be another instant than before."""
        if spu.is_clocked:
            self._plans.add(spu)
            earliest, at = self._due_times.next(), spu.due()
            self._due_times.put(spu, at)
            if at is not None and (earliest is None or at < earliest):
                self.wake()

    def wait(self, spu: Routed) -> None:
        """A plan is behind: it is not due before it has caught up."""
        self._due_times.put(spu, None)

    def forget(self, spu: Routed) -> None:
        """A plan has no subscriber any more."""
        self._plans.discard(spu)
        self._due_times.put(spu, None)
