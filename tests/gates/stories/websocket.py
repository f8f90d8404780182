"""The WebSocket gate, which needs nobody around it."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from gates import client as sockets
from gates.stories.driver import BAD_QUERY, Row, Subscription, World
from gates.wire import Broker


@dataclass
class WebSocketSubscription:
    client: "WebSocketClient"
    spuid: str = ""
    sequence: int = -1
    answer: Counter[Row] = field(default_factory=Counter)

    def take(self, message: sockets.Message) -> None:
        told = message["notification"]
        if told.get("resumed") is False:
            self.answer.clear()
        self.spuid, self.sequence = told["spuid"], told["sequence"]
        self.answer -= Counter(sockets.rows(told["removedResults"]))
        self.answer += Counter(sockets.rows(told["addedResults"]))

    async def hear(self) -> None:
        self.take(await self.client.subscriber.next())

    async def end(self) -> None:
        answer = await self.client.subscriber.ask({"unsubscribe": {"spuid": self.spuid}})
        assert answer == {"unsubscribed": {"spuid": self.spuid}}


@dataclass(frozen=True)
class WebSocketClient:
    """One socket for subscriptions, one for updates: no answer comes between notifications."""

    subscriber: sockets.Client
    publisher: sockets.Client
    world: World

    async def publish(self, thing: str, state: str) -> None:
        await self.publisher.update(self.world.insert(thing, state))

    async def retract(self, thing: str, state: str) -> None:
        await self.publisher.update(self.world.delete(thing, state))

    async def subscribe(self) -> WebSocketSubscription:
        self.subscriber.send({"subscribe": {"sparql": self.world.query}})
        subscription = WebSocketSubscription(self)
        await subscription.hear()
        return subscription

    async def refusal(self) -> str:
        return str((await self.publisher.ask({"subscribe": {"sparql": BAD_QUERY}}))["error"])

    async def resume(self, subscription: Subscription) -> WebSocketSubscription:
        assert isinstance(subscription, WebSocketSubscription)
        seen = {"spuid": subscription.spuid, "sequence": subscription.sequence}
        self.subscriber.send({"subscribe": {"sparql": self.world.query, "resume": seen}})
        subscription.client = self
        await subscription.hear()
        return subscription

    async def pause(self) -> None:
        self.subscriber.transport.underlying_transport.pause_reading()

    async def go_on(self) -> None:
        self.subscriber.transport.underlying_transport.resume_reading()


class WebSocketDriver:
    bulk = 50_000
    has_peer = False

    @asynccontextmanager
    async def around(self) -> AsyncIterator[Sequence[str]]:
        yield ()

    @asynccontextmanager
    async def client(self, broker: Broker, world: World) -> AsyncIterator[WebSocketClient]:
        async with sockets.connected(broker) as subscriber, sockets.connected(broker) as publisher:
            yield WebSocketClient(subscriber, publisher, world)

    async def restart_peer(self) -> None:
        raise AssertionError("there is nobody between the gate and its clients")
