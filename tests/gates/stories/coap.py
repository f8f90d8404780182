"""The CoAP gate, with the client of aiocoap: answers are observed, and changes are what is other than before."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import cbor2
from aiocoap import Code, ContentFormat, Context, Message

from gates.client import rows
from gates.stories.driver import BAD_QUERY, Row, Subscription, World
from gates.wire import Broker
from ports import free_port
from waiting import PATIENCE


@dataclass
class CoapSubscription:
    request: Any
    told: AsyncIterator[Message]
    answer: Counter[Row] = field(default_factory=Counter)

    def take(self, message: Message) -> None:
        assert message.code == Code.CONTENT, message.payload
        self.answer = Counter(rows(cbor2.loads(message.payload)["results"]))

    async def hear(self) -> None:
        self.take(await asyncio.wait_for(anext(self.told), PATIENCE))

    async def end(self) -> None:
        self.request.observation.cancel()


@dataclass(frozen=True)
class CoapClient:
    context: Context
    address: str
    world: World

    async def ask(self, code: Code, path: str, text: str) -> Message:
        message = Message(code=code, uri=f"{self.address}/{path}", payload=text.encode())
        return await asyncio.wait_for(self.context.request(message).response, PATIENCE)

    async def publish(self, thing: str, state: str) -> None:
        answer = await self.ask(Code.POST, "update", self.world.insert(thing, state))
        assert answer.code == Code.CHANGED, answer.payload

    async def retract(self, thing: str, state: str) -> None:
        answer = await self.ask(Code.POST, "update", self.world.delete(thing, state))
        assert answer.code == Code.CHANGED, answer.payload

    async def subscribe(self) -> CoapSubscription:
        message = Message(
            code=Code.FETCH, uri=f"{self.address}/subscribe", payload=self.world.query.encode(), observe=0,
            accept=ContentFormat.CBOR,
        )  # fmt: skip
        request = self.context.request(message)
        subscription = CoapSubscription(request, aiter(request.observation))
        subscription.take(await asyncio.wait_for(request.response, PATIENCE))
        return subscription

    async def refusal(self) -> str:
        answer = await self.ask(Code.FETCH, "query", BAD_QUERY)
        assert answer.code == Code.BAD_REQUEST
        return str(answer.payload.decode().partition(":")[0])

    async def resume(self, subscription: Subscription) -> CoapSubscription:
        return await self.subscribe()  # who observes anew is told what is true

    async def pause(self) -> None:
        """What is sent to a client that does not look is lost, or overtaken by what is true later."""

    async def go_on(self) -> None:
        """As `pause`."""


class CoapDriver:
    bulk = 500
    has_peer = False

    def __init__(self) -> None:
        self.port = free_port()

    @asynccontextmanager
    async def around(self) -> AsyncIterator[Sequence[str]]:
        yield "--coap-port", str(self.port)

    @asynccontextmanager
    async def client(self, broker: Broker, world: World) -> AsyncIterator[CoapClient]:
        context = await Context.create_client_context(transports=["simple6"])
        try:
            yield CoapClient(context, f"coap://127.0.0.1:{self.port}", world)
        finally:
            await context.shutdown()

    async def restart_peer(self) -> None:
        raise AssertionError("there is nobody between the gate and its clients")
