"""Sets up the endpoint behind a broker by the settings: its address, its connection, and scheduled reconciliation."""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from tidings.broker.broker import Broker
from tidings.broker.record.context_mode import begin_in_context_mode
from tidings.broker.record.mirror import Mirror
from tidings.endpoint.connection import Address, Connection, Scheme, read_secret
from tidings.endpoint.feed import follow
from tidings.endpoint.jpar import read_jpar
from tidings.endpoint.store import SparqlStore
from tidings.model.errors import TidingsError
from tidings.server.config import BadSetting, Settings

log = logging.getLogger("tidings")


def address_of(settings: Settings) -> Address:
    """The address of the endpoint. Raises BadSetting."""
    scheme, secret = cast(Scheme, settings.endpoint_auth), settings.endpoint_secret
    if (scheme == "none") != (secret is None):
        raise BadSetting("endpoint_auth and endpoint_secret go together: how the broker shows who it is, and with what")
    shown = "" if secret is None else read_secret(Path(secret))
    if settings.endpoint is not None:
        return Address(settings.endpoint, settings.update_url or settings.endpoint, scheme, shown)
    if settings.endpoint_file is not None:
        found = read_jpar(Path(settings.endpoint_file))
        return Address(found.query, found.update, scheme, shown)
    raise BadSetting("update_url is where an endpoint takes updates: say with endpoint where it takes queries")


@asynccontextmanager
async def behind(broker: Broker, settings: Settings) -> AsyncIterator[Mirror]:
    """The mirror of a running broker at its endpoint. When the context begins, both have the same quads.

    Raises the errors because of which a broker cannot start."""
    address = address_of(settings)
    if settings.keeps_contexts and settings.deliver is not None:
        raise BadSetting(
            "deliver has answers worked out elsewhere from the whole graph, which context mode does not log"
        )
    name = f"tidings-{uuid4().hex[:12]}"
    async with AsyncExitStack() as stack:
        connection = await stack.enter_async_context(
            Connection(address, seconds=settings.endpoint_timeout, publisher=name)
        )
        default = settings.endpoint_default_graph
        contexts, patience = broker.engine.contexts, settings.endpoint_patience
        store = SparqlStore(
            connection, settings.endpoint_dialect, None if default is None else f"<{default}>",
            None if contexts is None else contexts.keys, broker.policy.answer,
        )  # fmt: skip
        if contexts is None:
            mirror = Mirror(broker, store, patience)
            await mirror.begin()
        else:
            mirror = await begin_in_context_mode(
                broker, store, patience, settings.max_context, sole_writer=settings.sole_writer
            )
        tasks = await stack.enter_async_context(_Background())
        if settings.reconcile_every:
            tasks.begin(_reconcile(mirror, settings.reconcile_every))
        if settings.endpoint_feed is not None:
            tasks.begin(follow(settings.endpoint_feed, mirror, own=name))
        yield mirror


class _Background:
    """Tasks that end with the broker."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> "_Background":
        return self

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.get_running_loop().create_task(work))

    async def __aexit__(self, *failure: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _reconcile(mirror: Mirror, seconds: float) -> None:
    """Reconcile the endpoint with the broker at regular intervals."""
    while True:
        await asyncio.sleep(seconds)
        try:
            await mirror.reconcile("endpoint")
        except TidingsError as error:
            log.warning("the endpoint could not be compared: %s", error)
