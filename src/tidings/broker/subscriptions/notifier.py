"""Sends the changes of a durable commit to the subscribers.

It also disconnects clients that need a fresh answer, because a commit was reversed or a plan failed, and ends
subscriptions that cost too much.
"""

import logging
from collections.abc import Iterable

from tidings.broker.errors import TooExpensive
from tidings.broker.subscriptions.outbox import LOST, TOO_EXPENSIVE, Bounds, Outboxes
from tidings.broker.subscriptions.registry import Subscriptions
from tidings.broker.subscriptions.subscriber import Parcel, Subscriber
from tidings.engine.commit import Commit, Failure
from tidings.model.results import Row
from tidings.model.zset import ZSet

log = logging.getLogger("tidings")


class Notifier:
    """Notifies the subscribers of a broker."""

    def __init__(self, subscriptions: Subscriptions, outboxes: Outboxes, bounds: Bounds) -> None:
        self._subscriptions = subscriptions
        self._outboxes = outboxes
        self._bounds = bounds
        self.last_commit = 0
        """The last commit of which the subscribers were notified. Later ones are not durable yet."""
        self.subscriptions_let_go = 0
        """How many subscriptions were ended because they cost too much."""

    def notify(self, number: int, time: int, commit: Commit) -> None:
        """Send the notifications of the commit with this number."""
        self.last_commit = number
        parcel: Parcel | None = None
        by_handle, outboxes = self._subscriptions.by_handle, self._outboxes
        retain, rows = self._bounds.retain, self._bounds.rows
        for notification in commit.notifications:
            handle = notification.subscription
            subscriber = by_handle.get(handle.id)
            if subscriber is None:
                continue  # the subscription ended before the commit was durable
            changes = notification.changes
            if parcel is None or parcel.changes is not changes or parcel.variables != handle.variables:
                parcel = Parcel(number, time, handle.variables, changes)
            session = subscriber.session
            if subscriber.flushing or subscriber.pending is not None or (session is not None and session.full):
                outboxes.put_aside(subscriber, parcel)
                continue
            sequence = subscriber.number(parcel, retain, rows)
            if session is not None:
                outboxes.sent += 1
                session.link.deliver(subscriber, sequence, parcel)

    def tell(self, subscriber: Subscriber, parcel: Parcel) -> None:
        """Notify one subscriber of a change of its answer that has no commit of its own."""
        if subscriber not in self._subscriptions:
            return  # the subscription ended before the change was durable
        session, outboxes = subscriber.session, self._outboxes
        if subscriber.flushing or subscriber.pending is not None or (session is not None and session.full):
            outboxes.put_aside(subscriber, parcel)
            return
        sequence = outboxes.number(subscriber, parcel)
        if session is not None:
            outboxes.sent += 1
            session.link.deliver(subscriber, sequence, parcel)

    def tell_late(self, subscriber: Subscriber, parcel: Parcel) -> None:
        """Notify one subscriber of the sum of the changes of several commits. A replay of the log would count each of
        these changes, so the sequence needs an anchor, even if the sum is empty."""
        if subscriber not in self._subscriptions:
            return
        session, outboxes = subscriber.session, self._outboxes
        if subscriber.flushing or subscriber.pending is not None or (session is not None and session.full):
            if parcel.changes or parcel.merged > 1:
                outboxes.put_aside(subscriber, parcel)
        elif parcel.merged == 1:
            if parcel.changes:
                self.tell(subscriber, parcel)
        elif parcel.changes:
            outboxes.tell_anchored(subscriber, parcel)
        else:
            outboxes.anchor_count(subscriber, parcel.commit)

    def retract(self, commit: Commit, undone: Commit) -> None:
        """A commit was reversed before its notifications were sent. If an answer is not what it was before the commit,
        its subscribers begin anew. This happens with queries that ask for the time, which has gone on meanwhile."""
        net: dict[int, ZSet[Row]] = {}
        for notification in (*commit.notifications, *undone.notifications):
            number = notification.subscription.id
            net[number] = net[number] + notification.changes if number in net else notification.changes
        for number, changes in net.items():
            subscriber = self._subscriptions.by_handle.get(number)
            if changes and subscriber is not None:
                self.invalidate(subscriber, "the log failed; come back for a fresh answer")

    def invalidate(self, subscriber: Subscriber, reason: str) -> None:
        """The broker does not know any more what the client has seen: disconnect it, so that it gets a fresh answer."""
        self._outboxes.invalidate(subscriber, reason)

    def end_failed(self, failures: Iterable[Failure]) -> None:
        """End the subscriptions of plans that failed, and disconnect their clients, which then get fresh answers."""
        for failure in failures:
            log.error("a subscription failed and was ended: %s", failure.error, exc_info=failure.error)
            for handle in failure.subscriptions:
                subscriber = self._subscriptions.by_handle.pop(handle.id, None)
                if subscriber is not None:
                    self.end(subscriber)

    def end(self, subscriber: Subscriber) -> None:
        """End a subscription that failed, and disconnect its client, which gets a fresh answer when it reconnects."""
        session = subscriber.session
        self._subscriptions.release(subscriber)
        if session is not None:
            self._outboxes.close(session, LOST, "a subscription of yours failed here")

    def let_go(self, subscribers: Iterable[Subscriber], cost: str) -> None:
        """End subscriptions that cost too much, and tell their clients what the cost is."""
        reason = TooExpensive(f"the subscription costs more than it may: {cost}")
        for subscriber in subscribers:
            self.subscriptions_let_go += 1
            session = subscriber.session
            self._subscriptions.release(subscriber)
            if session is not None:
                session.link.dismiss(subscriber, f"{reason.code}: {reason}", TOO_EXPENSIVE)
