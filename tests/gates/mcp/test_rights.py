"""Agents at a broker that asks who they are, over HTTP: what is one agent's is no other's."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from openapi_spec_validator import validate

from broker.making import BASE, Clock, in_memory
from tidings.gates.asking import Asker, OpenGuard, Resident, Shown
from tidings.gates.http.app import HttpGate, HttpSettings
from tidings.gates.http.monitoring.openapi import openapi
from tidings.gates.http.security.identification import Identification
from tidings.gates.mcp.gate import McpGate
from tidings.gates.premises import Premises
from tidings.gates.quotas import Quota, Quotas
from tidings.gates.visitors import Visitors
from tidings.model.access import Graphs, Rights
from tidings.security.errors import InvalidGrant
from waiting import asynchronous

READER = Rights(read=Graphs.ALL, subscribe=Graphs.ALL)
RIGHTS = {"alice": READER | Rights(write=Graphs.ALL), "bob": READER}
ALL = "SELECT ?o { ?s ?p ?o }"


class Doorman(OpenGuard):
    asks = True

    def recall(self, authorization: Shown) -> Asker:
        name = authorization.subject if isinstance(authorization, Resident) else (authorization or "")[7:]
        if name not in RIGHTS:
            raise InvalidGrant("nobody knows this token")
        return Asker(name, RIGHTS[name])


class Agent:
    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = await self.client.call_tool(tool, arguments)
        found = json.loads(answer.content[0].text)  # type: ignore[union-attr]
        assert isinstance(found, dict)
        return found


@asynccontextmanager
async def house() -> AsyncIterator[Any]:
    async with in_memory(Clock()) as broker:
        guard, quotas = Doorman(), Quotas(Quota(), lambda: 0.0)
        gate = McpGate(Premises(broker, quotas, BASE, guard))
        visitors = Visitors(hosts=("*",), origins=())
        settings = HttpSettings(BASE, 1 << 20, 100, read_only=False, loads=False, cors=(), visitors=visitors)
        app = Identification(HttpGate(broker, settings, guard, quotas=quotas, gates=(gate,)).app(), guard)

        def agent(name: str) -> Client:
            headers = {"authorization": f"Bearer {name}"}
            http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), headers=headers)
            return Client(streamable_http_client("http://tidings.test/mcp", http_client=http))

        async with gate.running():
            yield agent


@asynchronous
async def test_watches_belong_to_their_agent_and_rights_are_those_of_the_token() -> None:
    async with house() as agent, agent("alice") as one, agent("bob") as two:
        alice, bob = Agent(one), Agent(two)
        watch = await alice.call("watch", name="all", sparql=ALL)
        assert (await bob.call("watches")) == {"watches": []}
        assert (await bob.call("changes", name="all"))["error"] == "unknown_watch"
        with pytest.raises(MCPError):
            await two.read_resource(watch["resource"])
        assert (await bob.call("watch", name="all", sparql=ALL))["resource"] != watch["resource"]
        refused = await bob.call("update", sparql="INSERT DATA { <a> <b> 1 }", dry_run=False)
        assert refused["error"] == "graph_not_writable"
        assert (await alice.call("update", sparql="INSERT DATA { <a> <b> 1 }", dry_run=False))["added"] == 1
        assert (await bob.call("changes", name="all"))["added"] == [["1"]]
        assert (await one.read_resource(watch["resource"])).contents


def test_the_path_is_described() -> None:
    premises = Premises(in_memory(Clock()), Quotas(Quota(), lambda: 0.0), BASE)
    validate(openapi(more=McpGate(premises).paths()))


@asynchronous
async def test_nobody_in_particular_is_sent_away() -> None:
    async with house() as agent:
        with pytest.raises(ExceptionGroup) as refused:
            async with agent("mallory"):
                raise SystemExit("nobody comes in here")
        assert refused.group_contains(MCPError)
