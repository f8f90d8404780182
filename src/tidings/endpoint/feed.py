"""Follows what others change at an endpoint that is a broker, or is behind one, through the log of that broker.

    GET /log?follow=true  ->  commits of others  ->  a commit here, with its notifications

The commits of this broker come back, too, and are recognised by their publisher. They are applied only to quads that
others have changed lately, so that the changes of a quad apply in the order of the endpoint.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Protocol

import msgspec

from tidings.client.http import AsyncHttpClient
from tidings.model.errors import TidingsError
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.protocol.entries import Entry
from tidings.protocol.entry_lines import Line, assemble, read_line

_PAUSE = 1.0
_REMEMBERED = 10_000
_HEADERS = {"accept": "application/x-ndjson", "accept-encoding": "identity"}

log = logging.getLogger("tidings")


class Learner(Protocol):
    """Applies the changes of others."""

    async def learn(self, delta: ZSet[Quad]) -> None:
        """Apply changes that the endpoint has; those that were applied already have no effect."""


async def follow(url: str, learner: Learner, *, own: str) -> None:
    """Pass all that others commit from now on to the learner. Never returns. `own` is the name of this broker."""
    address = url.rstrip("/").removesuffix("/log")
    others: dict[Quad, None] = {}
    after: int | None = None
    while True:
        try:
            if after is None:
                async with AsyncHttpClient() as client:
                    after = int((await client.json(f"{address}/status"))["sequence"])
            async for entry in _commits(address, after + 1):
                news = _news(entry, others, own)
                if news:
                    await learner.learn(news)
                after = entry.commit
        except (TidingsError, msgspec.DecodeError, KeyError, ValueError) as error:
            log.warning("the feed of %s broke off: %s", address, error)
        await asyncio.sleep(_PAUSE)


def _news(entry: Entry, others: dict[Quad, None], own: str) -> ZSet[Quad]:
    if entry.publisher == own:
        return ZSet.owning({quad: weight for quad, weight in entry.delta.items() if quad in others})
    for quad in (*entry.delta.added(), *entry.delta.removed()):
        others.pop(quad, None)
        others[quad] = None
    while len(others) > _REMEMBERED:
        del others[next(iter(others))]
    return entry.delta


async def _commits(address: str, first: int) -> AsyncIterator[Entry]:
    """The commits of a log from number `first` on, as they arrive. Raises the error that breaks the feed."""
    async with (
        AsyncHttpClient(endless=True) as client,
        client.streamed(f"{address}/log", params={"from": str(first), "follow": "true"}, headers=_HEADERS) as pieces,
    ):
        rest = b""
        held: list[Line] = []
        async for piece in pieces:
            *texts, rest = (rest + piece).split(b"\n")
            for text in texts:
                if text:
                    held.append(read_line(text))
                    if not held[-1].left:
                        yield next(assemble(held))
                        held = []
