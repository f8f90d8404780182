"""The timing components and counters of the SPS paper (section IV): where the time of an update goes.

    T_UPDATE   from the text to the applied delta    T_LUTT    finding the plans that it may concern
    T_BOOSTER  advancing these plans                 T_NOTIFY  making notifications of the changes

The engine always counts, and measures times only if it has a clock.
"""

from collections.abc import Callable


class Timing:
    """Sums since the start or the last reset."""

    __slots__ = (
        "booster",
        "clock",
        "commits",
        "hits",
        "lutt",
        "notifications",
        "notify",
        "quads",
        "requests",
        "update",
    )

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        self.clock = clock
        self.reset()

    def reset(self) -> None:
        self.update = self.lutt = self.booster = self.notify = 0.0
        self.requests = 0
        """Update requests, n."""
        self.commits = 0
        """Requests that changed anything."""
        self.quads = 0
        """Quads removed or added; half of it is the paper's Nu for updates that replace values."""
        self.hits = 0
        """Subscriptions that a commit might have concerned, summed over commits."""
        self.notifications = 0
        """Subscriptions that a commit did concern, summed over commits."""

    def hit_rate(self, subscriptions: int) -> float:
        """LHR in per cent: hits over all pairs of update and subscription (equation 5)."""
        pairs = subscriptions * self.requests
        return 100.0 * self.hits / pairs if pairs else 0.0

    @property
    def false_alarms(self) -> int:
        return self.hits - self.notifications
