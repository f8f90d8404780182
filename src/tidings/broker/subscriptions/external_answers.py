"""Subscriptions whose answers an external engine works out, such as a job on Spark; the broker sends its notifications.

The engine writes notifications in batches, by commits, and keeps the batches. The broker remembers for each subscriber
the last commit of which it has notified it. So it can read batches again, say after a restart, and sends nothing twice.
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
    """Works out the answers of subscriptions. No method blocks."""

    def check(self, text: str) -> None:
        """Raises what is wrong with a query that the engine cannot evaluate."""

    def request(self, spuid: str, text: str, dataset: Dataset | None, graphs: Graphs) -> None:
        """Begin a subscription to these graphs and no others."""

    def end(self, spuid: str) -> None:
        """End a subscription, which may have ended already."""


class ExternalNotification(Protocol):
    """A notification of the engine. The one with the sequence 0 is the first answer; one with a reason is the last."""

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
    """The subscribers that wait for a first answer, and the last batch that was sent. `clock` counts seconds."""

    def __init__(self, engine: ExternalEngine, patience: float, clock: Callable[[], float]) -> None:
        self._engine = engine
        self._patience = patience
        self._clock = clock
        self._waiting: dict[Subscriber, _Waiting] = {}
        self.last_batch = -1
        """The last batch whose notifications were all sent."""

    def __len__(self) -> int:
        """How many subscribers wait for a first answer."""
        return len(self._waiting)

    def check(self, text: str) -> None:
        """Raises what is wrong with a query that the external engine cannot evaluate."""
        self._engine.check(text)

    def wait(self, subscriber: Subscriber, answered: Answered, refused: Refused) -> None:
        """Register a new subscriber that waits for its first answer."""
        subscriber.begin_at(UNKNOWN)
        subscriber.reached = Reached(self.last_batch, -1)
        self._waiting[subscriber] = _Waiting(self._clock() + self._patience, answered, refused)

    def request(self, subscriber: Subscriber) -> None:
        """Pass a subscription on to the engine, unless it has ended meanwhile."""
        if subscriber in self._waiting:
            self._engine.request(subscriber.spuid, subscriber.text, subscriber.dataset, subscriber.rights.subscribe)

    def answer(self, subscriber: Subscriber, parcel: Parcel) -> None:
        """The engine has sent the first answer. After a restart, no client waits for it."""
        subscriber.begin_at(0)
        waiting = self._waiting.pop(subscriber, None)
        if waiting is not None:
            waiting.answered(subscriber, parcel, False)

    def refuse(self, subscriber: Subscriber, error: TidingsError) -> bool:
        """Refuse a subscriber that waits for its first answer. Returns False if it does not wait."""
        waiting = self._waiting.pop(subscriber, None)
        if waiting is not None:
            waiting.refused(error)
        return waiting is not None

    def end(self, subscriber: Subscriber) -> None:
        self.refuse(subscriber, UnknownSubscription("the subscription was ended before its first answer"))
        self._engine.end(subscriber.spuid)

    def refuse_overdue(self) -> list[Subscriber]:
        """Refuse the subscribers that have waited for too long, and return them."""
        now = self._clock()
        overdue = [subscriber for subscriber, waiting in self._waiting.items() if waiting.until <= now]
        error = NotToldInTime(f"there was no first answer within {self._patience:g} s: is the job running?")
        return [subscriber for subscriber in overdue if self.refuse(subscriber, error)]

    def record(self, reached: Reached) -> Reached:
        """How far a subscriber was notified, including batches without a notification for it."""
        return Reached(max(reached.batch, self.last_batch), reached.commit)
