"""Sends the notifications that an external engine has worked out, batch by batch."""

import logging
from collections.abc import Container, Iterable

from tidings.broker.subscriptions.external_answers import ExternalAnswers, ExternalNotification
from tidings.broker.subscriptions.notifier import Notifier
from tidings.broker.subscriptions.registry import Subscriptions
from tidings.broker.subscriptions.subscriber import UNKNOWN, Parcel, Reached, Subscriber
from tidings.engine.commit import Commit, Notification
from tidings.model.errors import EvaluationError
from tidings.model.zset import ZSet

log = logging.getLogger("tidings")


class ExternalBatches:
    """Takes the batches of the engine for all subscriptions of a broker."""

    def __init__(self, answers: ExternalAnswers, subscriptions: Subscriptions, notifier: Notifier) -> None:
        self._answers = answers
        self._subscriptions = subscriptions
        self._notifier = notifier

    @property
    def last(self) -> int:
        """The last batch whose notifications were all sent."""
        return self._answers.last_batch

    def begin(self, wanted: Container[str], oldest: int, newest: int) -> None:
        """Go on with the first batch that some subscriber has not got, or else after the newest.

        Ends subscriptions that the engine does not know (`wanted` has those it knows), or that need batches which do
        not exist any more: their clients begin anew."""
        for subscriber in list(self._subscriptions):
            seen = -1 if subscriber.reached is None else subscriber.reached.batch
            if subscriber.spuid not in wanted or not oldest - 1 <= seen <= newest:
                self._subscriptions.release(subscriber)
        reached = (each.reached.batch for each in self._subscriptions if each.reached is not None)
        self._answers.last_batch = min(reached, default=newest)

    def tell(self, batch: int, notifications: Iterable[ExternalNotification]) -> None:
        """Send the notifications of a batch, or of a part of it, in the order of commits, and none of them twice."""
        for each in notifications:
            subscriber = self._subscriptions.get(each.spuid)
            if subscriber is None or subscriber.reached is None:
                continue
            if each.reason is not None:
                self._end_failed(subscriber, each.reason)
            elif each.commit > subscriber.reached.commit:
                subscriber.reached = Reached(batch - 1, each.commit)
                self._tell(subscriber, each)

    def finish(self, batch: int) -> None:
        """All notifications of a batch were sent."""
        self._answers.last_batch = batch

    def _tell(self, subscriber: Subscriber, news: ExternalNotification) -> None:
        changes = ZSet.change(removed=news.removed, added=news.added)
        if news.sequence:
            notification = Notification(subscriber.handle, news.sequence, changes)
            self._notifier.notify(news.commit, news.time, Commit(ZSet(), [notification]))
        elif subscriber.sequence == UNKNOWN:
            self._answers.answer(subscriber, Parcel(news.commit, news.time, subscriber.handle.variables, changes))
        else:
            self._notifier.invalidate(subscriber, "the job began anew; come back for a fresh answer")

    def _end_failed(self, subscriber: Subscriber, reason: str) -> None:
        log.error("the external engine ended the subscription %s: %s", subscriber.spuid, reason)
        if self._answers.refuse(subscriber, EvaluationError(reason)):
            self._subscriptions.release(subscriber)
        else:
            self._notifier.end(subscriber)
