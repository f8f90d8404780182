"""Updates of a graph that is not in memory: somebody else works out what they do."""

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
"""Updates that are worked out together."""


class Asked(Struct, frozen=True):
    """An update whose delta is asked for."""

    request: PreparedUpdate
    parameters: Parameters
    rights: Rights
    change: GraphChange | None = None
    """If it came as one: it is told whether its graph was there."""


class Elsewhere(Protocol):
    """Who works out updates."""

    async def work_out(self, asked: Sequence[Asked], now: int) -> list[ZSet[Quad] | TidingsError]:
        """What the first of these do, one after the other: all, or as many as can be told by now, or none."""
