"""Rights that change while a subscription lives: its answer becomes what it may see now, and it is told the difference.

    answer over the graphs of now  -  answer over those of before        with the next number, and the reason

It is durable and can be resumed like any other change: the log says which graphs it sees from here on, and a replay
works out the same difference. Whoever may subscribe to nothing any more is told that the subscription has ended.
"""

import logging
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.pending import PendingRights
from tidings.broker.queries import Queries
from tidings.broker.subscriptions.notifier import Notifier
from tidings.broker.subscriptions.outbox import Outboxes
from tidings.broker.subscriptions.registry import Subscriptions
from tidings.broker.subscriptions.stored import rights_to_subscribe
from tidings.broker.subscriptions.subscriber import UNKNOWN, Parcel, Subscriber
from tidings.log.entry import Note
from tidings.model.access import Graphs, Rights
from tidings.model.errors import LimitExceeded, TidingsError
from tidings.model.results import Row
from tidings.model.zset import ZSet
from tidings.sparql.algebra import Dataset

Find: TypeAlias = Callable[[str, Dataset | None, Rights], list[Row] | None]
"""How the first answer of a subscription is found."""

ANEW = "your rights changed; come back for a fresh answer"


log = logging.getLogger("tidings")


class RightsChanges:
    """Applies changes of rights to the subscriptions of a broker."""

    def __init__(
        self,
        subscriptions: Subscriptions,
        notifier: Notifier,
        outboxes: Outboxes,
        queries: Queries,
        commit_log: CommitLog,
    ) -> None:
        self._subscriptions = subscriptions
        self._notifier = notifier
        self._outboxes = outboxes
        self._queries = queries
        self._commit_log = commit_log

    def change(self, subscriber: Subscriber, rights: Rights, reason: str) -> None:
        """From here on a subscription sees the graphs that these rights let it subscribe to."""
        if subscriber.rights.subscribe == rights.subscribe:
            return
        if not rights.subscribe or self._subscriptions.external is not None:
            self.end(subscriber, reason)
            return
        try:
            changes = self._moved(subscriber, rights, self._queries.first_answer)
        except TidingsError as error:
            self.end(subscriber, f"{reason}: {error}")
            return
        if changes is None:
            self._outboxes.invalidate(subscriber, ANEW)
        turn = subscriber.turns = subscriber.turns + 1
        content: dict[str, Any] = {"spuid": subscriber.spuid, "turn": turn, "reason": reason}
        if not rights.subscribe.everything:
            content["graphs"] = msgspec.to_builtins(rights.subscribe)
        if changes is None:
            content["anew"] = True
        parcel = self._parcel(subscriber, changes or ZSet(), turn, reason)
        self._commit_log.note(Note("rights", content), PendingRights(subscriber, parcel))

    def end(self, subscriber: Subscriber, reason: str) -> None:
        """End a subscription, and say why."""
        session = subscriber.session
        self._subscriptions.release(subscriber)
        if session is not None:
            session.link.dismiss(subscriber, reason)

    def _moved(self, subscriber: Subscriber, rights: Rights, find: Find) -> ZSet[Row] | None:
        """Have its plan see other graphs; by what its answer differs then, None if that cannot be found out in time.

        Raises what keeps the plan from seeing them."""
        if self._subscriptions.is_evaluated_every_time(subscriber):  # only its plan knows what it was told
            before = list(self._subscriptions.answer(subscriber))
            return _difference(before, list(self._subscriptions.move(subscriber, rights)))
        old, new = _found(find, subscriber, subscriber.rights), _found(find, subscriber, rights)
        self._subscriptions.move(subscriber, rights)
        return None if old is None or new is None else _difference(old, new)

    def _parcel(self, subscriber: Subscriber, changes: ZSet[Row], turn: int, reason: str) -> Parcel:
        commit, time = self._commit_log.last_commit, self._commit_log.now()
        return Parcel(commit, time, subscriber.handle.variables, changes, reason=reason, turn=turn)

    # -- for the settlement -------------------------------------------------------------------------------------

    def tell(self, pending: PendingRights) -> None:
        """It is durable that a subscription sees other graphs."""
        if pending.parcel.changes:
            self._notifier.tell(pending.subscriber, pending.parcel)

    def lose(self, pending: PendingRights, error: TidingsError) -> None:
        """That could not be written down. What was taken stays taken; its client comes back for a fresh answer."""
        if pending.subscriber in self._subscriptions:
            self._outboxes.invalidate(pending.subscriber, str(error))

    # -- the log ------------------------------------------------------------------------------------------------

    def restore(self, content: dict[str, Any]) -> None:
        """Do again what a note of the log says was done."""
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
        known = changes is not None and "anew" not in content and subscriber.sequence != UNKNOWN
        if not known or self._subscriptions.depends_on_chance(subscriber):
            subscriber.forget()
        elif changes:
            self._outboxes.number(subscriber, self._parcel(subscriber, changes, content["turn"], content["reason"]))


def _found(find: Find, subscriber: Subscriber, rights: Rights) -> list[Row] | None:
    """An answer with some rights; None if it takes too long, or has too many rows."""
    try:
        return find(subscriber.text, subscriber.dataset, rights)
    except LimitExceeded:
        return None


def _difference(before: list[Row], after: list[Row]) -> ZSet[Row]:
    weights = Counter(after)
    weights.subtract(before)
    return ZSet.owning({row: weight for row, weight in weights.items() if weight})
