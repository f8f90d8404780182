"""Outboxes add up the changes for clients that read too slowly, and keep their sequences durable.

While a connection is full, changes wait and are added up. When the client has room again, it gets their sum as one
notification with one sequence. A replay of the log would count each change, so the broker first writes the sequence to
the log as an *anchor*, from which the replay counts on.
"""

from typing import Literal, TypeAlias

from msgspec import Struct

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.pending import PendingContinuation, PendingNotification, PendingUnsubscription
from tidings.broker.subscriptions.subscriber import UNKNOWN, Parcel, Session, Subscriber
from tidings.log.entry import Note
from tidings.model.errors import TidingsError

TOO_SLOW = 4008
"""Close code: the client reads too slowly; it may reconnect and resume."""
LOST = 1011
"""Close code: the broker failed."""
TOO_EXPENSIVE = 4013
"""Close code for a connection that carries one subscription only, which ended because it costs too much."""
REVOKED = 4003
"""Close code for a connection that carries one subscription only, which ended because of its client's rights."""

SlowPolicy: TypeAlias = Literal["merge", "disconnect"]


class Bounds(Struct, frozen=True):
    """Limits of subscriptions and of what is kept for each."""

    subscriptions: int = 1_000_000
    client_subscriptions: int = 500_000
    """The limit for one owner, or for one connection of clients without a token."""
    retain: int = 64
    """How many notifications are kept for a subscriber that resumes."""
    rows: int = 100_000
    """Rows that may wait for one subscriber."""
    grace: float = 60.0
    """How many seconds a subscription outlives its connection."""
    slow: SlowPolicy = "merge"


class Outboxes:
    """The slow path of notifications; the fast one is `Notifier.notify`."""

    def __init__(self, commit_log: CommitLog, bounds: Bounds) -> None:
        self._commit_log = commit_log
        self._bounds = bounds
        self.sent = 0
        self.merged = 0
        self.dropped = 0
        """How many clients were disconnected because they read too slowly."""

    def number(self, subscriber: Subscriber, parcel: Parcel) -> int:
        """Give a change the next sequence of its subscriber."""
        return subscriber.number(parcel, self._bounds.retain, self._bounds.rows)

    def put_aside(self, subscriber: Subscriber, parcel: Parcel) -> None:
        """Add a change to those that wait for a subscriber."""
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
        """A connection has no more room for now."""
        session.full = True

    def drained(self, session: Session) -> None:
        """A connection has room again: send the changes that were added up."""
        session.full = False
        for subscriber in list(session.owed):
            self.flush(subscriber)
            session.owed.pop(subscriber, None)

    def flush(self, subscriber: Subscriber) -> None:
        """Number the changes that wait, and send them, unless an anchor of the subscriber is not durable yet."""
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
        """Send changes that were added up, once their sequence is durable."""
        self.anchor(PendingNotification(subscriber, self.number(subscriber, parcel), parcel))

    def anchor_count(self, subscriber: Subscriber, commit: int) -> None:
        """Anchor the present sequence at a commit: the changes up to it cancelled out, so no notification was sent."""
        if subscriber.sequence != UNKNOWN:
            self._commit_log.note(self._anchor(subscriber, commit), PendingUnsubscription(None))

    def anchor(self, pending: PendingNotification | PendingContinuation) -> None:
        """Write the sequence of a subscriber after a commit to the log, because it is not the count of its changes."""
        subscriber = pending.subscriber
        subscriber.flushing = True
        self._commit_log.note(self._anchor(subscriber, pending.parcel.commit), pending)

    def _anchor(self, subscriber: Subscriber, commit: int) -> Note:
        content = {"spuid": subscriber.spuid, "sequence": subscriber.sequence, "commit": commit}
        if subscriber.turn:
            content["turn"] = subscriber.turn
        return Note("anchor", content)

    def invalidate(self, subscriber: Subscriber, reason: str) -> None:
        """The broker does not know any more what the client has seen: disconnect it, so that it gets a fresh answer."""
        subscriber.forget()
        if subscriber.session is not None:
            self.close(subscriber.session, LOST, reason)

    # -- for the settlement -------------------------------------------------------------------------------------

    def send_merged(self, pending: PendingNotification) -> None:
        """The sequence of added-up changes is durable: send them."""
        pending.subscriber.flushing = False
        self._send(pending.subscriber, pending.sequence, pending.parcel)
        self.flush_if_room(pending.subscriber)

    def send_missed(self, pending: PendingContinuation) -> None:
        """The sequence of the changes that a client missed is durable: answer the client with them."""
        pending.subscriber.flushing = False
        pending.answered(pending.subscriber, pending.parcel, True)
        self.flush_if_room(pending.subscriber)

    def flush_if_room(self, subscriber: Subscriber) -> None:
        """As `flush`, unless the connection is full: then the changes wait until it has room."""
        session = subscriber.session
        if session is None or not session.full:
            self.flush(subscriber)
        elif subscriber.pending is not None:
            session.owed[subscriber] = None

    def lose_number(self, subscriber: Subscriber, error: TidingsError) -> None:
        """An anchor cannot be made durable."""
        subscriber.flushing = False
        self.invalidate(subscriber, str(error))
