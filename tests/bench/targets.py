"""Targets of every kind, each in a process of its own, and the lamp that they are told about."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tidings.bench.targets import Arrival, Listening, Target
from tidings.bench.targets.kinds import make
from tidings.bench.targets.started.peers import oxigraph_binary
from tidings.model.terms import Triple, iri, literal
from waiting import PATIENCE

LAMP, POWER, NAME = iri("http://example.org/lamp"), iri("http://example.org/power"), iri("http://example.org/name")
POWERS = f"SELECT ?power WHERE {{ {LAMP} {POWER} ?power }}"
SEPA = {
    "kind": "managed",
    "command": [sys.executable, "-m", "tidings", "serve", "--memory", "--http-port", "0", "--ws-port", "0"],
    "greeting": r"http://127\.0\.0\.1:(?P<http_port>\d+)[\s\S]*ws://127\.0\.0\.1:(?P<ws_port>\d+)/subscribe",
    "target": {
        "kind": "sepa",
        "url": "http://127.0.0.1:{http_port}",
        "ws": "ws://127.0.0.1:{ws_port}/subscribe",
        "subscribers_per_connection": 2,
    },
}
POLLED: dict[str, Any] = SEPA | {
    "health": "http://127.0.0.1:{http_port}/healthz",
    "target": {
        "kind": "endpoint",
        "query": "http://127.0.0.1:{http_port}/query",
        "update": "http://127.0.0.1:{http_port}/update",
        "poll_ms": 5,
        "form": True,
        "triples_per_request": 5,
    },
}
BROKERS: dict[str, dict[str, Any]] = {
    "ws": {"kind": "tidings", "subscribers_per_connection": 2},
    "http": {"kind": "tidings", "transport": "http", "storage": "disk"},
    "sse": {"kind": "tidings", "transport": "sse"},
    "naive": {"kind": "tidings-naive"},
    "context": {"kind": "tidings-context"},
    "sepa": SEPA,
}
STORES: dict[str, dict[str, Any]] = {"endpoint": POLLED, "oxigraph": {"kind": "oxigraph", "poll_ms": 5}}
server = pytest.mark.server


def powers(*values: str) -> list[Triple]:
    return [(LAMP, POWER, literal(value)) for value in values]


@asynccontextmanager
async def opened(settings: dict[str, Any]) -> AsyncIterator[Target]:
    if settings["kind"] in {"oxigraph", "tidings-context"} and oxigraph_binary() is None:
        pytest.skip("the extra bench is not installed")
    target = make("it", settings)
    await target.open()
    try:
        yield target
    finally:
        await target.close()


async def heard(listening: Listening, number: int) -> list[Arrival]:
    notifications = aiter(listening)
    async with asyncio.timeout(PATIENCE):
        return [await anext(notifications) for _ in range(number)]
