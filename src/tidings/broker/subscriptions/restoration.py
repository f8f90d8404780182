"""Restores subscriptions, with their sequences, from the log and from snapshots."""

import logging
from collections.abc import Iterable
from typing import Any

from tidings.broker.subscriptions.outbox import Outboxes
from tidings.broker.subscriptions.registry import Subscriptions
from tidings.broker.subscriptions.resumption import Resumption
from tidings.broker.subscriptions.rights_changes import RightsChanges
from tidings.broker.subscriptions.stored import Record
from tidings.broker.subscriptions.subscriber import UNKNOWN, Subscriber
from tidings.log.entry import Note
from tidings.model.errors import TidingsError

log = logging.getLogger("tidings")


class Restoration:
    """The keeper of the notes about subscriptions."""

    KINDS = ("subscribe", "unsubscribe", "anchor", "rights")

    def __init__(
        self, subscriptions: Subscriptions, outboxes: Outboxes, resumption: Resumption, changes: RightsChanges
    ) -> None:
        self._subscriptions = subscriptions
        self._outboxes = outboxes
        self._resumption = resumption
        self._changes = changes

    def restore(self, note: Note) -> None:
        """Apply a note of the log or of a snapshot."""
        content = note.content
        match note.kind:
            case "subscribe":
                self._restore(content)
            case "unsubscribe":
                subscriber = self._subscriptions.get(content["spuid"])
                if subscriber is not None:
                    self._subscriptions.remove(subscriber)
            case "anchor":
                subscriber = self._subscriptions.get(content["spuid"])
                if subscriber is not None and (subscriber.sequence != UNKNOWN or subscriber.reached is not None):
                    subscriber.anchor(content["sequence"], content["commit"], content.get("turn", 0))
            case "rights":
                self._changes.restore(content)

    def _restore(self, content: dict[str, Any]) -> None:
        record = Record.read(content)
        subscriptions = self._subscriptions
        if (record.reached is None) is not (subscriptions.external is None):
            return  # another engine counted its sequences: the client begins anew
        try:  # its first answer, which `enter` returns, was sent before the restart
            rights, owner = record.rights, record.owner
            subscriber, _ = subscriptions.enter(
                record.spuid, record.sparql, record.dataset, record.alias, rights, owner
            )
        except TidingsError as error:
            log.warning("the subscription %s cannot be restored: %s", record.spuid, error)
            return
        subscriber.reached = record.reached
        subscriber.sequence = record.sequence - len(record.retained)
        for parcel in record.parcels(subscriber.handle.variables):
            self._outboxes.number(subscriber, parcel)
        if record.sequence == UNKNOWN or subscriptions.depends_on_chance(subscriber):
            subscriber.forget()
        self._resumption.miss(subscriber)

    def notes(self) -> Iterable[Note]:
        """All subscriptions in their present state, for a snapshot."""
        return (Note("subscribe", self._record(each).to_json()) for each in self._subscriptions)

    def _record(self, subscriber: Subscriber) -> Record:
        record = Record.of(subscriber, whole=True)
        if subscriber.handle.spu in self._subscriptions.behind:  # a replay would divide its changes otherwise
            record.sequence, record.retained = UNKNOWN, []
        external = self._subscriptions.external
        if external is not None and record.reached is not None:
            record.reached = external.record(record.reached)
        return record
