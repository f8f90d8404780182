"""Any SPARQL 1.1 endpoint. It has no subscriptions, so the suite polls the query, and compares the answers.

added = answer - answer before        removed = answer before - answer        nothing is told if both are empty
"""

import asyncio
from collections import Counter
from time import perf_counter
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from tidings.bench.targets import Arrival, Description, Listening, Offers
from tidings.bench.targets.assembled import Assembled, Silent, Speaking
from tidings.bench.targets.settings import Count, HttpUrl, Seconds
from tidings.bench.targets.wire.inbox import Feeders, Inbox
from tidings.bench.targets.wire.sparql import OverHttp


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    query: HttpUrl
    update: HttpUrl | None = None
    """The address for updates, if it is not that for queries."""
    poll_ms: Annotated[float, Meta(gt=0)] = 100.0
    form: bool = False
    """Whether queries and updates are sent as forms; else their bare text is the body."""
    query_parameters: dict[str, str] = {}
    """Parameters of every query: `{"default-graph-uri": "…"}` for a store without a default graph of its own."""
    update_parameters: dict[str, str] = {}
    """Parameters of every update: `{"using-graph-uri": "…"}` for such a store."""
    clear: Annotated[list[str], Meta(min_length=1)] = msgspec.field(default_factory=lambda: ["CLEAR ALL"])
    """The updates that remove all data."""
    triples_per_request: Count | None = None
    """The most triples of one request; larger inserts become several requests, and are not atomic any more."""
    connections: Count = 100
    timeout: Seconds = 120.0


class Polling:
    """`Hearing` by polling. The time of a notification is when the answer with the change came."""

    def __init__(self, speaking: Speaking, seconds: float) -> None:
        self._speaking = speaking
        self._seconds = seconds
        self._feeders = Feeders()

    async def open(self) -> None: ...

    async def close(self) -> None:
        await self._feeders.close()

    async def subscribe(self, text: str) -> Listening:
        asked = asyncio.get_running_loop().time()
        rows = await self._speaking.query(text)
        first = Arrival(perf_counter(), None, tuple(rows), ())
        return self._feeders.start(lambda inbox: self._poll(text, first, inbox, asked))

    async def _poll(self, text: str, first: Arrival, inbox: Inbox, asked: float) -> None:
        loop = asyncio.get_running_loop()
        inbox.put(first)
        known = Counter(first.added)
        while True:
            # If an answer takes longer than the interval, the next poll follows at once.
            await asyncio.sleep(max(0.0, asked + self._seconds - loop.time()))
            asked = loop.time()
            answer = Counter(await self._speaking.query(text))
            at = perf_counter()
            added, removed = answer - known, known - answer
            if added or removed:
                inbox.put(Arrival(at, None, tuple(added.elements()), tuple(removed.elements())))
            known = answer


def make(name: str, settings: Settings, kind: str = "endpoint") -> Assembled:
    speaking = OverHttp(
        settings.query,
        settings.update or settings.query,
        timeout=settings.timeout,
        connections=settings.connections,
        form=settings.form,
        query_parameters=settings.query_parameters,
        update_parameters=settings.update_parameters,
    )
    details: dict[str, Any] = {"poll_ms": settings.poll_ms}
    if settings.triples_per_request is not None:
        details["triples_per_request"] = settings.triples_per_request
    return Assembled(
        Description(name, kind, settings.query, details=details),
        Offers(polls=True),
        speaking,
        Polling(speaking, settings.poll_ms / 1000),
        Silent(lambda: speaking.server),
        tuple(settings.clear),
        settings.triples_per_request,
    )
