"""The Smart-M3 gate, with the knowledge processor of the examples: SSAP over TCP."""

import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gates.stories.driver import BAD_QUERY, EXAMPLE, Row, World
from gates.stories.driver import Subscription as Told
from gates.wire import Broker
from plain import calls

sys.path.append(str(Path(__file__).parents[3] / "examples" / "smart_m3"))

from ssap import Answer, KnowledgeProcessor, Literal, Refused, Subscription, Triple


@dataclass
class SmartM3Subscription:
    client: "SmartM3Client"
    subscription: Subscription
    sequence: int = 0
    answer: Counter[Row] = field(default_factory=Counter)

    def take(self, told: Answer) -> None:
        self.sequence = int(told.text("ind_sequence"))
        self.answer -= _rows(told, "obsolete_results")
        self.answer += _rows(told, "new_results")

    async def hear(self) -> None:
        self.take(await self.subscription.next())

    async def end(self) -> None:
        await self.client.kp.unsubscribe(self.subscription)
        ended = await self.subscription.next()
        assert (ended.kind, ended.text("status")) == ("CONFIRM", "m3:Success")


def _rows(told: Answer, name: str) -> Counter[Row]:
    return Counter((row["thing"], row["state"]) for row in told.rows(name))


@dataclass
class SmartM3Client:
    kp: KnowledgeProcessor
    world: World
    stack: AsyncExitStack
    wires: list[Subscription] = field(default_factory=list)

    def _triple(self, thing: str, state: str) -> Triple:
        return EXAMPLE + thing, self.world.predicate, Literal(state)

    async def publish(self, thing: str, state: str) -> None:
        await self.kp.insert([self._triple(thing, state)])

    async def retract(self, thing: str, state: str) -> None:
        await self.kp.remove([self._triple(thing, state)])

    async def subscribe(self) -> SmartM3Subscription:
        begun = await self.stack.enter_async_context(self.kp.subscribed(self.world.query))
        self.wires.append(begun)
        return SmartM3Subscription(self, begun, answer=_rows(begun.first, "results"))

    async def refusal(self) -> str:
        with pytest.raises(Refused) as refused:
            await self.kp.sparql(BAD_QUERY)
        assert refused.value.status == "m3:KP.Error.Request"
        return refused.value.code

    async def resume(self, subscription: Told) -> SmartM3Subscription:
        assert isinstance(subscription, SmartM3Subscription)
        seen = (
            f'<parameter name="subscription_id">{subscription.subscription.id}</parameter>',
            f'<parameter name="ind_sequence">{subscription.sequence}</parameter>',
        )
        again = await self.stack.enter_async_context(self.kp.subscribed(self.world.query, *seen))
        resumed = SmartM3Subscription(self, again, subscription.sequence, subscription.answer)
        if again.first.text("resumed") == "TRUE":
            resumed.take(again.first)
        else:
            resumed.answer = _rows(again.first, "results")
        return resumed

    async def pause(self) -> None:
        for each in self.wires:
            each.wire.writer.transport.pause_reading()  # type: ignore[attr-defined]

    async def go_on(self) -> None:
        for each in self.wires:
            each.wire.writer.transport.resume_reading()  # type: ignore[attr-defined]


class SmartM3Driver:
    has_peer = False
    bulk = 50_000

    @asynccontextmanager
    async def around(self) -> AsyncIterator[Sequence[str]]:
        yield ("--smart-m3-port", "0")

    @asynccontextmanager
    async def client(self, broker: Broker, world: World) -> AsyncIterator[SmartM3Client]:
        address = calls.get(f"{broker.http}/status").json()["gates"]["smart_m3"]["address"]
        place = urlsplit(address)
        assert place.hostname is not None
        assert place.port is not None
        kp = KnowledgeProcessor("story", place.hostname, place.port)
        async with AsyncExitStack() as stack:
            await kp.join()
            yield SmartM3Client(kp, world, stack)

    async def restart_peer(self) -> None:
        raise AssertionError("there is nobody between the gate and its clients")
