"""The MCP gate: the path `/mcp` of the HTTP gate (streamable HTTP), and its counters."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from tidings.gates.figures import Figure
from tidings.gates.gate import Counts
from tidings.gates.http.monitoring.openapi_parts import OBJECT, TEXT, content, operation
from tidings.gates.http.security.identification import asker_of
from tidings.gates.mcp.desk import Desk
from tidings.gates.mcp.server import AgentServer
from tidings.gates.mcp.watches import Watches
from tidings.gates.mcp.watching import Watching
from tidings.gates.premises import Premises

PATH = "/mcp"
_METHODS = ["GET", "POST", "DELETE", "OPTIONS"]


class McpGate:
    """`most` sessions may be open at a time."""

    name = "mcp"
    address = PATH

    def __init__(self, premises: Premises, *, read_only: bool = False, most: int = 1_000) -> None:
        self.counts = Counts()
        self.watches = Watches()
        premises.broker.facts.keep(Watches.KINDS, self.watches)
        self._watching = Watching(premises, self._updated)
        desk = Desk(premises.broker, self.watches, self._watching)
        self.agents = AgentServer(premises, desk, self.watches, self.counts, read_only=read_only or premises.read_only)
        # Whose requests are taken is seen to for all paths of the HTTP gate, by Host and Origin.
        open_to_all = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        self._sessions = StreamableHTTPSessionManager(
            self.agents.server,
            security_settings=open_to_all,
            max_request_body_size=premises.max_body,
            max_sessions=most,
        )

    def _updated(self, address: str) -> None:
        self.agents.updated(address)

    @property
    def clients(self) -> int:
        return len(self._watching)

    def figures(self) -> Iterable[Figure]:
        told = self._watching.counts.notifications
        yield Figure("mcp_watches", "Subscriptions that agents have left", len(self.watches))
        yield Figure("mcp_updated", "Changes of watched answers", told, grows=True)

    def routes(self) -> Sequence[BaseRoute]:
        return [Route(PATH, _Endpoint(self._sessions), methods=_METHODS)]

    def paths(self) -> Mapping[str, Any]:
        answer = content("Answers of the protocol", {"application/json": OBJECT, "text/event-stream": TEXT})
        asked = {"requestBody": {"required": True, "content": {"application/json": {"schema": OBJECT}}}}
        return {PATH: {"post": operation("agents", "Speak the Model Context Protocol", {"200": answer}) | asked}}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._sessions.run():
            await self._watching.resume(list(self.watches))
            try:
                yield
            finally:
                self.agents.end()
                self._watching.leave()


class _Endpoint:
    """The SDK's application, for those who may be there at all."""

    def __init__(self, sessions: StreamableHTTPSessionManager) -> None:
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "OPTIONS":
            await Response(status_code=204, headers={"allow": ", ".join(_METHODS)})(scope, receive, send)
            return
        asker_of(scope)
        await self._sessions.handle_request(scope, receive, send)
