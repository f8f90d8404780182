"""The gate for agents, over HTTP, with the client of the official SDK: watches, and what changed."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from mcp import Client

from gates.stories.driver import BAD_QUERY, Row, Subscription, World
from gates.wire import Broker


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    found = json.loads(answer.content[0].text)  # type: ignore[union-attr]
    assert isinstance(found, dict)
    return found


def _row(row: list[str]) -> Row:
    """As the answer has it: an IRI in brackets, a literal in quotes."""
    return tuple(cell[1:-1] for cell in row)


@dataclass
class Watched:
    client: Client
    name: str
    events: Any
    cursor: str | None = None
    answer: Counter[Row] = field(default_factory=Counter)

    async def hear(self) -> None:
        while not await self.look():
            await anext(self.events)

    async def look(self) -> bool:
        """Whether anything has changed."""
        told = await ask(self.client, "changes", name=self.name, after=self.cursor, limit=1_000)
        self.cursor = told["cursor"]
        self.answer -= Counter(map(_row, told["removed"]))
        self.answer += Counter(map(_row, told["added"]))
        return bool(told["removed"] or told["added"])

    async def end(self) -> None:
        assert await ask(self.client, "unwatch", name=self.name) == {"ended": self.name}


@dataclass(frozen=True)
class AgentClient:
    client: Client
    world: World
    stack: AsyncExitStack

    async def publish(self, thing: str, state: str) -> None:
        await ask(self.client, "update", sparql=self.world.insert(thing, state), dry_run=False)

    async def retract(self, thing: str, state: str) -> None:
        await ask(self.client, "update", sparql=self.world.delete(thing, state), dry_run=False)

    async def subscribe(self) -> Watched:
        name = uuid4().hex
        begun = await ask(self.client, "watch", name=name, sparql=self.world.query, limit=1_000)
        watched = await self._listening(name)
        watched.answer.update(map(_row, begun["rows"]))
        return watched

    async def _listening(self, name: str) -> Watched:
        address = f"tidings://watches/{name}"
        events = await self.stack.enter_async_context(self.client.listen(resource_subscriptions=[address]))
        return Watched(self.client, name, aiter(events))

    async def refusal(self) -> str:
        return str((await ask(self.client, "query", sparql=BAD_QUERY))["error"])

    async def resume(self, subscription: Subscription) -> Watched:
        assert isinstance(subscription, Watched)
        watched = await self._listening(subscription.name)
        watched.answer, watched.cursor = subscription.answer, subscription.cursor
        return watched

    async def pause(self) -> None:
        """An agent that does not look takes nothing."""

    async def go_on(self) -> None: ...


class McpDriver:
    has_peer = False
    bulk = 500

    @asynccontextmanager
    async def around(self) -> AsyncIterator[Sequence[str]]:
        yield ("--mcp",)

    @asynccontextmanager
    async def client(self, broker: Broker, world: World) -> AsyncIterator[AgentClient]:
        async with Client(f"{broker.http}/mcp") as client, AsyncExitStack() as stack:
            yield AgentClient(client, world, stack)

    async def restart_peer(self) -> None:
        raise AssertionError("there is nobody between the gate and its clients")
