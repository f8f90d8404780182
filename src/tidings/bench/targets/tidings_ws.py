"""Tidings over WebSocket: one connection for updates and queries, and one for every so many subscriptions."""

from typing import TypeVar

import msgspec

from tidings.bench.targets import Description, Offers
from tidings.bench.targets.assembled import Assembled, Silent
from tidings.bench.targets.errors import TargetFailed, translated
from tidings.bench.targets.settings import AnyUrl, Count, HttpUrl, Seconds
from tidings.bench.targets.status import Status
from tidings.bench.targets.wire.language import OverSockets
from tidings.bench.targets.wire.rows import Row, rows_of
from tidings.client.connection import Connection
from tidings.protocol.answers import QueryAnswer, UpdateDone

T = TypeVar("T")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    url: AnyUrl
    """The address of the WebSocket gate; or of the HTTP gate, which names the other one and has `/status`."""
    http: HttpUrl | None = None
    """The address of the HTTP gate, for `/status`, if `url` is that of the WebSocket gate."""
    subscribers_per_connection: Count = 100
    timeout: Seconds = 120.0


class OverConnection:
    """`Speaking` by the client library. It does not reconnect: the measurement would include that."""

    def __init__(self, url: str, *, timeout: float) -> None:
        self._url = url
        self._timeout = timeout
        self._connection: Connection | None = None

    async def open(self) -> None:
        with translated(self._url):
            connection = Connection(self._url, timeout=self._timeout, patience=0.0)
            self._connection = await connection.__aenter__()

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def update(self, text: str) -> None:
        await self._ask("update", text, UpdateDone)

    async def query(self, text: str) -> list[Row]:
        return rows_of((await self._ask("query", text, QueryAnswer)).results)

    async def _ask(self, kind: str, text: str, expected: type[T]) -> T:
        if self._connection is None:
            raise TargetFailed(f"{self._url} was asked before it was opened, or after it was closed")
        with translated(self._url):
            return await self._connection.ask(kind, {"sparql": text}, expected)


def make(name: str, settings: Settings) -> Assembled:
    url, timeout = settings.url, settings.timeout
    http = settings.http or (url if url.startswith("http") else None)
    each = settings.subscribers_per_connection
    return Assembled(
        Description(name, "tidings_ws", url, details={"subscribers_per_connection": each}),
        Offers(components=http is not None),
        OverConnection(url, timeout=timeout),
        OverSockets(url, each=each, timeout=timeout),
        Status(http, timeout=timeout) if http else Silent(),
    )
