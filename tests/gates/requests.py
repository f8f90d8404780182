"""Requests to an HTTP gate without a socket, each to a broker that has what the one before it left."""

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import httpx

from tidings.broker.broker import Broker
from tidings.engine.updates.executor import Core
from tidings.server import brokers, gates
from tidings.server.brokers import WATCH, Watch
from tidings.server.config import Settings

DATA = """PREFIX : <http://example.org/> INSERT DATA {
  :a :p 1 , "été"@fr . :b :p 2 . GRAPH :g { :c :p 3 } GRAPH :h { :d :p 4 } }"""
SELECT = "SELECT ?s ?o WHERE { ?s <http://example.org/p> ?o } ORDER BY ?s ?o"
UPDATE = {"content-type": "application/sparql-update"}
QUERY = {"content-type": "application/sparql-query"}


@dataclass(frozen=True)
class Gate:
    """What is behind an address: every request finds the quads that the one before it left."""

    settings: Settings
    core: Core
    watch: Watch


def gate(watch: Watch = WATCH, **changes: Any) -> Gate:
    settings = Settings(**changes)
    core = brokers.build_core(settings)
    core.update(DATA, now=0)
    return Gate(settings, core, watch)


def ask(app: Gate, method: str, path: str, **options: Any) -> httpx.Response:
    async def once() -> httpx.Response:
        async with (
            brokers.build_broker(app.settings, app.core, watch=app.watch) as broker,
            client_of(broker, app.settings, raise_app_exceptions=False) as client,
        ):
            return await client.request(method, path, **options)

    return asyncio.run(once())


def client_of(broker: Broker, settings: Settings, *, raise_app_exceptions: bool = True) -> httpx.AsyncClient:
    settings = replace(settings, allowed_hosts=(*settings.allowed_hosts, "tidings.test"))
    transport = httpx.ASGITransport(gates.http_app(broker, settings), raise_app_exceptions=raise_app_exceptions)
    return httpx.AsyncClient(transport=transport, base_url="http://tidings.test")


def values(response: httpx.Response) -> list[str]:
    assert response.status_code == 200, response.text
    return [binding["o"]["value"] for binding in response.json()["results"]["bindings"]]
