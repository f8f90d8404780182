"""All subscriptions: who has which, who is told what, who came back, who is gone for good.

A subscription outlives its connection for a grace time, and the broker: it is written to the log when it is made, and
made again, with its numbers, when the log is replayed.
"""

import logging
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Literal, TypeAlias
from uuid import uuid4

from msgspec import Struct

from tidings.engine.engine import Commit, Engine, Failure
from tidings.log.entry import Note
from tidings.model.errors import TidingsError
from tidings.model.results import Row
from tidings.model.zset import ZSet
from tidings.service.chronicle import Chronicle
from tidings.service.errors import NotYours, TooManySubscriptions, UnknownSubscription
from tidings.service.records import Record
from tidings.service.subscriber import UNKNOWN, Alias, Parcel, Session, Spuid, Subscriber
from tidings.sparql.algebra import Dataset

TOO_SLOW = 4008
"""Close code: the client takes less than it is sent; it may come back and resume."""
LOST = 1011
"""Close code: something failed here."""
TAKEN_OVER = 4009
"""Close code: the subscription was resumed over another connection."""

SlowPolicy: TypeAlias = Literal["merge", "disconnect"]
Answered: TypeAlias = Callable[[Subscriber, Parcel, bool], None]
"""How a new or resumed subscription is answered: its first parcel, and whether it goes on where it was."""
Refused: TypeAlias = Callable[[TidingsError], None]

log = logging.getLogger("tidings")


class Bounds(Struct, frozen=True):
    """How much is kept for subscribers, and how long."""

    subscriptions: int = 1_000_000
    retain: int = 64
    """Numbered notifications that are kept for one that comes back."""
    rows: int = 100_000
    """Rows that may wait for one subscriber."""
    grace: float = 60.0
    """Seconds that a subscription outlives its connection."""
    slow: SlowPolicy = "merge"


