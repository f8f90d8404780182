"""Agents at a broker, within one process: the official SDK's client, talking to the gate's own server."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client

from broker.making import BASE, Clock, in_memory, opened
from tidings.broker.broker import Broker
from tidings.gates.mcp.gate import McpGate
from tidings.gates.premises import Premises
from tidings.gates.quotas import Quota, Quotas

DATA = """PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> INSERT DATA {
  <lamp-1> a <Lamp> ; rdfs:label "hall" ; <watts> 40 . <lamp-2> a <Lamp> ; <watts> 60 . <door> a <Door> }"""


class Agent:
    def __init__(self, client: Client, gate: McpGate, broker: Broker) -> None:
        self.client = client
        self.gate = gate
        self.broker = broker

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = await self.client.call_tool(tool, arguments)
        assert not answer.is_error, answer.content
        return _object(answer)

    async def refused(self, tool: str, **arguments: Any) -> str:
        answer = await self.client.call_tool(tool, arguments)
        assert answer.is_error
        return str(_object(answer)["error"])


def _object(answer: Any) -> dict[str, Any]:
    (content,) = answer.content
    found = json.loads(content.text)
    assert isinstance(found, dict)
    return found


@asynccontextmanager
async def agent(
    folder: Path | None = None, *, read_only: bool = False, mode: str = "auto", hear: Any = None
) -> AsyncIterator[Agent]:
    broker = in_memory(Clock()) if folder is None else opened(Clock(), folder)
    gate = McpGate(Premises(broker, Quotas(Quota(), lambda: 0.0), BASE), read_only=read_only)
    async with broker, gate.running(), Client(gate.agents.server, mode=mode, message_handler=hear) as client:
        if not broker.last_commit:
            await broker.update(DATA)
        yield Agent(client, gate, broker)
