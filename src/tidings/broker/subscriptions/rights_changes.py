"""Applies changes of rights to living subscriptions: the subscriber gets the difference that they make to its answer.

    answer over the new graphs  -  answer over the old graphs        with the next sequence, and the reason

The change is durable and can be resumed like any other: the log has the new graphs, and a replay works out the same
difference. The broker ends a subscription if its owner may not subscribe to any graph any more. It also ends those that
an external engine answers, because the engine may still send notifications for the old graphs.

The broker moves the subscriptions of a subject a few at a time, and handles queries in between. Updates wait until all
are moved, so no subscription is notified of a commit in a graph that it may no longer see.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import msgspec

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.pending import PendingRights
from tidings.broker.queries import Queries
from tidings.broker.spawn import Spawn
from tidings.broker.subscriptions.notifier import Notifier
from tidings.broker.subscriptions.outbox import LOST, REVOKED, Outboxes
from tidings.broker.subscriptions.registry import Subscriptions
from tidings.broker.subscriptions.stored import rights_to_subscribe
from tidings.broker.subscriptions.subscriber import UNKNOWN, Parcel, Session, Subscriber
from tidings.broker.updates.queue import UpdateQueue
from tidings.engine.behind.stragglers import PlanIsBehind
from tidings.log.entry import Note
from tidings.model.access import Graphs, Rights
from tidings.model.errors import LimitExceeded, MayNotSubscribe, TidingsError, internal_error
from tidings.model.results import Row
from tidings.model.zset import ZSet
from tidings.sparql.algebra import Dataset
from tidings.sparql.evaluate.context import Overrun

Find: TypeAlias = Callable[[str, Dataset | None, Rights], list[Row] | None]
"""Evaluates the first answer of a subscription with some rights; None if that takes too long."""

ANEW = "your rights changed; come back for a fresh answer"
AT_ONCE = 5
"""How many subscriptions are moved together."""

log = logging.getLogger("tidings")


class _Due(NamedTuple):
    """A change of rights that is not applied yet."""

    rights: Rights
    reason: str
    session: Session | None
    """The connection whose rights have changed; None if those of all connections have."""


class RightsChanges:
    """Applies changes of rights to the subscriptions of a broker, and holds the queue of updates until all are applied.
    `spawn` starts tasks."""

    def __init__(
        self,
        subscriptions: Subscriptions,
        notifier: Notifier,
        outboxes: Outboxes,
        queries: Queries,
        commit_log: CommitLog,
        updates: UpdateQueue,
        spawn: Spawn,
    ) -> None:
        self._updates = updates
        self._spawn = spawn
        self._due: dict[Subscriber, _Due] = {}
        self._working = False
        self._subscriptions = subscriptions
        self._notifier = notifier
        self._outboxes = outboxes
        self._queries = queries
        self._commit_log = commit_log

    def begin(self, concerned: Sequence[Subscriber], rights: Rights, reason: str, session: Session | None) -> None:
        """Give these subscriptions other rights: a few now, the others in a task. Drop earlier changes that are still
        due for them."""
        for subscriber in concerned:
            self._due.pop(subscriber, None)
        for subscriber in concerned[:AT_ONCE]:
            self._change(subscriber, rights, reason)
        self._due.update(dict.fromkeys(concerned[AT_ONCE:], _Due(rights, reason, session)))
        if self._due and not self._working:
            self._working = True
            self._updates.hold()
            self._spawn(self._work())

    async def _work(self) -> None:
        """Apply all changes that are due."""
        try:
            while self._due:
                await asyncio.sleep(0)
                for subscriber in list(islice(self._due, AT_ONCE)):
                    self._have_its_turn(subscriber, self._due.pop(subscriber))
        finally:
            self._working = False
            self._updates.resume()

    def _have_its_turn(self, subscriber: Subscriber, due: _Due) -> None:
        elsewhere = due.session is not None and subscriber.session is not due.session
        if subscriber in self._subscriptions and not elsewhere:  # a client that resumes brings its new rights
            self._change(subscriber, due.rights, due.reason)

    def _change(self, subscriber: Subscriber, rights: Rights, reason: str) -> None:
        """Give a subscription other rights, or end it if that fails for any reason."""
        try:
            self._move(subscriber, rights, reason)
        except TidingsError as error:
            self.end(subscriber, f"{reason}: {error}")
        except Exception:
            log.exception("internal error while the rights of a subscription change")
            self.end(subscriber, f"{reason}: {internal_error()}")

    def _move(self, subscriber: Subscriber, rights: Rights, reason: str) -> None:
        if subscriber.rights.subscribe == rights.subscribe:
            return
        if not rights.subscribe or self._subscriptions.external is not None:
            self.end(subscriber, reason)
            return
        changes = None
        if subscriber.handle.spu not in self._subscriptions.behind:
            with suppress(Overrun, PlanIsBehind):
                changes = self._moved(subscriber, rights, self._queries.first_answer)
        if changes is None:
            self._begin_anew(subscriber)
            return
        turn = subscriber.turns = subscriber.turns + 1
        content: dict[str, Any] = {"spuid": subscriber.spuid, "turn": turn, "reason": reason}
        if not rights.subscribe.everything:
            content["graphs"] = msgspec.to_builtins(rights.subscribe)
        parcel = self._parcel(subscriber, changes, turn, reason)
        self._commit_log.note(Note("rights", content), PendingRights(subscriber, parcel))

    def _begin_anew(self, subscriber: Subscriber) -> None:
        """End a subscription, and disconnect its client: evaluating its answers here would take too long."""
        session = subscriber.session
        self._subscriptions.release(subscriber)
        if session is not None:
            self._outboxes.close(session, LOST, ANEW)

    def end(self, subscriber: Subscriber, reason: str) -> None:
        """End a subscription, and tell its client why; a client that still waits for the first answer gets an error."""
        session, external = subscriber.session, self._subscriptions.external
        waited = external is not None and external.refuse(subscriber, MayNotSubscribe(f"{reason}; subscribe again"))
        self._subscriptions.release(subscriber)
        if session is not None and not waited:
            session.link.dismiss(subscriber, reason, REVOKED)

    def _moved(self, subscriber: Subscriber, rights: Rights, find: Find) -> ZSet[Row] | None:
        """Move a subscription to other graphs. Returns the difference of its answers; None, without moving it, if they
        cannot be evaluated in time, because building the state of the plan would take as long.

        Raises an error if there can be no plan over the new graphs."""
        if self._subscriptions.is_evaluated_every_time(subscriber):  # only its plan knows the answer that was sent
            before = list(self._subscriptions.answer(subscriber))
            return _difference(before, list(self._subscriptions.move(subscriber, rights)))
        old, new = _found(find, subscriber, subscriber.rights), _found(find, subscriber, rights)
        if old is None or new is None:
            return None
        self._subscriptions.move(subscriber, rights)
        return _difference(old, new)

    def _parcel(self, subscriber: Subscriber, changes: ZSet[Row], turn: int, reason: str) -> Parcel:
        commit, time = self._commit_log.last_commit, self._commit_log.now()
        return Parcel(commit, time, subscriber.handle.variables, changes, reason=reason, turn=turn)

    # -- for the settlement -------------------------------------------------------------------------------------

    def tell(self, pending: PendingRights) -> None:
        """The change of rights is durable: notify the subscriber."""
        if pending.parcel.changes:
            self._notifier.tell(pending.subscriber, pending.parcel)

    def lose(self, pending: PendingRights, error: TidingsError) -> None:
        """The change cannot be made durable. The new rights hold all the same; the client needs a fresh answer."""
        if pending.subscriber in self._subscriptions:
            self._outboxes.invalidate(pending.subscriber, str(error))

    # -- the log ------------------------------------------------------------------------------------------------

    def restore(self, content: dict[str, Any]) -> None:
        """Apply a change of rights from the log."""
        subscriber = self._subscriptions.get(content["spuid"])
        if subscriber is None:
            return
        graphs = msgspec.convert(content["graphs"], Graphs) if "graphs" in content else None
        subscriber.turns = content["turn"]
        try:
            changes = self._moved(subscriber, rights_to_subscribe(graphs), self._queries.whole_answer)
        except TidingsError as error:
            log.warning("the subscription %s cannot be restored: %s", subscriber.spuid, error)
            self._subscriptions.remove(subscriber)
            return
        if changes is None:
            self._subscriptions.remove(subscriber)
        elif subscriber.sequence == UNKNOWN or self._subscriptions.depends_on_chance(subscriber):
            subscriber.forget()
        elif changes:
            self._outboxes.number(subscriber, self._parcel(subscriber, changes, content["turn"], content["reason"]))


def _found(find: Find, subscriber: Subscriber, rights: Rights) -> list[Row] | None:
    """The answer with some rights; None if it takes too long, or has too many rows. It is tried twice, because among
    many subscriptions, one is always hit by a hiccup of the machine."""
    try:
        first = find(subscriber.text, subscriber.dataset, rights)
        return find(subscriber.text, subscriber.dataset, rights) if first is None else first
    except LimitExceeded:
        return None


def _difference(before: list[Row], after: list[Row]) -> ZSet[Row]:
    weights = Counter(after)
    weights.subtract(before)
    return ZSet.owning({row: weight for row, weight in weights.items() if weight})
