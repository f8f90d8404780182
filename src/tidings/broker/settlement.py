"""What the broker does with a value that waited for the log: `settle` once it is durable, `undo` if it cannot be.

`GroupCommit` settles values in the order in which they were appended, and undoes them in reverse.
"""

import asyncio
from typing import TypeVar, assert_never

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.durability.facts import Facts
from tidings.broker.pending import (
    Pending,
    PendingAnswer,
    PendingBarrier,
    PendingCancellation,
    PendingContinuation,
    PendingDelayed,
    PendingFacts,
    PendingLate,
    PendingNotification,
    PendingReconciled,
    PendingRequest,
    PendingResume,
    PendingRights,
    PendingSeed,
    PendingSubscription,
    PendingTick,
    PendingUnsubscription,
    PendingUpdate,
)
from tidings.broker.subscriptions.admission import Admission
from tidings.broker.subscriptions.notifier import Notifier
from tidings.broker.subscriptions.outbox import Outboxes
from tidings.broker.subscriptions.resumption import Resumption
from tidings.broker.subscriptions.rights_changes import RightsChanges
from tidings.broker.subscriptions.stragglers import Stragglers
from tidings.broker.updates.accepted import Done
from tidings.broker.updates.delayed import DelayedUpdates
from tidings.broker.updates.queue import UpdateQueue
from tidings.broker.updates.ticks import Ticks
from tidings.model.errors import TidingsError

T = TypeVar("T")


class Settlement:
    """Hands each value to the part of the broker that it concerns."""

    def __init__(
        self,
        commit_log: CommitLog,
        updates: UpdateQueue,
        delayed: DelayedUpdates,
        notifier: Notifier,
        outboxes: Outboxes,
        admission: Admission,
        resumption: Resumption,
        rights: RightsChanges,
        stragglers: Stragglers,
        ticks: Ticks,
        facts: Facts,
    ) -> None:
        self._commit_log = commit_log
        self._updates = updates
        self._delayed = delayed
        self._notifier = notifier
        self._outboxes = outboxes
        self._admission = admission
        self._resumption = resumption
        self._rights = rights
        self._stragglers = stragglers
        self._ticks = ticks
        self._facts = facts

    def settle(self, pending: Pending) -> None:
        """The value is durable: answer and notify."""
        match pending:
            case PendingUpdate(entry, commit, update, done):  # the commonest first
                self._updates.answer(update, done)
                self._notifier.notify(entry.commit, entry.time, commit)
                self._commit_log.publish(entry)
            case PendingAnswer(update, outcome):
                self._updates.answer(update, outcome)
            case PendingSeed(entry, commit) | PendingReconciled(entry, commit):
                self._notifier.notify(entry.commit, entry.time, commit)
                self._commit_log.publish(entry)
            case PendingBarrier(durable):
                _resolve(durable, None)
            case PendingDelayed(delayed, accepted):
                self._delayed.add(delayed)
                _resolve(accepted, delayed)
            case PendingCancellation(delayed, cancelled):
                _resolve(cancelled, delayed)
            case PendingSubscription(subscriber, first, answered):
                answered(subscriber, first, False)
                self._outboxes.flush_if_room(subscriber)  # changes since the first answer was worked out
            case PendingRequest(subscriber):
                self._admission.request(subscriber)
            case PendingUnsubscription(ended):
                if ended is not None:
                    ended()
            case PendingNotification():
                self._outboxes.send_merged(pending)
            case PendingContinuation():
                self._outboxes.send_missed(pending)
            case PendingResume():
                self._resumption.resume(pending)
            case PendingRights():
                self._rights.tell(pending)
            case PendingLate():
                self._stragglers.tell(pending)
            case PendingTick():
                self._ticks.tell(pending)
            case PendingFacts(notes, durable):
                for note in notes:
                    self._facts.restore(note)
                _resolve(durable, None)
            case _:
                assert_never(pending)

    def undo(self, pending: Pending, error: TidingsError) -> None:
        """The value cannot be made durable: reverse its effects, and report the error."""
        match pending:
            case PendingUpdate(entry, commit, update):
                self._commit_log.take_back(entry)
                self._updates.take_back(commit, entry.time)
                self._updates.undone(update, error, counted=True)
            case PendingAnswer(update, outcome):
                self._updates.undone(update, error, counted=isinstance(outcome, Done))
            case PendingSeed(entry, commit):
                self._commit_log.take_back(entry)
                self._updates.take_back(commit, entry.time)
            case PendingReconciled(entry, commit):
                self._commit_log.take_back(entry, ours=False)
                self._updates.take_back(commit, entry.time)
            case PendingBarrier(durable) | PendingFacts(_, durable):
                _refuse(durable, error)
            case PendingDelayed(_, accepted):
                _refuse(accepted, error)
            case PendingCancellation(delayed, cancelled):
                self._delayed.schedule.add(delayed)
                _refuse(cancelled, error)
            case PendingSubscription(subscriber, _, _, refused):
                self._admission.withdraw(subscriber)
                refused(error)
            case PendingRequest(subscriber):
                self._admission.withdraw_request(subscriber, error)
            case PendingUnsubscription(ended):
                # After a restart, the subscription is back without a client, and ends after the time of `grace`.
                if ended is not None:
                    ended()
            case PendingNotification(subscriber) | PendingContinuation(subscriber):
                self._outboxes.lose_number(subscriber, error)
            case PendingResume():
                self._resumption.lose(pending, error)
            case PendingRights():
                self._rights.lose(pending, error)
            case PendingLate():
                self._stragglers.lose(pending, error)
            case PendingTick():
                self._ticks.lose(pending)
            case _:
                assert_never(pending)


def _resolve(waiting: "asyncio.Future[T]", value: T) -> None:
    if not waiting.done():
        waiting.set_result(value)


def _refuse(waiting: "asyncio.Future[T]", error: TidingsError) -> None:
    if not waiting.done():
        waiting.set_exception(error)
