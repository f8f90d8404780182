"""Agents and knowledge processors at a broker with its own authorisation server: tokens, rights per graph, an end."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from gates.secured import A, B, House, secured
from gates.smart_m3.kp import Message, Space, parameter
from waiting import asynchronous

OBJECTS = "SELECT ?o { GRAPH ?g { ?s ?p ?o } } ORDER BY ?o"


async def sent_away(house: House, name: str, boss: str) -> None:
    """Tokens of a client end with it."""
    answer = await house.http.delete(f"/admin/clients/{name}", headers={"authorization": boss})
    assert answer.status_code == 200, answer.text


# -- agents ------------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def agent(house: House, token: str) -> AsyncIterator[Client]:
    address = f"{house.http.base_url}/mcp"
    async with (
        httpx2.AsyncClient(headers={"authorization": token}) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        yield client


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    found = json.loads(answer.content[0].text)  # type: ignore[union-attr]
    assert isinstance(found, dict)
    return found


def insertion(graph: str, value: str) -> str:
    return f'INSERT DATA {{ GRAPH <{graph}> {{ <s> <p> "{value}" }} }}'


@asynchronous
async def test_an_agent_sees_and_changes_what_its_token_allows(tmp_path: Path) -> None:
    async with secured(tmp_path, mcp=True) as house:
        tokens = {name: await house.newcomer(name) for name in ("listener", "writer", "boss")}
        async with agent(house, tokens["listener"]) as listener, agent(house, tokens["writer"]) as writer:
            assert (await called(listener, "query", sparql=OBJECTS))["rows"] == [['"in a"']]
            await called(listener, "watch", name="all", sparql=OBJECTS)
            refused = await called(listener, "update", sparql=insertion(A, "x"), dry_run=False)
            assert refused["error"] == "graph_not_writable"
            assert "error" not in await called(writer, "update", sparql=insertion(A, "x"), dry_run=False)
            assert (await called(writer, "update", sparql=insertion(B, "x"), dry_run=False))[
                "error"
            ] == "graph_not_writable"
            await house.broker.update(insertion(B, "y"))
            assert (await called(listener, "changes", name="all"))["added"] == [['"x"']]
            assert (await called(writer, "watches"))["watches"] == []
        await sent_away(house, "listener", tokens["boss"])
        answer = await house.http.post("/mcp", json={}, headers={"authorization": tokens["listener"]})
        assert answer.status_code == 401


# -- knowledge processors ----------------------------------------------------------------------------------------------


def sparql(kind: str, text: str, token: str) -> tuple[str, ...]:
    escaped = text.replace("<", "&lt;").replace(">", "&gt;")
    return parameter("type", "sparql"), parameter(kind, escaped), parameter("credentials", token)


@asynchronous
async def test_a_knowledge_processor_shows_a_token(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        tokens = {name: await house.newcomer(name) for name in ("listener", "writer", "boss")}
        space = Space(house.broker, house.security.guard)

        async def asked(kind: str, name: str, text: str) -> Message:
            return await space.kp().ask(kind, *sparql("query", text, tokens[name].removeprefix("Bearer ")))

        answer = await asked("QUERY", "listener", OBJECTS)
        assert answer.status == "m3:Success"
        literals = [each.text for each in answer.parameters["results"].iter() if each.tag.endswith("literal")]
        assert literals == ["in a"]
        kp = space.kp()
        denied = await kp.ask("JOIN", parameter("credentials", "nonsense"))
        assert denied.status == "m3:SIB.Error.AccessDenied"
        assert (await kp.ask("JOIN", parameter("credentials", tokens["writer"]))).status == "m3:Success"
        await sent_away(house, "writer", tokens["boss"])
        assert (await kp.ask("JOIN", parameter("credentials", tokens["writer"]))).status == "m3:SIB.Error.AccessDenied"
