"""Outboxes: what happens to changes that a client has no room for, and to numbers that are not mere counts.

While a connection is full, changes wait, added up. When there is room they are sent as one notification, and because
its number is then not the count of changes any more, the number is made durable first: the *anchor*, from which a
replay of the log counts on.
"""

from typing import Literal, TypeAlias

from msgspec import Struct

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.pending import PendingContinuation, PendingNotification, PendingUnsubscription
from tidings.broker.subscriptions.subscriber import UNKNOWN, Parcel, Session, Subscriber
from tidings.log.entry import Note
from tidings.model.errors import TidingsError

TOO_SLOW = 4008
"""Close code: the client takes less than it is sent; it may come back and resume."""
LOST = 1011
"""Close code: something failed here."""
TOO_EXPENSIVE = 4013
"""Close code of a connection that is nothing but a subscription which has ended, as it costs too much."""
REVOKED = 4003
"""Close code of a connection that is nothing but a subscription which has ended, as its client may not have it."""

SlowPolicy: TypeAlias = Literal["merge", "disconnect"]


class Bounds(Struct, frozen=True):
    """How much is kept for subscribers, and how long."""

    subscriptions: int = 1_000_000
    client_subscriptions: int = 500_000
    """Of one owner; of one connection, if they have none."""
    retain: int = 64
    """Numbered notifications that are kept for one that comes back."""
    rows: int = 100_000
    """Rows that may wait for one subscriber."""
    grace: float = 60.0
    """Seconds that a subscription outlives its connection."""
    slow: SlowPolicy = "merge"


class Outboxes:
    """The slow path of all subscribers; the fast one is `Notifier.notify`."""

    def __init__(self, commit_log: CommitLog, bounds: Bounds) -> None:
        self._commit_log = commit_log
        self._bounds = bounds
        self.sent = 0
        self.merged = 0
        self.dropped = 0
        """Clients that were disconnected because they were slow."""

    def number(self, subscriber: Subscriber, parcel: Parcel) -> int:
        """Give a change the next number."""
        return subscriber.number(parcel, self._bounds.retain, self._bounds.rows)

    def put_aside(self, subscriber: Subscriber, parcel: Parcel) -> None:
        """Add a change to those that wait."""
        pending = subscriber.pending = parcel if subscriber.pending is None else subscriber.pending + parcel
        session = subscriber.session
        if pending.merged > 1:
            self.merged += 1
        if session is None:
            return
        session.owed[subscriber] = None
        if session.open and (self._bounds.slow == "disconnect" or pending.rows > self._bounds.rows):
            self.dropped += 1
            self.close(session, TOO_SLOW, "too slow: come back and resume")

    def close(self, session: Session, code: int, reason: str) -> None:
        session.open = False
        session.link.close(code, reason)

    def filled(self, session: Session) -> None:
        """A connection takes nothing more for now."""
        session.full = True

    def drained(self, session: Session) -> None:
        """A connection has room again: send what was added up meanwhile."""
        session.full = False
        for subscriber in list(session.owed):
            self.flush(subscriber)
            session.owed.pop(subscriber, None)

    def flush(self, subscriber: Subscriber) -> None:
        """Number what is pending, and send it, unless a number before it is still on its way to the disk."""
        parcel = subscriber.pending
        if parcel is None or subscriber.flushing:
            return
        subscriber.pending = None
        sequence = self.number(subscriber, parcel)
        if parcel.merged == 1:
            self._send(subscriber, sequence, parcel)
        else:
            self.anchor(PendingNotification(subscriber, sequence, parcel))

    def _send(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None:
        if subscriber.session is not None:
            self.sent += 1
            subscriber.session.link.deliver(subscriber, sequence, parcel)

    def tell_anchored(self, subscriber: Subscriber, parcel: Parcel) -> None:
        """Tell what was added up, once its number is durable."""
        self.anchor(PendingNotification(subscriber, self.number(subscriber, parcel), parcel))

    def anchor_count(self, subscriber: Subscriber, commit: int) -> None:
        """Write down that nothing was told of changes up to a commit that have added up to nothing."""
        if subscriber.sequence != UNKNOWN:
            self._commit_log.note(self._anchor(subscriber, commit), PendingUnsubscription(None))

    def anchor(self, pending: PendingNotification | PendingContinuation) -> None:
        """Write down the number of a subscriber with a commit, because it is not the count of its changes."""
        subscriber = pending.subscriber
        subscriber.flushing = True
        self._commit_log.note(self._anchor(subscriber, pending.parcel.commit), pending)

    def _anchor(self, subscriber: Subscriber, commit: int) -> Note:
        content = {"spuid": subscriber.spuid, "sequence": subscriber.sequence, "commit": commit}
        if subscriber.turn:
            content["turn"] = subscriber.turn
        return Note("anchor", content)

    def invalidate(self, subscriber: Subscriber, reason: str) -> None:
        """It is not known any more what a client has seen: it has to come back for a fresh answer."""
        subscriber.forget()
        if subscriber.session is not None:
            self.close(subscriber.session, LOST, reason)

    # -- for the settlement -------------------------------------------------------------------------------------

    def send_merged(self, pending: PendingNotification) -> None:
        """The number of changes that were added up is durable."""
        pending.subscriber.flushing = False
        self._send(pending.subscriber, pending.sequence, pending.parcel)
        self.flush_if_room(pending.subscriber)

    def send_missed(self, pending: PendingContinuation) -> None:
        """The number of what a client missed is durable."""
        pending.subscriber.flushing = False
        pending.answered(pending.subscriber, pending.parcel, True)
        self.flush_if_room(pending.subscriber)

    def flush_if_room(self, subscriber: Subscriber) -> None:
        """As `flush`, if the connection takes it; else it waits until there is room."""
        session = subscriber.session
        if session is None or not session.full:
            self.flush(subscriber)
        elif subscriber.pending is not None:
            session.owed[subscriber] = None

    def lose_number(self, subscriber: Subscriber, error: TidingsError) -> None:
        """A number cannot be made durable."""
        subscriber.flushing = False
        self.invalidate(subscriber, str(error))
