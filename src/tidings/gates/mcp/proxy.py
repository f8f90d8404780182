"""The gate for agents over stdin and stdout: a server for the one that started it, a client of the broker's `/mcp`.

Everything that lasts is at the broker; an agent may be started anew as often as it likes.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
from mcp import Client
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated

from tidings import __version__

Context = ServerRequestContext[Any, Any]
log = logging.getLogger("tidings")


class Proxy:
    """Passes on what an agent asks for."""

    def __init__(self, broker: Client) -> None:
        self._broker = broker
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._following: dict[str, asyncio.Task[None]] = {}
        self.server: Server[Any] = Server(
            "tidings",
            version=__version__,
            instructions=broker.instructions,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=self._listens,
        )

    async def _list_tools(self, _: Context, __: Any) -> types.ListToolsResult:
        return await self._broker.list_tools()

    async def _call_tool(self, _: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        return await self._broker.call_tool(params.name, params.arguments)

    async def _list_resources(self, _: Context, __: Any) -> types.ListResourcesResult:
        return await self._broker.list_resources()

    async def _read_resource(self, _: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return await self._broker.read_resource(str(params.uri))

    # -- what changes ---------------------------------------------------------------------------------------------

    async def _subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        address = str(params.uri)

        async def follow() -> None:
            async with self._broker.listen(resource_subscriptions=[address]) as events:
                async for _ in events:
                    await ctx.session.send_resource_updated(address)

        await self._unsubscribe(ctx, params)
        self._following[address] = asyncio.get_running_loop().create_task(follow())
        return types.EmptyResult()

    async def _unsubscribe(
        self, _: Context, params: types.UnsubscribeRequestParams | types.SubscribeRequestParams
    ) -> types.EmptyResult:
        following = self._following.pop(str(params.uri), None)
        if following is not None:
            following.cancel()
        return types.EmptyResult()

    async def _listens(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        async with self._followed(params.notifications.resource_subscriptions or ()):
            return await self._listen(ctx, params)

    @asynccontextmanager
    async def _followed(self, addresses: Iterable[str]) -> AsyncIterator[None]:
        """What the broker tells meanwhile is told here."""

        async def follow() -> None:
            async with self._broker.listen(resource_subscriptions=list(addresses)) as events:
                async for event in events:
                    if isinstance(event, ResourceUpdated):
                        await self._bus.publish(event)

        async with asyncio.TaskGroup() as tasks:
            following = tasks.create_task(follow())
            try:
                yield
            finally:
                following.cancel()

    def end(self) -> None:
        self._listen.close()
        for task in self._following.values():
            task.cancel()


async def serve(broker: Client) -> None:
    """Until stdin ends."""
    async with broker:
        proxy = Proxy(broker)
        try:
            async with stdio_server() as (from_agent, to_agent):
                await proxy.server.run(from_agent, to_agent, proxy.server.create_initialization_options())
        finally:
            proxy.end()
