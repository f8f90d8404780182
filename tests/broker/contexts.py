"""Brokers in context mode to test with: their graph is at an endpoint in this process, and contexts are in memory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from broker.making import Client, Clock, in_memory, opened
from endpoint.in_process import InProcess
from oracles.recomputation import recomputed
from tidings.broker.broker import Broker
from tidings.broker.record.context_mode import begin_in_context_mode
from tidings.broker.record.mirror import Mirror
from tidings.endpoint.connection import Connection
from tidings.endpoint.store import SparqlStore
from tidings.engine.store.store import Store

BASE = "http://example.org/"
MOST = 10_000


@asynccontextmanager
async def in_context(
    clock: Clock,
    connection: Connection,
    folder: Path | None = None,
    patience: float = 1e9,
    most: int = MOST,
    *,
    sole_writer: bool = False,
) -> AsyncIterator[tuple[Broker, Mirror]]:
    """A broker that has begun, in front of an endpoint."""
    if folder is None:
        broker = in_memory(clock, contexts=True)
    else:
        broker = opened(clock, folder, endpoint="http://localhost/query", mode="context")
    async with broker:
        assert broker.engine.contexts is not None
        store = SparqlStore(connection, part=broker.engine.contexts.keys)
        mirror = await begin_in_context_mode(broker, store, patience, most, sole_writer=sole_writer)
        yield broker, mirror


def check(client: Client, connection: InProcess) -> None:
    """What each subscriber was told adds up to its answer over the whole graph."""
    check_over(client, connection.whole())


def check_over(client: Client, whole: Store) -> None:
    for known in client.known.values():
        assert known.answer == recomputed(known.text, whole, now=client.broker.commit_log.time, base=BASE), known.text
