"""The form of subscriptions in the log and in snapshots."""

from collections.abc import Iterable
from typing import Any

import msgspec

from tidings.broker.subscriptions.subscriber import UNKNOWN, Alias, Parcel, Reached, Spuid, Subscriber
from tidings.model.access import ALL_RIGHTS, Graphs, Rights
from tidings.model.zset import ZSet
from tidings.sparql.algebra import Dataset


def rights_to_subscribe(graphs: Graphs | None) -> Rights:
    """Rights to subscribe to these graphs; None stands for all graphs."""
    return ALL_RIGHTS if graphs is None else Rights(read=graphs, subscribe=graphs)


class Record(msgspec.Struct, omit_defaults=True):
    """Everything that is needed to restore a subscription."""

    spuid: Spuid
    sparql: str
    alias: Alias = None
    default: tuple[str, ...] | None = None
    named: tuple[str, ...] | None = None
    sequence: int = 0
    retained: list[tuple[int, int, list[tuple[int, tuple[str | None, ...]]]]] = []
    """Commit, time, and weighted rows of each notification that a client may still get when it resumes."""
    reached: Reached | None = None
    owner: str | None = None
    graphs: Graphs | None = None
    """The graphs to which it may subscribe; None stands for all of them, also in logs from before there were rights."""

    @classmethod
    def of(cls, subscriber: Subscriber, *, whole: bool) -> "Record":
        """The record of a subscriber; if `whole`, with its retained and pending notifications."""
        dataset = subscriber.dataset or Dataset()
        record = cls(subscriber.spuid, subscriber.text, subscriber.alias, dataset.default, dataset.named)
        record.sequence, record.reached = subscriber.sequence, subscriber.reached
        record.owner = subscriber.owner
        if not subscriber.rights.subscribe.everything:
            record.graphs = subscriber.rights.subscribe
        if whole:
            parcels = [parcel for _, parcel in subscriber.retained or ()]
            if subscriber.pending is not None and subscriber.sequence != UNKNOWN:
                parcels.append(subscriber.pending)
                record.sequence += 1
            record.retained = [
                (parcel.commit, parcel.time, [(weight, row) for row, weight in parcel.changes.items()])
                for parcel in parcels
            ]
        return record

    @classmethod
    def read(cls, content: dict[str, Any]) -> "Record":
        return msgspec.convert(content, cls)

    def to_json(self) -> dict[str, Any]:
        content: dict[str, Any] = msgspec.to_builtins(self)
        return content

    @property
    def dataset(self) -> Dataset | None:
        return None if self.default is None and self.named is None else Dataset(self.default, self.named)

    @property
    def rights(self) -> Rights:
        return rights_to_subscribe(self.graphs)

    def parcels(self, variables: tuple[str, ...]) -> Iterable[Parcel]:
        for commit, time, rows in self.retained:
            yield Parcel(commit, time, variables, ZSet((row, weight) for weight, row in rows))
