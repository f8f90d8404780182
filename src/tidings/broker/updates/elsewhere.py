"""The interface to whatever works out updates of a graph that is not in memory: the store of record."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from tidings.broker.updates.graph_change import GraphChange
from tidings.engine.updates.operations import PreparedUpdate
from tidings.model.access import Rights
from tidings.model.errors import TidingsError
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.sparql.prepared import Parameters

TOGETHER = 256
"""How many updates are worked out together at most."""


class Asked(Struct, frozen=True):
    """An update whose delta is to be worked out."""

    request: PreparedUpdate
    parameters: Parameters
    rights: Rights
    change: GraphChange | None = None
    """The change of a graph that the update came as, if it did: its `existed` is set."""


class Elsewhere(Protocol):
    """Works out the deltas of updates."""

    async def work_out(self, asked: Sequence[Asked], now: int) -> list[ZSet[Quad] | TidingsError]:
        """The outcomes of these updates, one after the other. The list may be shorter, or empty: the queue then asks
        for the others again."""
