"""A store of record to test with, which can be away, refuse, answer too late and forget; brokers in front of it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from broker.making import Clock, in_memory, opened
from tidings.broker.broker import Broker
from tidings.broker.record.mirror import Mirror
from tidings.engine.store.store import Store
from tidings.model.errors import EndpointAway, EndpointRefused
from tidings.model.terms import Quad
from tidings.model.zset import ZSet


@dataclass(frozen=True)
class Found:
    differences: ZSet[Quad]
    rewritten: int = 0


class Elsewhere:
    """Its quads, and how it behaves."""

    def __init__(self, *quads: Quad) -> None:
        self.quads = set(quads)
        self.away = False
        self.breaks: int | None = None
        """So many states it takes, and then the connection breaks."""
        self.refuses: Callable[[Quad], bool] = lambda _: False
        self.turn = asyncio.Event()
        self.turn.set()
        self.requests: list[dict[Quad, bool]] = []

    async def greet(self) -> None:
        await asyncio.sleep(0)
        self._check()

    async def take(self, states: Mapping[Quad, bool]) -> None:
        self.requests.append(dict(states))
        await self.turn.wait()
        self._check()
        if any(map(self.refuses, states)):
            raise EndpointRefused("it will not have this")
        for number, (quad, there) in enumerate(states.items()):
            if number == self.breaks:
                self.breaks, self.away = None, True
                self._check()
            (self.quads.add if there else self.quads.discard)(quad)

    async def lacking(self, states: Mapping[Quad, bool]) -> list[Quad]:
        await asyncio.sleep(0)
        self._check()
        return [quad for quad, there in states.items() if (quad in self.quads) is not there]

    async def compare(self, store: Store) -> Found:
        await asyncio.sleep(0)
        self._check()
        return Found(ZSet.change(removed=set(store) - self.quads, added=self.quads - set(store)))

    def _check(self) -> None:
        if self.away:
            raise EndpointAway("nobody is there")


@asynccontextmanager
async def mirrored(
    clock: Clock, elsewhere: Elsewhere, folder: Path | None = None, patience: float = 1e9
) -> AsyncIterator[tuple[Broker, Mirror]]:
    """A broker that has begun, in front of a store of record."""
    async with in_memory(clock) if folder is None else opened(clock, folder) as broker:
        mirror = Mirror(broker, elsewhere, patience)
        await mirror.begin()
        yield broker, mirror
