"""Linked Data Notifications in both directions: notifications go into the broker's inbox, and come into one of ours."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx

from gates.stories.driver import BAD_QUERY, EXAMPLE, Row, Subscription, World
from gates.stories.receiver import Receiver
from gates.wire import Broker
from plain import async_client


@dataclass
class InboxSubscription:
    receiver: Receiver
    http: str
    path: str
    id: str
    seen: set[str] = field(default_factory=set)
    answer: Counter[Row] = field(default_factory=Counter)

    async def hear(self) -> None:
        posted = await self.receiver.next(self.path)
        assert posted.headers["content-type"] == "application/ld+json"
        told = json.loads(posted.body)
        assert told["type"] == "Update"
        if told["id"] in self.seen:
            return  # a repetition
        self.seen.add(told["id"])
        self.answer -= Counter(map(_row, told["removed"]))
        self.answer += Counter(map(_row, told["added"]))

    async def end(self) -> None:
        async with async_client() as client:
            answer = await client.delete(f"{self.http}/webhooks/{self.id}")
            assert answer.status_code == 200, answer.text


def _row(row: dict[str, Any]) -> Row:
    return row["var:thing"]["@id"], row["var:state"]["@value"]


@dataclass(frozen=True)
class InboxClient:
    http: httpx.AsyncClient
    receiver: Receiver
    world: World
    sent: dict[tuple[str, str], str] = field(default_factory=dict)
    """Where notifications are."""

    async def publish(self, thing: str, state: str) -> None:
        document = {"@id": EXAMPLE + thing, self.world.predicate: state}
        kind = {"content-type": "application/ld+json"}
        answer = await self.http.post("/inbox/", content=json.dumps(document), headers=kind)
        assert answer.status_code == 201, answer.text
        self.sent[thing, state] = answer.headers["location"]

    async def retract(self, thing: str, state: str) -> None:
        place = self.sent.get((thing, state)) or await self._place(thing, state)
        answer = await self.http.delete(place)
        assert answer.status_code == 204, answer.text

    async def _place(self, thing: str, state: str) -> str:
        """Of a notification that another client has sent."""
        text = f"SELECT ?g {{ GRAPH ?g {{ {self.world.triple(thing, state)} }} }}"
        answer = await self.http.get("/query", params={"query": text})
        name = answer.json()["results"]["bindings"][0]["g"]["value"]
        return f"/inbox/{name.rpartition('/')[2]}"

    async def _make(self, path: str, sparql: str) -> httpx.Response:
        here = f"http://127.0.0.1:{self.receiver.port}"
        self.receiver.links[f"{path}/me"] = f'<{here}{path}>; rel="http://www.w3.org/ns/ldp#inbox"'
        content = json.dumps({"inbox": f"{here}{path}/me", "sparql": sparql})
        return await self.http.post("/webhooks", content=content)

    async def subscribe(self) -> InboxSubscription:
        path = f"/{uuid4().hex}"
        answer = await self._make(path, self.world.query)
        assert answer.status_code == 201, answer.text
        made = answer.json()["webhook"]
        http = str(self.http.base_url).rstrip("/")
        subscription = InboxSubscription(self.receiver, http, path, made["id"])
        await subscription.hear()
        return subscription

    async def refusal(self) -> str:
        return str((await self._make("/bad", BAD_QUERY)).json()["error"])

    async def resume(self, subscription: Subscription) -> InboxSubscription:
        assert isinstance(subscription, InboxSubscription)
        subscription.http = str(self.http.base_url).rstrip("/")
        return subscription  # it needs nobody to go on

    async def pause(self) -> None:
        self.receiver.status = 503

    async def go_on(self) -> None:
        self.receiver.status = 201


class LdnDriver:
    has_peer = True
    bulk = 50_000

    def __init__(self) -> None:
        self.receiver: Receiver

    @asynccontextmanager
    async def around(self) -> AsyncIterator[Sequence[str]]:
        self.receiver = Receiver()
        self.receiver.status = 201
        await self.receiver.start()
        place = f"127.0.0.1:{self.receiver.port}"
        try:
            yield "--ldn", "--webhook-hosts", place, "--webhook-networks", "127.0.0.1", "--webhook-pause", "0.05"
        finally:
            await self.receiver.stop()

    @asynccontextmanager
    async def client(self, broker: Broker, world: World) -> AsyncIterator[InboxClient]:
        async with async_client(base_url=broker.http) as http:
            yield InboxClient(http, self.receiver, world)

    async def restart_peer(self) -> None:
        await self.receiver.stop()
        await self.receiver.start()
