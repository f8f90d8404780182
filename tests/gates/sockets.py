"""A broker behind its WebSocket gate, on a real socket of the test's own loop."""

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, ParamSpec

import uvloop
from picows import ws_create_server

import waiting
from tidings.broker.broker import Broker
from tidings.gates.websocket.gate import WebSocketGate
from tidings.server import brokers, gates
from tidings.server.config import Settings
from waiting import PATIENCE, until

ALL = "SELECT ?s ?o { ?s <p> ?o }"
P = ParamSpec("P")


def asynchronous(test: Callable[P, Coroutine[None, None, None]]) -> Callable[P, None]:
    """On the loop that brokers run on."""
    return waiting.asynchronous(test, uvloop.new_event_loop)


@dataclass(frozen=True)
class House:
    """A broker behind its gate."""

    broker: Broker
    gate: WebSocketGate
    settings: Settings
    port: int

    @property
    def ws(self) -> str:
        return f"ws://127.0.0.1:{self.port}/subscribe"

    async def nobody(self) -> None:
        """Until all clients are gone."""
        await until(lambda: not self.gate.connections)


@asynccontextmanager
async def serving(**changes: Any) -> AsyncIterator[House]:
    values: dict[str, Any] = {"slice": PATIENCE, "ping": PATIENCE, **changes}
    settings = Settings(**values)
    async with brokers.build_broker(settings) as broker:
        gate = gates.websocket_gate(broker, settings)
        try:
            async with door(House(broker, gate, settings, 0)) as house:
                yield house
        finally:
            await gate.close()


@asynccontextmanager
async def door(house: House, *, handshake: float = PATIENCE, **changes: Any) -> AsyncIterator[House]:
    """The same house through a door of its own. Where little time is allowed, only those knock who are to be late."""
    options = gates.picows_options(replace(house.settings, **changes)) | {"websocket_handshake_timeout": handshake}
    server = await ws_create_server(house.gate.listen, "127.0.0.1", 0, **options)
    try:
        yield replace(house, port=server.sockets[0].getsockname()[1])
    finally:
        server.close()