class Subscriptions:
    """The registry. `clock` counts seconds."""

    def __init__(self, engine: Engine, chronicle: Chronicle, bounds: Bounds, clock: Callable[[], float]) -> None:
        self._engine = engine
        self._chronicle = chronicle
        self._bounds = bounds
        self._clock = clock
        self._by_spuid: dict[Spuid, Subscriber] = {}
        self._by_number: dict[int, Subscriber] = {}
        self._absent: dict[Subscriber, None] = {}
        self.told = 0
        """The last commit that everybody concerned was told of; later ones are on their way to the disk."""
        self.notified = 0
        self.merged = 0
        self.dropped_slow = 0
        self.resumed = 0
        self.refreshed = 0
        self.released = 0

    def __len__(self) -> int:
        return len(self._by_spuid)

    def __iter__(self) -> Iterator[Subscriber]:
        return iter(self._by_spuid.values())

    @property
    def absent(self) -> int:
        """Subscriptions whose client is away."""
        return len(self._absent)

    def absence(self, subscriber: Subscriber) -> float | None:
        """Seconds that its client has been away; None if it is there."""
        return self._clock() - subscriber.left if subscriber in self._absent else None

    def find(self, spuid: str) -> Subscriber:
        subscriber = self._by_spuid.get(Spuid(spuid))
        if subscriber is None:
            raise UnknownSubscription(f"there is no subscription {spuid}; it may have been released")
        return subscriber

    # -- beginning and end --------------------------------------------------------------------------------------

    def subscribe(
        self,
        session: Session,
        text: str,
        dataset: Dataset | None,
        alias: Alias,
        rights: Hashable,
        answered: Answered,
        refused: Refused,
    ) -> None:
        """Begin a subscription; it is answered with the whole answer once that is durable."""
        if len(self._by_spuid) >= self._bounds.subscriptions:
            raise TooManySubscriptions(f"the broker holds {self._bounds.subscriptions:,} subscriptions, and no more")
        self._chronicle.check()
        spuid = Spuid(f"urn:uuid:{uuid4()}")
        subscriber, parcel = self._enter(spuid, text, dataset, alias, rights)
        self._attach(subscriber, session)
        note = Note("subscribe", Record.of(subscriber, whole=False).to_json())

        def undo(error: TidingsError) -> None:
            self._leave(subscriber)
            refused(error)

        self._chronicle.note(note, lambda: answered(subscriber, parcel, False), undo)

    def _enter(
        self, spuid: Spuid, text: str, dataset: Dataset | None, alias: Alias, rights: Hashable
    ) -> tuple[Subscriber, Parcel]:
        now = self._chronicle.now()
        handle, rows = self._engine.subscribe(text, dataset, now=now, rights=rights)
        subscriber = Subscriber(spuid, text, dataset, alias, rights, handle)
        self._by_spuid[spuid] = subscriber
        self._by_number[handle.id] = subscriber
        return subscriber, Parcel(self._chronicle.seq, now, handle.variables, ZSet((row, 1) for row in rows))

    def unsubscribe(self, session: Session | None, spuid: str, done: Callable[[], None]) -> None:
        """End a subscription of one's own. Raises UnknownSubscription, NotYours."""
        subscriber = self.find(spuid)
        if subscriber.session not in {session, None}:
            raise NotYours("the subscription belongs to another connection")
        self._release(subscriber, done)

    def _release(self, subscriber: Subscriber, done: Callable[[], None]) -> None:
        self._leave(subscriber)
        # If this cannot be written, the subscription is back after a restart, with nobody there, and ends again.
        self._chronicle.note(Note("unsubscribe", {"spuid": subscriber.spuid}), done, lambda _: done())

    def _leave(self, subscriber: Subscriber) -> None:
        self._detach(subscriber)
        self._absent.pop(subscriber, None)
        self._by_spuid.pop(subscriber.spuid, None)
        if self._by_number.pop(subscriber.handle.id, None) is not None:
            self._engine.unsubscribe(subscriber.handle.id)

    # -- connections --------------------------------------------------------------------------------------------

    def _attach(self, subscriber: Subscriber, session: Session) -> None:
        subscriber.session = session
        session.subscribers[subscriber.spuid] = subscriber
        self._absent.pop(subscriber, None)

    def _detach(self, subscriber: Subscriber) -> None:
        session, subscriber.session = subscriber.session, None
        if session is not None:
            session.subscribers.pop(subscriber.spuid, None)
            session.owed.pop(subscriber, None)

    def disconnect(self, session: Session) -> None:
        """A client is gone, perhaps not for long."""
        session.open = False
        for subscriber in list(session.subscribers.values()):
            self._detach(subscriber)
            self._miss(subscriber)

    def _miss(self, subscriber: Subscriber) -> None:
        subscriber.left = self._clock()
        self._absent[subscriber] = None
        if subscriber.pending is not None and not subscriber.flushing:
            self._flush(subscriber)

    def release_absent(self) -> None:
        """Let those go whose grace time is over."""
        before = self._clock() - self._bounds.grace
        for subscriber in list(self._absent):  # in the order in which they left
            if subscriber.left > before:
                break
            self.released += 1
            self._release(subscriber, lambda: None)

    # -- telling ------------------------------------------------------------------------------------------------

    def tell(self, sequence: int, time: int, commit: Commit) -> None:
        """Tell everybody concerned of a commit."""
        self.told = sequence
        parcel: Parcel | None = None
        by_number = self._by_number
        retain, rows = self._bounds.retain, self._bounds.rows
        for notification in commit.notifications:
            handle = notification.subscription
            subscriber = by_number.get(handle.id)
            if subscriber is None:
                continue  # it ended while the commit was on its way to the disk
            changes = notification.changes
            if parcel is None or parcel.changes is not changes or parcel.variables != handle.variables:
                parcel = Parcel(sequence, time, handle.variables, changes)
            session = subscriber.session
            if subscriber.flushing or subscriber.pending is not None or (session is not None and session.full):
                self._put_aside(subscriber, parcel)
                continue
            number = subscriber.number(parcel, retain, rows)
            if session is not None:
                self.notified += 1
                session.post.deliver(subscriber, number, parcel)

    def _put_aside(self, subscriber: Subscriber, parcel: Parcel) -> None:
        subscriber.put_aside(parcel)
        pending = subscriber.pending
        assert pending is not None
        session = subscriber.session
        if pending.merged > 1:
            self.merged += 1
        if session is None:
            return
        session.owed[subscriber] = None
        if session.open and (self._bounds.slow == "disconnect" or pending.rows > self._bounds.rows):
            self.dropped_slow += 1
            self._close(session, TOO_SLOW, "too slow: come back and resume")

    def _close(self, session: Session, code: int, reason: str) -> None:
        session.open = False
        session.post.close(code, reason)

    def filled(self, session: Session) -> None:
        """A connection takes nothing more for now."""
        session.full = True

    def drained(self, session: Session) -> None:
        """A connection has room again: send what was added up meanwhile."""
        session.full = False
        for subscriber in list(session.owed):
            if subscriber.pending is not None and not subscriber.flushing:
                self._flush(subscriber)
            session.owed.pop(subscriber, None)

    def _flush(self, subscriber: Subscriber) -> None:
        """Number what is pending, and send it. If several changes became one, the number has to be durable first."""
        parcel, subscriber.pending = subscriber.pending, None
        assert parcel is not None
        number = subscriber.number(parcel, self._bounds.retain, self._bounds.rows)
        if parcel.merged == 1:
            self._send(subscriber, number, parcel)
        else:
            self._anchor(subscriber, parcel, lambda: self._send(subscriber, number, parcel))

    def _send(self, subscriber: Subscriber, number: int, parcel: Parcel) -> None:
        if subscriber.session is not None:
            self.notified += 1
            subscriber.session.post.deliver(subscriber, number, parcel)

    def _anchor(self, subscriber: Subscriber, parcel: Parcel, then: Callable[[], None]) -> None:
        """Write down the number of a subscriber with a commit, because it is not the count of its changes."""
        subscriber.flushing = True
        content = {"spuid": subscriber.spuid, "sequence": subscriber.sequence, "commit": parcel.commit}

        def release() -> None:
            subscriber.flushing = False
            then()
            if subscriber.pending is not None and not (subscriber.session is not None and subscriber.session.full):
                self._flush(subscriber)

        def undo(error: TidingsError) -> None:
            subscriber.flushing = False
            subscriber.forget()
            if subscriber.session is not None:
                self._close(subscriber.session, LOST, str(error))

        self._chronicle.note(Note("anchor", content), release, undo)

    def untell(self, commit: Commit, undone: Commit) -> None:
        """A commit was taken back before anybody was told of it. Whose answer is not what it was, is let go.

        That happens to queries that ask for the time, which has gone on meanwhile."""
        net: dict[int, ZSet[Row]] = {}
        for notification in (*commit.notifications, *undone.notifications):
            number = notification.subscription.id
            net[number] = net[number] + notification.changes if number in net else notification.changes
        for number, changes in net.items():
            subscriber = self._by_number.get(number)
            if changes and subscriber is not None:
                subscriber.forget()
                if subscriber.session is not None:
                    self._close(subscriber.session, LOST, "the log failed; come back for a fresh answer")

    def lose(self, failures: list[Failure]) -> None:
        """Plans that failed: their clients are let go, and get a fresh answer when they come back."""
        for failure in failures:
            log.error("a subscription failed and was ended: %s", failure.error, exc_info=failure.error)
            for handle in failure.subscriptions:
                subscriber = self._by_number.pop(handle.id, None)
                if subscriber is not None:
                    session = subscriber.session
                    self._release(subscriber, lambda: None)
                    if session is not None:
                        self._close(session, LOST, "a subscription of yours failed here")
        failures.clear()

    # -- coming back --------------------------------------------------------------------------------------------

    def resume(self, session: Session, spuid: str, sequence: int, answered: Answered, refused: Refused) -> None:
        """Take a subscription up again where its client left off, or else with a fresh answer."""
        subscriber = self.find(spuid)
        # What is on its way to the disk is told first; then it is known what was missed.
        self._chronicle.scribe.step(lambda: self._resume(subscriber, session, sequence, answered, refused), refused)

    def _resume(
        self, subscriber: Subscriber, session: Session, sequence: int, answered: Answered, refused: Refused
    ) -> None:
        if not session.open:
            return
        if subscriber.spuid not in self._by_spuid:
            refused(UnknownSubscription("the subscription was released"))
            return
        if subscriber.flushing:  # a number of it is on its way to the disk: what comes after that comes after that
            self._chronicle.scribe.step(lambda: self._resume(subscriber, session, sequence, answered, refused), refused)
            return
        old = subscriber.session
        if old is not None and old is not session:  # its client has noticed the break before we did
            self._detach(subscriber)
            if not old.subscribers:
                self._close(old, TAKEN_OVER, "the subscription was resumed over another connection")
        self._attach(subscriber, session)
        if subscriber.pending is not None:
            parcel, subscriber.pending = subscriber.pending, None
            subscriber.number(parcel, self._bounds.retain, self._bounds.rows)
        missed = subscriber.missed(sequence)
        try:
            if missed is None:
                self._refresh(subscriber, answered)
            else:
                self._continue(subscriber, sequence, missed, answered)
        except TidingsError as error:
            refused(error)

    def _continue(self, subscriber: Subscriber, sequence: int, missed: list[Parcel], answered: Answered) -> None:
        self.resumed += 1
        handle = subscriber.handle
        whole = Parcel(self.told, self._chronicle.now(), handle.variables, ZSet(), merged=0)
        for parcel in missed:
            whole += parcel
        whole.commit = self.told
        subscriber.retained = None
        subscriber.held = 0
        subscriber.sequence = sequence
        subscriber.number(whole, self._bounds.retain, self._bounds.rows)
        self._anchor(subscriber, whole, lambda: self._answer_again(subscriber, whole, answered, True))

    def _refresh(self, subscriber: Subscriber, answered: Answered) -> None:
        """Begin anew under the same name: the plan is made again, so its answer is that of this moment."""
        self.refreshed += 1
        old = subscriber.handle
        now = self._chronicle.now()
        handle, rows = self._engine.subscribe(subscriber.text, subscriber.dataset, now=now, rights=subscriber.rights)
        self._by_number.pop(old.id, None)
        self._engine.unsubscribe(old.id)
        self._by_number[handle.id] = subscriber
        subscriber.handle = handle
        subscriber.retained = None
        subscriber.held = 0
        subscriber.sequence = 0
        whole = Parcel(self._chronicle.seq, now, handle.variables, ZSet((row, 1) for row in rows))
        self._anchor(subscriber, whole, lambda: self._answer_again(subscriber, whole, answered, False))

    def _answer_again(self, subscriber: Subscriber, whole: Parcel, answered: Answered, resumed: bool) -> None:
        if subscriber.session is not None:
            answered(subscriber, whole, resumed)

    # -- the log ------------------------------------------------------------------------------------------------

    def restore(self, note: Note) -> None:
        """Do again what a note of the log, or of a snapshot, says was done."""
        content = note.content
        match note.kind:
            case "subscribe":
                self._restore(content)
            case "unsubscribe":
                subscriber = self._by_spuid.get(content["spuid"])
                if subscriber is not None:
                    self._leave(subscriber)
            case "anchor":
                subscriber = self._by_spuid.get(content["spuid"])
                if subscriber is not None and subscriber.sequence != UNKNOWN:
                    subscriber.anchor(content["sequence"], content["commit"])

    def _restore(self, content: dict[str, Any]) -> None:
        record = Record.read(content)
        try:
            subscriber, _ = self._enter(record.spuid, record.sparql, record.dataset, record.alias, None)
        except TidingsError as error:
            log.warning("the subscription %s cannot be taken up again: %s", record.spuid, error)
            return
        subscriber.sequence = record.sequence - len(record.retained)
        for parcel in record.parcels(subscriber.handle.variables):
            subscriber.number(parcel, self._bounds.retain, self._bounds.rows)
        if record.sequence == UNKNOWN or self._engine.depends_on_chance(subscriber.handle):
            subscriber.forget()
        self._miss(subscriber)

    def notes(self) -> Iterable[Note]:
        """For a snapshot: every subscription as it is."""
        return (Note("subscribe", Record.of(each, whole=True).to_json()) for each in self._by_spuid.values())
