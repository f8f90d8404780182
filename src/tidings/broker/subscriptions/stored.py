"""Subscriptions as the log and the snapshots have them."""

from collections.abc import Iterable
from typing import Any

import msgspec

from tidings.broker.subscriptions.subscriber import UNKNOWN, Alias, Parcel, Reached, Spuid, Subscriber
from tidings.model.access import ALL_RIGHTS, Graphs, Rights
from tidings.model.zset import ZSet
from tidings.sparql.algebra import Dataset


def rights_to_subscribe(graphs: Graphs | None) -> Rights:
    """To these graphs; None stands for all of them."""
    return ALL_RIGHTS if graphs is None else Rights(read=graphs, subscribe=graphs)


class Record(msgspec.Struct, omit_defaults=True):
    """What has to be known to make a subscription again."""

    spuid: Spuid
    sparql: str
    alias: Alias = None
    default: tuple[str, ...] | None = None
    named: tuple[str, ...] | None = None
    sequence: int = 0
    retained: list[tuple[int, int, list[tuple[int, tuple[str | None, ...]]]]] = []
    """Commit, time, and weighted rows of what can still be told again."""
    reached: Reached | None = None
    owner: str | None = None
    graphs: Graphs | None = None
    """Those that it may subscribe to; None if that is all of them, as it was before there were rights."""

    @classmethod
    def of(cls, subscriber: Subscriber, *, whole: bool) -> "Record":
        """As it is when it begins, or with all that became of it."""
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
