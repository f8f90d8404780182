"""The tools and resources, by the official SDK: what comes in over any transport goes to the desk.

A watch is a resource. Clients of the protocol from before 2026 subscribe to it, later ones listen; both are told
`resources/updated` when its answer has changed.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import unquote

import mcp_types as types
import orjson
from mcp.server import Server, ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated

from tidings import __version__
from tidings.broker.subscriptions.subscriber import Parcel, Subscriber
from tidings.gates.caller import Caller
from tidings.gates.gate import Counts
from tidings.gates.mcp.desk import Desk
from tidings.gates.mcp.requests import read_request, schema_of, tools
from tidings.gates.mcp.watches import Watches
from tidings.gates.mcp.watching import address_of
from tidings.gates.premises import Premises
from tidings.model.errors import NotFound, TidingsError, internal_error

INSTRUCTIONS = """\
A knowledge graph (RDF) that several agents and programs share. Begin with vocabulary to see what is in it, ask with
query, and change it with update, which is a dry run at first. Leave a watch for what concerns you, and ask changes what
came and went since you last looked; other agents see what you write, and you see what they write."""
MOST_SESSIONS = 1_000
"""That may have subscribed to one resource."""

Context = ServerRequestContext[Any, Any]
log = logging.getLogger("tidings")


class AgentServer:
    """All agents, over all transports."""

    def __init__(
        self, premises: Premises, desk: Desk, watches: Watches, counts: Counts, *, read_only: bool = False
    ) -> None:
        self._premises = premises
        self._desk = desk
        self._watches = watches
        self._counts = counts
        self._read_only = read_only
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._subscribed: dict[str, set[ServerSession]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.server: Server[Any] = Server(
            "tidings",
            version=__version__,
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=self._listens,
        )

    def end(self) -> None:
        """Let those go who listen."""
        self._listen.close()
        for task in self._tasks:
            task.cancel()

    # -- tools ----------------------------------------------------------------------------------------------------

    async def _list_tools(self, _: Context, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(kind) for kind in tools(read_only=self._read_only)])

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            request = read_request(params.name, params.arguments or {}, read_only=self._read_only)
            async with self._calling(ctx) as caller:
                return _said(await self._desk.carry_out(request, caller))
        except TidingsError as error:
            return _said(error.to_json(), is_error=True)
        except Exception:
            log.exception("internal error while an agent was served")
            return _said(internal_error().to_json(), is_error=True)

    @asynccontextmanager
    async def _calling(self, ctx: Context) -> AsyncIterator[Caller]:
        """Whoever asks, for as long as one request takes."""
        request = ctx.request
        shown = None if request is None else request.headers.get("authorization")
        where = "" if request is None or request.client is None else request.client.host
        caller = Caller(self._premises, _Nobody(), self._counts, shown=shown, where=where)
        try:
            yield caller
        finally:
            caller.leave()

    # -- resources ------------------------------------------------------------------------------------------------

    async def _list_resources(self, ctx: Context, _: Any) -> types.ListResourcesResult:
        async with self._calling(ctx) as caller:
            owner = (await caller.identify()).subject
        return types.ListResourcesResult(resources=[
            types.Resource(
                uri=address_of(owner, watch.name), name=watch.name, mime_type="application/json",
                description=f"the answer, as it is now, of {watch.text[:200]}",
            )
            for watch in self._watches.of(owner)
        ])  # fmt: skip

    async def _read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        address = str(params.uri)
        async with self._calling(ctx) as caller:
            content = await self._desk.read(await self._name(caller, address), caller)
        text = orjson.dumps(content).decode()
        contents = types.TextResourceContents(uri=address, mime_type="application/json", text=text)
        return types.ReadResourceResult(contents=[contents])

    async def _name(self, caller: Caller, address: str) -> str:
        """The name of a watch of the asker's own. Raises UnknownWatch."""
        owner = (await caller.identify()).subject
        name = unquote(address.rpartition("/")[2])
        watch = self._watches.find(owner, name)
        if address_of(owner, watch.name) != address:
            raise NotFound(f"there is no resource {address}")
        return name

    async def _subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        async with self._calling(ctx) as caller:
            await self._name(caller, str(params.uri))
        sessions = self._subscribed.setdefault(str(params.uri), set())
        if len(sessions) < MOST_SESSIONS:
            sessions.add(ctx.session)
        return types.EmptyResult()

    async def _unsubscribe(self, ctx: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        self._subscribed.get(str(params.uri), set()).discard(ctx.session)
        return types.EmptyResult()

    async def _listens(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        async with self._calling(ctx) as caller:
            for address in params.notifications.resource_subscriptions or ():
                await self._name(caller, address)
        return await self._listen(ctx, params)

    def updated(self, address: str) -> None:
        """Tell whoever listens that a watched answer has changed."""
        self._later(self._bus.publish(ResourceUpdated(address)))
        for session in list(self._subscribed.get(address, ())):
            self._later(self._told(session, address))

    async def _told(self, session: ServerSession, address: str) -> None:
        try:
            await session.send_resource_updated(address)
        except Exception:
            log.debug("a session of an agent is gone", exc_info=True)
            self._subscribed.get(address, set()).discard(session)

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class _Nobody:
    """Agents are told nothing over their requests; what changes is told by way of resources."""

    def deliver(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None: ...

    def dismiss(self, subscriber: Subscriber, reason: str, code: int) -> None: ...

    def close(self, code: int, reason: str) -> None: ...


def _tool(kind: Any) -> types.Tool:
    words = " ".join((kind.__doc__ or "").split())
    hints = types.ToolAnnotations(read_only_hint=not kind.changes, destructive_hint=kind.changes, open_world_hint=False)
    return types.Tool(name=kind.__name__.lower(), description=words, input_schema=schema_of(kind), annotations=hints)


def _said(content: dict[str, Any], *, is_error: bool = False) -> types.CallToolResult:
    text = types.TextContent(type="text", text=orjson.dumps(content).decode())
    return types.CallToolResult(content=[text], is_error=is_error)
