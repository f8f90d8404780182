"""Tells subscribers what was worked out elsewhere, batch by batch."""

import logging
from collections.abc import Container, Iterable

from tidings.broker.subscriptions.external_answers import Relay, Told
from tidings.broker.subscriptions.registry import Subscriptions
from tidings.broker.subscriptions.subscriber import UNKNOWN, Parcel, Reached, Subscriber
from tidings.engine.engine import Commit, Notification
from tidings.model.errors import EvaluationError
from tidings.model.zset import ZSet

log = logging.getLogger("tidings")


class Relaying:
    """A relay at work for all subscriptions of a broker."""

    def __init__(self, relay: Relay, subscriptions: Subscriptions) -> None:
        self._relay = relay
        self._subscriptions = subscriptions

    @property
    def batch(self) -> int:
        """The last batch that was told in full."""
        return self._relay.batch

    def begin(self, wanted: Container[str], oldest: int, newest: int) -> None:
        """Go on with the first batch that anybody here has not seen, or else after the newest.

        Whoever is not among those who are told, or cannot be told everything as batches are gone, begins anew."""
        for subscriber in list(self._subscriptions):
            seen = -1 if subscriber.reached is None else subscriber.reached.batch
            if subscriber.spuid not in wanted or not oldest - 1 <= seen <= newest:
                self._subscriptions.release(subscriber)
        reached = (each.reached.batch for each in self._subscriptions if each.reached is not None)
        self._relay.batch = min(reached, default=newest)

    def tell(self, batch: int, told: Iterable[Told]) -> None:
        """Tell what a batch says, or a part of it: in the order of commits, and nothing that was told before."""
        for each in told:
            subscriber = self._subscriptions.get(each.spuid)
            if subscriber is None or subscriber.reached is None:
                continue
            if each.reason is not None:
                self._lose(subscriber, each.reason)
            elif each.commit > subscriber.reached.commit:
                subscriber.reached = Reached(batch - 1, each.commit)
                self._tell(subscriber, each)

    def finish(self, batch: int) -> None:
        """All of a batch was told."""
        self._relay.batch = batch

    def _tell(self, subscriber: Subscriber, told: Told) -> None:
        changes = ZSet.change(removed=told.removed, added=told.added)
        if told.sequence:
            notification = Notification(subscriber.handle, told.sequence, changes)
            self._subscriptions.tell(told.commit, told.time, Commit(ZSet(), [notification]))
        elif subscriber.sequence == UNKNOWN:
            self._relay.answer(subscriber, Parcel(told.commit, told.time, subscriber.handle.variables, changes))
        else:
            self._subscriptions.outboxes.give_up(subscriber, "the job began anew; come back for a fresh answer")

    def _lose(self, subscriber: Subscriber, reason: str) -> None:
        log.error("the subscription %s was ended elsewhere: %s", subscriber.spuid, reason)
        if self._relay.refuse(subscriber, EvaluationError(reason)):
            self._subscriptions.release(subscriber)
        else:
            self._subscriptions.let_go(subscriber)
