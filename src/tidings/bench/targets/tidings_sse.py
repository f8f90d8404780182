"""Tidings with subscriptions over event streams (HTML Living Standard, section 9.2), one connection for each."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from time import perf_counter

import msgspec

from tidings.bench.targets import Description, Listening, Offers
from tidings.bench.targets.assembled import Assembled
from tidings.bench.targets.errors import TargetFailed, translated
from tidings.bench.targets.settings import Count, HttpUrl, Seconds
from tidings.bench.targets.status import Status
from tidings.bench.targets.wire.inbox import Feeders, Inbox
from tidings.bench.targets.wire.language import arrival, read_answer
from tidings.bench.targets.wire.sparql import OverHttp
from tidings.client.errors import Refused
from tidings.client.http import AsyncHttpClient
from tidings.model.errors import TidingsError
from tidings.protocol.answers import Notification
from tidings.protocol.errors import Refusal


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    url: HttpUrl
    connections: Count = 100
    """The most connections for updates and queries."""
    timeout: Seconds = 120.0


class Events:
    """Parses the data of events from the bytes of a stream, in pieces of any size."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> Iterator[bytes]:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[5:].strip())
            elif not line.strip() and self._data:
                yield b"\n".join(self._data)
                self._data.clear()


class OverStreams:
    """`Hearing` by event streams. The time of a notification is when its bytes came."""

    def __init__(self, url: str, *, timeout: float) -> None:
        self._url = f"{url}/subscribe"
        self._timeout = timeout
        self._client: AsyncHttpClient | None = None
        self._feeders = Feeders()

    async def open(self) -> None:
        # No timeout for reading: on quiet streams, the broker sends a heartbeat, but its interval is not known here.
        self._client = AsyncHttpClient(seconds=self._timeout, endless=True)

    async def close(self) -> None:
        await self._feeders.close()
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def subscribe(self, text: str) -> Listening:
        begun = asyncio.Event()
        inbox = self._feeders.start(lambda inbox: self._follow(text, inbox, begun))
        try:
            async with asyncio.timeout(self._timeout):
                await begun.wait()
        except TimeoutError as error:
            await inbox.end()
            raise TargetFailed(f"{self._url} did not answer a subscription in time") from error
        if inbox.failure is not None:
            raise inbox.failure
        return inbox

    async def _follow(self, text: str, inbox: Inbox, begun: asyncio.Event) -> None:
        """Read the stream until it ends, which is an error unless the suite has closed it."""
        events = Events()
        try:
            async with aclosing(self._pieces(text)) as pieces:
                async for at, piece in pieces:
                    for data in events.feed(piece):
                        match read_answer(data):
                            case Notification() as notification:
                                inbox.put(arrival(at, notification))
                                begun.set()
                            case Refusal() as refusal:
                                raise Refused(refusal)
                            case _:
                                raise TargetFailed(f"{self._url} says what is no notification")
        except TidingsError as error:
            inbox.fail(error)  # before `begun` is set, so that the subscriber finds the error
        finally:
            begun.set()

    async def _pieces(self, text: str) -> AsyncGenerator[tuple[float, bytes], None]:
        if self._client is None:
            raise TargetFailed(f"{self._url} was asked before it was opened, or after it was closed")
        with translated(self._url):
            headers = {"accept-encoding": "identity"}
            async with self._client.streamed(self._url, params={"query": text}, headers=headers) as pieces:
                async for piece in pieces:
                    yield perf_counter(), piece


def make(name: str, settings: Settings) -> Assembled:
    url, timeout = settings.url.rstrip("/"), settings.timeout
    return Assembled(
        Description(name, "tidings_sse", url),
        Offers(components=True),
        OverHttp(f"{url}/query", f"{url}/update", timeout=timeout, connections=settings.connections),
        OverStreams(url, timeout=timeout),
        Status(url, timeout=timeout),
    )
