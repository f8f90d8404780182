"""The gate of web hooks: its endpoints are paths of the HTTP gate, and it sends requests to the receivers."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from starlette.routing import BaseRoute

from tidings.gates.figures import Figure
from tidings.gates.gate import Counts
from tidings.gates.premises import Premises
from tidings.gates.webhooks.deliveries import Deliveries
from tidings.gates.webhooks.endpoints import WebhookEndpoints
from tidings.gates.webhooks.openapi import paths


class WebhookGate:
    """All web hooks of a broker."""

    name = "webhooks"
    address = "/webhooks"

    def __init__(self, premises: Premises, deliveries: Deliveries) -> None:
        self._premises = premises
        self._deliveries = deliveries

    @property
    def counts(self) -> Counts:
        return self._deliveries.counts

    @property
    def clients(self) -> int:
        return len(self._deliveries.hooks)

    def figures(self) -> Iterable[Figure]:
        states = list(self._deliveries.hooks)
        parked = sum(state.parked is not None for state in states)
        yield Figure("webhooks_parked", "Web hooks that were given up for now", parked)
        waiting = sum(state.letter is not None and state.parked is None for state in states)
        yield Figure("webhooks_waiting", "Web hooks with a message that was not taken yet", waiting)
        attempts = self._deliveries.attempts
        yield Figure("webhooks_attempts", "Requests made to receivers", attempts.made, grows=True)
        yield Figure("webhooks_failures", "Requests that they did not take", attempts.failed, grows=True)

    def routes(self) -> Sequence[BaseRoute]:
        return WebhookEndpoints(self._deliveries, self._premises.guard, self._premises.max_body).routes()

    def paths(self) -> Mapping[str, Any]:
        return paths()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        self._deliveries.start()
        try:
            yield
        finally:
            await self._deliveries.stop()
