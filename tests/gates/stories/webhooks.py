"""Web hooks, whose client is a receiver that verifies each message with the library of Standard Webhooks."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx
from standardwebhooks.webhooks import Webhook

from gates.client import rows
from gates.stories.driver import BAD_QUERY, Row, Subscription, World
from gates.stories.receiver import Receiver
from gates.wire import Broker
from plain import async_client


@dataclass
class HookSubscription:
    receiver: Receiver
    http: str
    path: str
    id: str
    verifier: Webhook
    number: int = 0
    answer: Counter[Row] = field(default_factory=Counter)

    async def hear(self) -> None:
        posted = await self.receiver.next(self.path)
        content: Any = self.verifier.verify(posted.body, posted.headers)
        assert posted.headers["webhook-id"] == f"{self.id}.{content['number']}"
        if content["number"] <= self.number:
            return  # a repetition
        assert content["number"] == self.number + 1
        self.number = content["number"]
        told = content["notification"]
        if told.get("resumed") is False:
            self.answer.clear()
        self.answer -= Counter(rows(told["removedResults"]))
        self.answer += Counter(rows(told["addedResults"]))

    async def end(self) -> None:
        async with async_client() as client:
            answer = await client.delete(f"{self.http}/webhooks/{self.id}")
            assert answer.status_code == 200, answer.text


@dataclass(frozen=True)
class HookClient:
    http: httpx.AsyncClient
    receiver: Receiver
    world: World

    async def _update(self, text: str) -> None:
        answer = await self.http.post("/update", data={"update": text})
        assert answer.status_code == 200, answer.text

    async def publish(self, thing: str, state: str) -> None:
        await self._update(self.world.insert(thing, state))

    async def retract(self, thing: str, state: str) -> None:
        await self._update(self.world.delete(thing, state))

    async def _make(self, path: str, sparql: str) -> httpx.Response:
        url = f"http://127.0.0.1:{self.receiver.port}{path}"
        return await self.http.post("/webhooks", content=json.dumps({"url": url, "sparql": sparql}))

    async def subscribe(self) -> HookSubscription:
        path = f"/{uuid4().hex}"
        answer = await self._make(path, self.world.query)
        assert answer.status_code == 201, answer.text
        made = answer.json()["webhook"]
        http = str(self.http.base_url).rstrip("/")
        subscription = HookSubscription(self.receiver, http, path, made["id"], Webhook(made["secret"]))
        await subscription.hear()
        return subscription

    async def refusal(self) -> str:
        return str((await self._make("/", BAD_QUERY)).json()["error"])

    async def resume(self, subscription: Subscription) -> HookSubscription:
        assert isinstance(subscription, HookSubscription)
        subscription.http = str(self.http.base_url).rstrip("/")
        return subscription  # a hook needs nobody to go on

    async def pause(self) -> None:
        self.receiver.status = 503

    async def go_on(self) -> None:
        self.receiver.status = 204


class WebhookDriver:
    bulk = 50_000
    has_peer = True

    def __init__(self) -> None:
        self.receiver: Receiver

    @asynccontextmanager
    async def around(self) -> AsyncIterator[Sequence[str]]:
        self.receiver = Receiver()
        await self.receiver.start()
        place = f"127.0.0.1:{self.receiver.port}"
        try:
            yield "--webhook-hosts", place, "--webhook-networks", "127.0.0.1", "--webhook-pause", "0.05"
        finally:
            await self.receiver.stop()

    @asynccontextmanager
    async def client(self, broker: Broker, world: World) -> AsyncIterator[HookClient]:
        async with async_client(base_url=broker.http) as http:
            yield HookClient(http, self.receiver, world)

    async def restart_peer(self) -> None:
        await self.receiver.stop()
        await self.receiver.start()
