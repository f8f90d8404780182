"""`tidings mcp`: an MCP server on stdin and stdout, with the tools of the broker, for agents that start a program."""

import asyncio
from argparse import Namespace
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from tidings.cli.input.addresses import http_of, trust_of
from tidings.cli.input.arguments import Parser, UsageError, add_broker
from tidings.cli.input.identity import calling, shown_of
from tidings.client.http import PATIENCE
from tidings.client.login.login import login_of
from tidings.client.login.showing import Showing
from tidings.extras import needing

if TYPE_CHECKING:
    import httpx2

PATH = "/mcp"
DESCRIPTION = """\
Serve an agent over stdin and stdout (Model Context Protocol): it can query, update, watch, and ask what changed since
it last looked, at a broker that was started with --mcp. Whatever lasts is at the broker. Enter it as
a command where your agent lists its servers."""
EXAMPLES = """\
examples:
  tidings mcp
  tidings mcp --http http://localhost:8000
"""


def parser() -> Parser:
    result = Parser("tidings mcp", DESCRIPTION, EXAMPLES)
    add_broker(result)
    return result


def run(arguments: Namespace) -> int:
    with needing("tidings mcp needs the SDK of the Model Context Protocol", "gates"):
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client

        from tidings.gates.mcp.proxy import serve

    url = http_of(arguments).rstrip("/")
    with calling(arguments) as calls:
        if PATH not in calls.json("/openapi.json").get("paths", {}):
            raise UsageError(f"the broker at {url} serves no agents: start it with --mcp")
    asyncio.run(serve(Client(streamable_http_client(url + PATH, http_client=_http_client(arguments, url)))))
    return 0


def _http_client(arguments: Namespace, url: str) -> "httpx2.AsyncClient":
    """The client that calls the broker, with the agent's credentials."""
    import httpx2

    trust = trust_of(arguments)
    login = login_of(shown_of(arguments, url), url)
    showing = Showing(login, PATIENCE, trust)

    class Bearer(httpx2.Auth):
        async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
            token = await showing.token()
            if token is not None:
                request.headers["Authorization"] = token.header
            yield request

    endless = httpx2.Timeout(PATIENCE, read=None)
    return httpx2.AsyncClient(timeout=endless, auth=Bearer(), verify=trust.context() or True)
