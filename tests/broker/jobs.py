"""A job that works out subscriptions as the one on Spark does, by one unit and without Spark."""

from collections.abc import Sequence
from random import Random

from tidings.engine.store.store import Store
from tidings.log.entry import Entry
from tidings.spark.streaming.unit import Arrival, Change, Departure, Inbox, Member, Notification, Unit


class Job:
    """What it was told of the log, and of who wants what. Members begin after any of the commits of a batch."""

    def __init__(self, seed: int = 0, *, largest: int = 1_000_000) -> None:
        self.members: dict[str, Member] = {}
        self._random = Random(seed)
        self._unit = Unit(largest=largest)
        self._graph = Store()
        self._seq = 0
        self._time = 0
        self._version = 0

    def batch(self, entries: Sequence[Entry], wanted: dict[str, Member]) -> list[Notification]:
        """What there is to tell of commits, to those who are here and those who come."""
        coming = [member for spuid, member in wanted.items() if spuid not in self.members]
        going = [spuid for spuid in self.members if spuid not in wanted]
        self.members = dict(wanted)
        inbox = Inbox()
        begins = self._random.randint(0, len(entries))
        for number in range(len(entries) + 1):
            if coming and number == begins:
                self._version += 1
                inbox.arrivals[self._version] = Arrival(self._seq, self._time, coming, list(self._graph))
            if number < len(entries):
                self._take(entries[number], inbox)
        inbox.departures = [Departure(self._seq, 0, spuid) for spuid in going]
        return sorted(self._unit.take(inbox), key=lambda told: (told.commit, told.spuid, told.sequence))

    def _take(self, entry: Entry, inbox: Inbox) -> None:
        inbox.changes += [Change(entry.commit, entry.time, quad, weight) for quad, weight in entry.delta.items()]
        self._graph.apply(entry.delta)
        self._seq, self._time = entry.commit, entry.time
