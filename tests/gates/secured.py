"""A broker that asks everybody who they are, behind both of its gates, on real sockets of the test's own loop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from picows import ws_create_server

from broker.making import Clock
from gates.doors import Server
from plain import async_client
from security.making import basic
from tidings.broker.broker import Broker
from tidings.gates.quotas import Quotas
from tidings.log.folder import Folder
from tidings.server import brokers, gates
from tidings.server.config import Settings
from tidings.server.optional_gates.opening import optional_gates
from tidings.server.security.assembly import Security, build
from waiting import PATIENCE, until

A, B = "http://city.example/a", "http://city.example/b"
POLICY = f"""
issuer = "http://localhost:8000"
tokens = {{algorithm = "Ed25519", seconds = 600, leeway = 0}}
hashes = {{passes = 1, kibibytes = 8, lanes = 1}}
logins = {{by_address = {{burst = 1000, per_second = 1000}}}}
identity = [{{identity = "*"}}]

[[grant]]
to = "client:reader"
query = ["{A}"]

[[grant]]
to = "client:writer"
update = ["{A}"]

[[grant]]
to = "client:listener"
subscribe = ["{A}"]

[[grant]]
to = "client:boss"
subscribe = ["*"]
update = ["*"]
administer = true
"""
DATA = f'INSERT DATA {{ GRAPH <{A}> {{ <s> <p> "in a" }} GRAPH <{B}> {{ <s> <p> "in b" }} }}'


@dataclass
class House:
    """A broker with security, and two ways in."""

    broker: Broker
    security: Security
    http: httpx.AsyncClient
    ws: str
    clock: Clock
    said: list[str]
    quotas: Quotas

    async def register(self, name: str) -> str:
        """Its secret."""
        wanted = {"register": {"client_identity": name, "grant_types": ["client_credentials"]}}
        answer = await self.http.post("/oauth/register", json=wanted, headers={"accept": "application/json"})
        assert answer.status_code == 201, answer.text
        secret = answer.json()["credentials"]["client_secret"]
        assert isinstance(secret, str)
        return secret

    async def login(self, name: str, secret: str) -> str:
        """A new token."""
        answer = await self.http.post("/oauth/token", headers={"authorization": basic(name, secret)})
        assert answer.status_code == 201, answer.text
        return f"Bearer {answer.json()['token']['access_token']}"

    async def newcomer(self, name: str) -> str:
        """The token of a new client."""
        return await self.login(name, await self.register(name))


@asynccontextmanager
async def secured(folder: Path, policy: str | None = POLICY, **changes: Any) -> AsyncIterator[House]:
    """In memory, or with `data` in a folder; its time passes by hand."""
    clock, said = Clock(), list[str]()
    values: dict[str, Any] = {
        "memory": "data" not in changes,
        "secure": True,
        "audit_log": str(folder / "audit.jsonl"),
        **changes,
    }
    if policy is not None:
        (folder / "security.toml").write_text(policy)
        values["security"] = str(folder / "security.toml")
    settings = Settings(**values)
    with ExitStack() as stack:
        broker = _broker(settings, brokers.Watch(clock.now, clock.monotonic), stack)
        async with _served(broker, settings, clock, said) as house:
            yield house


def _broker(settings: Settings, watch: brokers.Watch, stack: ExitStack) -> Broker:
    if settings.memory:
        return brokers.build_broker(settings, watch=watch)
    folder = stack.enter_context(Folder(Path(settings.data)))
    return brokers.open_broker(settings, folder.path, lambda _: None, watch=watch)


@asynccontextmanager
async def _served(broker: Broker, settings: Settings, clock: Clock, said: list[str]) -> AsyncIterator[House]:
    security = build(broker, settings, "http://localhost:8000", clock.monotonic)
    quotas = gates.client_quotas(settings, clock.monotonic)
    switched_on = optional_gates(gates.premises(broker, settings, security, quotas), settings)
    gate = gates.http_gate(broker, settings, security=security, quotas=quotas, gates=switched_on)
    sockets = gates.websocket_gate(broker, settings, security=security, quotas=quotas)
    app = gates.http_app(broker, settings, gate, security)
    server = Server(uvicorn.Config(app, port=0, lifespan="off", log_config=None, ws="none"))
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(broker)
        await stack.enter_async_context(security.running(said.append))
        for each in switched_on:
            await stack.enter_async_context(each.running())
        door = await ws_create_server(sockets.listen, "127.0.0.1", 0, **gates.picows_options(settings))
        serving = asyncio.create_task(server.serve())
        await until(lambda: server.started)
        address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        try:
            async with async_client(base_url=address) as client:
                await broker.update(DATA)
                ws = f"ws://127.0.0.1:{door.sockets[0].getsockname()[1]}/subscribe"
                yield House(broker, security, client, ws, clock, said, quotas)
        finally:
            gate.end()
            server.should_exit = True
            door.close()
            await sockets.close()
            async with asyncio.timeout(PATIENCE):
                await serving
