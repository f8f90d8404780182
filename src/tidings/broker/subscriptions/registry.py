"""All subscriptions: who has which, who is told what, who came back, who is gone for good.

A subscription outlives its connection for a grace time, and the broker: it is written to the log when it is made, and
made again, with its numbers, when the log is replayed.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any
from uuid import uuid4

from tidings.broker.durability.commit_log import Chronicle
from tidings.broker.durability.group_commit import Release, Undo
from tidings.broker.errors import NotYours, TooManySubscriptions, UnknownSubscription
from tidings.broker.forks import Forks
from tidings.broker.subscriptions.external_answers import Relay
from tidings.broker.subscriptions.outbox import LOST, Bounds, Outboxes
from tidings.broker.subscriptions.roll import Roll
from tidings.broker.subscriptions.stored import Record
from tidings.broker.subscriptions.subscriber import (
    UNKNOWN,
    Alias,
    Answered,
    Parcel,
    Refused,
    Session,
    Spuid,
    Subscriber,
)
from tidings.engine.engine import Commit, Engine, Failure
from tidings.engine.explain import Explained
from tidings.log.entry import Note
from tidings.model.errors import TidingsError
from tidings.model.results import Row
from tidings.model.zset import ZSet
from tidings.sparql.algebra import Dataset

TAKEN_OVER = 4009
"""Close code: the subscription was resumed over another connection."""

log = logging.getLogger("tidings")


class Subscriptions:
    """The registry. `clock` counts seconds. With a relay, the engine only makes plans: it must hold no quads."""

    def __init__(
        self,
        engine: Engine,
        chronicle: Chronicle,
        bounds: Bounds,
        clock: Callable[[], float],
        relay: Relay | None = None,
    ) -> None:
        self._engine = engine
        self._chronicle = chronicle
        self._bounds = bounds
        self._clock = clock
        self.relay = relay
        self._by_spuid: dict[Spuid, Subscriber] = {}
        self._by_number: dict[int, Subscriber] = {}
        self.roll = Roll()
        self._absent: dict[Subscriber, None] = {}
        self.told = 0
        """The last commit that everybody concerned was told of; later ones are on their way to the disk."""
        self.outboxes = Outboxes(chronicle, bounds)
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

    def get(self, spuid: str) -> Subscriber | None:
        return self._by_spuid.get(Spuid(spuid))

    def find(self, spuid: str) -> Subscriber:
        subscriber = self._by_spuid.get(Spuid(spuid))
        if subscriber is None:
            raise UnknownSubscription(f"there is no subscription {spuid}; it may have been released")
        return subscriber

    def explain(self, subscriber: Subscriber) -> Explained:
        return self._engine.explain(subscriber.handle.id)

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
        subscriber, rows = self._begin(session, text, dataset, alias, rights)
        if self.relay is not None:
            self._ask(self.relay, subscriber, answered, refused)
            return
        try:
            parcel = self._first(subscriber, rows)
        except BaseException:
            self._leave(subscriber)
            raise

        def undo(error: TidingsError) -> None:
            self._leave(subscriber)
            refused(error)

        self._note(subscriber, lambda: answered(subscriber, parcel, False), undo)

    def _ask(self, relay: Relay, subscriber: Subscriber, answered: Answered, refused: Refused) -> None:
        """Have a subscription worked out elsewhere, once it is durable here."""

        def undo(error: TidingsError) -> None:
            relay.refuse(subscriber, error)
            self._leave(subscriber)

        relay.wait(subscriber, answered, refused)
        self._note(subscriber, lambda: relay.ask(subscriber), undo)

    async def subscribe_aside(
        self,
        session: Session,
        text: str,
        dataset: Dataset | None,
        alias: Alias,
        rights: Hashable,
        answered: Answered,
        encode: Callable[[Parcel], bytes],
        forks: Forks,
        seconds: float | None,
    ) -> None:
        """As `subscribe`, for a first answer that takes its time: a fork, made now, finds and encodes it.

        Changes wait until it has been sent. Raises what keeps it from being so, and nothing of it is left then."""
        subscriber, rows = self._begin(session, text, dataset, alias, rights)
        subscriber.flushing = True
        durable: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        try:
            parcel = Parcel(self._chronicle.seq, self._chronicle.now(), subscriber.handle.variables, ZSet())
            fork = forks.launch(lambda: encode(self._first(subscriber, rows)))
            self._note(subscriber, lambda: durable.set_result(None), durable.set_exception)
            parcel.encodings[encode] = await forks.outcome(fork, seconds=seconds)
            await durable
        except BaseException:
            self._leave(subscriber)
            raise
        if subscriber.spuid in self._by_spuid:
            answered(subscriber, parcel, False)
            subscriber.flushing = False
            self.outboxes.flush(subscriber)

    def _begin(
        self, session: Session, text: str, dataset: Dataset | None, alias: Alias, rights: Hashable
    ) -> tuple[Subscriber, Iterable[Row]]:
        if len(self._by_spuid) >= self._bounds.subscriptions:
            raise TooManySubscriptions(f"the broker holds {self._bounds.subscriptions:,} subscriptions, and no more")
        self._chronicle.check()
        if self.relay is not None:
            self.relay.check(text)
        subscriber, rows = self._enter(Spuid(f"urn:uuid:{uuid4()}"), text, dataset, alias, rights)
        self._attach(subscriber, session)
        return subscriber, rows

    def _enter(
        self, spuid: Spuid, text: str, dataset: Dataset | None, alias: Alias, rights: Hashable
    ) -> tuple[Subscriber, Iterable[Row]]:
        """A new subscriber, and its first answer, which is found as it is read."""
        handle, rows = self._engine.enroll(text, dataset, now=self._chronicle.now(), rights=rights)
        subscriber = Subscriber(spuid, text, dataset, alias, rights, handle)
        self._by_spuid[spuid] = subscriber
        self.roll.enter(subscriber)
        self._by_number[handle.id] = subscriber
        return subscriber, rows

    def _first(self, subscriber: Subscriber, rows: Iterable[Row]) -> Parcel:
        """The first answer as a change from nothing."""
        whole = ZSet.owning(dict(Counter(rows)))
        return Parcel(self._chronicle.seq, self._chronicle.time, subscriber.handle.variables, whole)

    def _note(self, subscriber: Subscriber, release: Release, undo: Undo) -> None:
        note = Note("subscribe", Record.of(subscriber, whole=False).to_json())
        self._chronicle.note(note, release, undo)

    def unsubscribe(self, session: Session | None, spuid: str, done: Callable[[], None]) -> None:
        """End a subscription of one's own. Raises UnknownSubscription, NotYours."""
        subscriber = self.find(spuid)
        if subscriber.session not in {session, None}:
            raise NotYours("the subscription belongs to another connection")
        self.release(subscriber, done)

    def release(self, subscriber: Subscriber, done: Callable[[], None] = lambda: None) -> None:
        """End a subscription, whoever has it."""
        self._leave(subscriber)
        # If this cannot be written, the subscription is back after a restart, with nobody there, and ends again.
        self._chronicle.note(Note("unsubscribe", {"spuid": subscriber.spuid}), done, lambda _: done())

    def _leave(self, subscriber: Subscriber) -> None:
        self._detach(subscriber)
        self._absent.pop(subscriber, None)
        self._by_spuid.pop(subscriber.spuid, None)
        self.roll.leave(subscriber.spuid)
        if self._by_number.pop(subscriber.handle.id, None) is not None:
            self._engine.unsubscribe(subscriber.handle.id)
        if self.relay is not None:
            self.relay.end(subscriber)

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
        self.outboxes.flush(subscriber)

    def release_absent(self) -> None:
        """Let those go whose grace time is over."""
        before = self._clock() - self._bounds.grace
        for subscriber in list(self._absent):  # in the order in which they left
            if subscriber.left > before:
                break
            self.released += 1
            self.release(subscriber)

    def release_unanswered(self) -> None:
        """Let those go who wait for a first answer, and have waited for too long."""
        if self.relay is not None:
            for subscriber in self.relay.refuse_overdue():
                self.release(subscriber)

    # -- telling ------------------------------------------------------------------------------------------------

    def tell(self, sequence: int, time: int, commit: Commit) -> None:
        """Tell everybody concerned of a commit."""
        self.told = sequence
        parcel: Parcel | None = None
        by_number, outboxes = self._by_number, self.outboxes
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
                outboxes.put_aside(subscriber, parcel)
                continue
            number = subscriber.number(parcel, retain, rows)
            if session is not None:
                outboxes.sent += 1
                session.post.deliver(subscriber, number, parcel)

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
                self.outboxes.give_up(subscriber, "the log failed; come back for a fresh answer")

    def lose(self, failures: list[Failure]) -> None:
        """Plans that failed: their clients are let go, and get a fresh answer when they come back."""
        for failure in failures:
            log.error("a subscription failed and was ended: %s", failure.error, exc_info=failure.error)
            for handle in failure.subscriptions:
                subscriber = self._by_number.pop(handle.id, None)
                if subscriber is not None:
                    self.let_go(subscriber)
        failures.clear()

    def let_go(self, subscriber: Subscriber) -> None:
        """End a subscription that failed; its client gets a fresh answer when it comes back."""
        session = subscriber.session
        self.release(subscriber)
        if session is not None:
            self.outboxes.close(session, LOST, "a subscription of yours failed here")

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
                self.outboxes.close(old, TAKEN_OVER, "the subscription was resumed over another connection")
        self._attach(subscriber, session)
        if subscriber.pending is not None:
            parcel, subscriber.pending = subscriber.pending, None
            self.outboxes.number(subscriber, parcel)
        missed = subscriber.missed(sequence)
        if missed is None:
            self._refresh(subscriber, session, answered, refused)
        else:
            self._continue(subscriber, sequence, missed, answered)

    def _continue(self, subscriber: Subscriber, sequence: int, missed: list[Parcel], answered: Answered) -> None:
        self.resumed += 1
        told = self.told if subscriber.reached is None else subscriber.reached.commit
        whole = Parcel(told, self._chronicle.now(), subscriber.handle.variables, ZSet(), merged=0)
        for parcel in missed:
            whole += parcel
        whole.commit = told
        subscriber.begin_at(sequence)
        self.outboxes.number(subscriber, whole)
        self.outboxes.anchor(subscriber, whole, lambda: answered(subscriber, whole, True))

    def _refresh(self, subscriber: Subscriber, session: Session, answered: Answered, refused: Refused) -> None:
        """Begin anew, under a new name: should this answer be lost as well, its numbers are no old ones."""
        self.refreshed += 1
        self.release(subscriber)
        try:
            self.subscribe(
                session, subscriber.text, subscriber.dataset, subscriber.alias, subscriber.rights, answered, refused
            )
        except TidingsError as error:
            refused(error)

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
                if subscriber is not None and (subscriber.sequence != UNKNOWN or subscriber.reached is not None):
                    subscriber.anchor(content["sequence"], content["commit"])

    def _restore(self, content: dict[str, Any]) -> None:
        record = Record.read(content)
        if (record.reached is None) is not (self.relay is None):
            return  # it was told by another, who counted otherwise: its client begins anew
        try:
            subscriber, _ = self._enter(record.spuid, record.sparql, record.dataset, record.alias, None)  # it was told
        except TidingsError as error:
            log.warning("the subscription %s cannot be taken up again: %s", record.spuid, error)
            return
        subscriber.reached = record.reached
        subscriber.sequence = record.sequence - len(record.retained)
        for parcel in record.parcels(subscriber.handle.variables):
            self.outboxes.number(subscriber, parcel)
        if record.sequence == UNKNOWN or (self.relay is None and self._engine.depends_on_chance(subscriber.handle)):
            subscriber.forget()
        self._miss(subscriber)

    def notes(self) -> Iterable[Note]:
        """For a snapshot: every subscription as it is."""
        return (Note("subscribe", self._record(each).to_json()) for each in self._by_spuid.values())

    def _record(self, subscriber: Subscriber) -> Record:
        record = Record.of(subscriber, whole=True)
        if self.relay is not None and record.reached is not None:
            record.reached = self.relay.record(record.reached)
        return record
