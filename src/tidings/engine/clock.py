"""What time it is for the answers of subscriptions that compare with NOW(), and when one of them changes next.

    commit at t   the instant goes on to t, but never past a change that nobody has been told of
    tick at t     the instant is t: whatever changes by that is told

A commit tells what its data change and a tick what time changes, so that a commit can be taken back.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tidings.engine.due_times import DueTimes
from tidings.engine.plans.spu import Routed, Spu
from tidings.sparql.evaluate.context import Moment


def _nobody() -> None:
    """Nobody waits."""


class Clock:
    """The instant, and the plans whose answers change with it. Unless it `is_kept`, by somebody who has it tick, no
    answer depends on it."""

    __slots__ = ("_due_times", "_plans", "is_kept", "moment", "past", "wake")

    def __init__(self) -> None:
        self.moment = Moment()
        self.past = Moment()
        """For what is looked up in the state before: the instant before the last tick, or that of the last commit."""
        self.is_kept = False
        self._plans: set[Routed] = set()
        self._due_times: DueTimes[Routed] = DueTimes()
        self.wake: Callable[[], None] = _nobody
        """Called when the next change is earlier than it was."""

    def __contains__(self, spu: Routed) -> bool:
        return spu in self._plans

    def __bool__(self) -> bool:
        """Whether any answer changes with it."""
        return bool(self._plans)

    @property
    def instant(self) -> int:
        return self.moment.now

    def next(self) -> int | None:
        """When an answer changes next, unless a commit changes it before."""
        return self._due_times.next()

    def go_on(self, now: int) -> None:
        """Time has passed until now; if a change is due, only until then."""
        if self._plans and (due := self._due_times.next()) is not None and now >= due:
            now = due - 1
        moment = self.moment
        moment.now = max(moment.now, now)
        self.past.now = moment.now

    def strike(self, now: int) -> list[Routed]:
        """It is now: the plans whose answers may change by that."""
        self.past.now = self.moment.now
        self.moment.now = max(self.moment.now, now)
        return [spu for spu, _ in self._due_times.due(self.moment.now)]

    @contextmanager
    def since(self, instant: int) -> Iterator[None]:
        """While somebody catches up who knows the answers of an earlier instant."""
        before, self.past.now = self.past.now, instant
        try:
            yield
        finally:
            self.past.now = before

    def look(self, spu: Spu) -> None:
        """A plan may have other instants to wait for than before."""
        if spu.is_clocked:
            self._plans.add(spu)
            earliest, at = self._due_times.next(), spu.due()
            self._due_times.put(spu, at)
            if at is not None and (earliest is None or at < earliest):
                self.wake()

    def wait(self, spu: Routed) -> None:
        """A plan is behind: nothing is due before it has caught up."""
        self._due_times.put(spu, None)

    def forget(self, spu: Routed) -> None:
        """Nobody has a plan any more."""
        self._plans.discard(spu)
        self._due_times.put(spu, None)
