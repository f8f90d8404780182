"""A broker within the test's own loop: its HTTP gate called directly, or over a real socket where that matters."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from picows import ws_create_server

from gates.client import Message
from plain import async_client
from tidings.broker.broker import Broker
from tidings.gates.http.app import HttpGate
from tidings.log.folder import Folder
from tidings.server import brokers, gates
from tidings.server.brokers import WATCH, Watch
from tidings.server.config import Settings
from waiting import PATIENCE, until


class Server(uvicorn.Server):
    """Signals are the test runner's."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@dataclass
class House:
    """A broker, its HTTP gate, and a client."""

    broker: Broker
    gate: HttpGate
    http: httpx.AsyncClient

    async def update(self, text: str) -> Message:
        answer = await self.http.post("/update", data={"update": text})
        assert answer.status_code == 200, answer.text
        response = answer.json()["response"]
        assert isinstance(response, dict)
        return response

    async def get(self, path: str, status: int = 200, **options: Any) -> httpx.Response:
        answer = await self.http.get(path, **options)
        assert answer.status_code == status, answer.text
        return answer


def is_error(answer: httpx.Response, status: int, code: str) -> bool:
    envelope = answer.json()
    return (answer.status_code, envelope["status_code"], envelope["error"]) == (status, status, code)


@asynccontextmanager
async def built(
    folder: Path | None = None, watch: Watch = WATCH, **changes: Any
) -> AsyncIterator[tuple[Broker, HttpGate, Settings]]:
    """A broker in memory, or with a folder that keeps what is published."""
    settings = Settings(**{"allowed_hosts": ("tidings.test",), **changes})
    if folder is None:
        broker = brokers.build_broker(settings, watch=watch)
        async with broker:
            yield broker, gates.http_gate(broker, settings), settings
        return
    with Folder(folder) as locked:
        broker = brokers.open_broker(settings, locked.path, lambda _: None, watch=watch)
        async with broker:
            yield broker, gates.http_gate(broker, settings), settings


@asynccontextmanager
async def indoors(folder: Path | None = None, **changes: Any) -> AsyncIterator[House]:
    """Without a socket."""
    async with built(folder, **changes) as (broker, gate, settings):
        transport = httpx.ASGITransport(gates.http_app(broker, settings, gate), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://tidings.test") as client:
            yield House(broker, gate, client)


@asynccontextmanager
async def listening(folder: Path | None = None, **changes: Any) -> AsyncIterator[House]:
    """On a port of the loopback interface."""
    async with built(folder, **changes) as (broker, gate, settings):
        app, sockets = gates.http_app(broker, settings, gate), gates.websocket_gate(broker, settings)
        config = gates.uvicorn_config(app, settings, sockets, gates.quick_updates(broker, settings, gate))
        config.port = 0
        server = Server(config)
        serving = asyncio.create_task(server.serve())
        await until(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        async with async_client(base_url=f"http://127.0.0.1:{port}") as client:
            try:
                yield House(broker, gate, client)
            finally:
                gate.end()
                server.should_exit = True
                async with asyncio.timeout(PATIENCE):
                    await serving


@asynccontextmanager
async def with_websockets(house: House) -> AsyncIterator[str]:
    """The address of a WebSocket gate of the same broker."""
    settings = Settings()
    gate = gates.websocket_gate(house.broker, settings)
    door = await ws_create_server(gate.listen, "127.0.0.1", 0, **gates.picows_options(settings))
    try:
        yield f"ws://127.0.0.1:{door.sockets[0].getsockname()[1]}/subscribe"
    finally:
        door.close()
        await gate.close()


# -- event streams ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Event:
    id: str | None
    name: str | None
    data: Message

    @property
    def notification(self) -> Message:
        content = self.data["notification"]
        assert isinstance(content, dict)
        return content


class Listener:
    """A client of an event stream, as the HTML standard describes one."""

    def __init__(self, answer: httpx.Response) -> None:
        self.answer = answer
        self._lines = answer.aiter_lines()
        self.comments = 0

    async def next(self) -> Event:
        async with asyncio.timeout(PATIENCE):
            return await self._next()

    async def _next(self) -> Event:
        fields: dict[str, str] = {}
        async for line in self._lines:
            if line.startswith(":"):
                self.comments += 1
            elif line:
                name, _, value = line.partition(":")
                fields[name] = value.removeprefix(" ")
            elif "data" in fields:
                return Event(fields.get("id"), fields.get("event"), json.loads(fields["data"]))
        raise EOFError("the stream has ended")

    async def is_over(self) -> bool:
        try:
            await self.next()
        except EOFError:
            return True
        return False


@asynccontextmanager
async def subscribed(house: House, query: str | None = None, **options: Any) -> AsyncIterator[Listener]:
    parameters = dict(options.pop("params", {})) | ({} if query is None else {"query": query})
    async with house.http.stream("GET", "/subscribe", params=parameters, **options) as answer:
        if answer.status_code != 200:
            await answer.aread()
        yield Listener(answer)
