"""Observed answers (RFC 7641): the observers get the new answer whenever it changes.

    {"results": …, "sequence": 4, "commit": 17}

A notification is the whole answer, and not a change: notifications may get lost, and then the last one is still right.
All observers of the same query with the same rights share one subscription, its rows and their encoding.
"""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from msgspec import Struct

from tidings.broker.subscriptions.subscriber import Origin, Parcel, Subscriber
from tidings.gates.caller import Caller
from tidings.gates.coap.content import Members
from tidings.gates.gate import Counts
from tidings.gates.premises import Premises
from tidings.model.errors import MayNotSubscribe, TidingsError
from tidings.model.formats.results.json import write_json
from tidings.model.results import Row, Solutions
from tidings.model.zset import absorb

Changed: TypeAlias = Callable[[TidingsError | None], None]
"""Called when the answer has changed, or has ended with an error."""


class Topic(Struct, frozen=True):
    """The key of an observed answer: the query, and the credentials."""

    sparql: str
    default: tuple[str, ...]
    named: tuple[str, ...]
    authorization: str | None

    @classmethod
    def of(cls, members: Members) -> "Topic":
        graphs = members.graphs
        return cls(members.text, graphs.default, graphs.named, members.authorization)


class Observed:
    """One observed answer, with a session of its own."""

    def __init__(self, premises: Premises, counts: Counts, topic: Topic, where: str) -> None:
        origin = Origin("coap", where)
        self._caller = Caller(premises, self, counts, shown=topic.authorization, where=where, origin=origin)
        self._rows: dict[Row, int] = {}
        self._variables: tuple[str, ...] = ()
        self._sequence = 0
        self._commit = 0
        self._document: bytes | None = None
        self.observers: set[Changed] = set()
        self.failed: TidingsError | None = None

    async def begin(self, members: Members, base: str) -> None:
        """Subscribe, and wait for the first answer. Raises the error if the broker refuses."""
        try:
            await self._caller.subscribe(members.text, members.graphs.dataset(base), self._begun)
        except BaseException:
            self._caller.leave()
            raise

    def leave(self) -> None:
        """Close the session without ending the subscription: the broker is stopping."""
        self._caller.leave()

    async def end(self) -> None:
        """The last observer has left: end the subscription."""
        for subscriber in list(self._caller.session.subscribers.values()):
            await self._caller.unsubscribe(subscriber.spuid)
        self._caller.leave()

    def document(self) -> bytes:
        """The present answer in JSON, made once for all observers."""
        if self._document is None:
            rows = Solutions(self._variables, _repeated(self._rows.items()))
            results = b"".join(write_json(rows))
            self._document = b'{"results":%b,"sequence":%d,"commit":%d}' % (results, self._sequence, self._commit)
        return self._document

    # -- for the broker -------------------------------------------------------------------------------------------

    def _begun(self, subscriber: Subscriber, parcel: Parcel, resumed: bool | None) -> None:
        self._variables = parcel.variables
        self._take(subscriber.sequence, parcel)

    def deliver(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None:
        self._take(sequence, parcel)
        self._tell(None)

    def dismiss(self, subscriber: Subscriber, reason: str, code: int) -> None:
        self._tell(MayNotSubscribe(reason))

    def close(self, code: int, reason: str) -> None:
        self._tell(TidingsError(reason))

    def _take(self, sequence: int, parcel: Parcel) -> None:
        absorb(self._rows, parcel.changes.items())
        self._sequence, self._commit, self._document = sequence, parcel.commit, None

    def _tell(self, error: TidingsError | None) -> None:
        self.failed = error
        for observer in list(self.observers):
            observer(error)


def _repeated(rows: Iterable[tuple[Row, int]]) -> Iterable[Row]:
    for row, count in rows:
        for _ in range(count):
            yield row
