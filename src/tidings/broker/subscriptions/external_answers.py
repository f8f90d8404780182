"""Subscriptions whose answers an external engine works out, as a job on a cluster does: asked for there, told here.

What it says comes by commits, in batches that stay where they are. So it is enough to know the last commit that a
subscriber was told of: batches may be read again, after a restart say, and nobody is told anything twice.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from tidings.broker.errors import NotToldInTime, UnknownSubscription
from tidings.broker.subscriptions.subscriber import UNKNOWN, Answered, Parcel, Reached, Refused, Subscriber
from tidings.model.access import Graphs
from tidings.model.errors import TidingsError
from tidings.model.results import Row
from tidings.sparql.algebra import Dataset


class ExternalEngine(Protocol):
    """Whoever works out the answers. Nothing here waits."""

    def check(self, text: str) -> None:
        """Raises what is wrong with a query that cannot be worked out there."""

    def request(self, spuid: str, text: str, dataset: Dataset | None, graphs: Graphs) -> None:
        """Begin a subscription, which sees these graphs and no others."""

    def end(self, spuid: str) -> None:
        """End one, which may have ended already."""


class ExternalNotification(Protocol):
    """What a subscriber is to be told. The first is its answer, with the number 0; with a reason, it is the last."""

    @property
    def spuid(self) -> str: ...
    @property
    def sequence(self) -> int: ...
    @property
    def commit(self) -> int: ...
    @property
    def time(self) -> int: ...
    @property
    def added(self) -> Iterable[Row]: ...
    @property
    def removed(self) -> Iterable[Row]: ...
    @property
    def reason(self) -> str | None: ...


class _Waiting(NamedTuple):
    until: float
    answered: Answered
    refused: Refused


class ExternalAnswers:
    """Who waits for a first answer, and up to which batch everybody was told. `clock` counts seconds."""

    def __init__(self, engine: ExternalEngine, patience: float, clock: Callable[[], float]) -> None:
        self._engine = engine
        self._patience = patience
        self._clock = clock
        self._waiting: dict[Subscriber, _Waiting] = {}
        self.last_batch = -1
        """The last one that was told in full."""

    def __len__(self) -> int:
        """How many wait for a first answer."""
        return len(self._waiting)

    def check(self, text: str) -> None:
        """Raises what is wrong with a query that the external engine cannot work out."""
        self._engine.check(text)

    def wait(self, subscriber: Subscriber, answered: Answered, refused: Refused) -> None:
        """A subscriber begins, and has no answer yet."""
        subscriber.begin_at(UNKNOWN)
        subscriber.reached = Reached(self.last_batch, -1)
        self._waiting[subscriber] = _Waiting(self._clock() + self._patience, answered, refused)

    def request(self, subscriber: Subscriber) -> None:
        """Ask for a subscriber's answers, unless it has gone meanwhile."""
        if subscriber in self._waiting:
            self._engine.request(subscriber.spuid, subscriber.text, subscriber.dataset, subscriber.rights.subscribe)

    def answer(self, subscriber: Subscriber, parcel: Parcel) -> None:
        """The first answer is here. After a restart nobody waits for it."""
        subscriber.begin_at(0)
        waiting = self._waiting.pop(subscriber, None)
        if waiting is not None:
            waiting.answered(subscriber, parcel, False)

    def refuse(self, subscriber: Subscriber, error: TidingsError) -> bool:
        """There will be no first answer; whether anybody waited for it."""
        waiting = self._waiting.pop(subscriber, None)
        if waiting is not None:
            waiting.refused(error)
        return waiting is not None

    def end(self, subscriber: Subscriber) -> None:
        self.refuse(subscriber, UnknownSubscription("the subscription was ended before its first answer"))
        self._engine.end(subscriber.spuid)

    def refuse_overdue(self) -> list[Subscriber]:
        """Those who have waited for too long, and were told so."""
        now = self._clock()
        overdue = [subscriber for subscriber, waiting in self._waiting.items() if waiting.until <= now]
        error = NotToldInTime(f"there was no first answer within {self._patience:g} s: is the job running?")
        return [subscriber for subscriber in overdue if self.refuse(subscriber, error)]

    def record(self, reached: Reached) -> Reached:
        """How far a subscriber was told, counting batches that had nothing for it."""
        return Reached(max(reached.batch, self.last_batch), reached.commit)
