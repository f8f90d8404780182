"""Sends requests over plain HTTP/1.1 and persistent connections, because every update waits for several requests.

A request takes httpx 1.5 ms of work, and this module a tenth of that; most stores answer as fast. The broker uses httpx
for TLS, proxies, challenges and addresses with passwords.
"""

import asyncio
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple, cast
from urllib.request import getproxies, proxy_bypass

import httpx
from httptools import HttpParserError, HttpResponseParser

from tidings.client.errors import CannotConnect, ConnectionLost, NoAnswer
from tidings.model.errors import AnswerTooLarge, TidingsError

_CONNECT = 10.0
"""Seconds that opening a connection may take."""


class _Place(NamedTuple):
    """The parts of an address: the server to connect to, and the target of requests."""

    host: str
    port: int
    name: str
    """The value of the header `Host`."""
    target: str


@lru_cache
def _place(url: str) -> _Place:
    parts = httpx.URL(url)
    return _Place(parts.host, parts.port or 80, parts.netloc.decode(), parts.raw_path.decode())


def is_plain(url: str) -> bool:
    """Whether this module can send requests to an address."""
    if not url.startswith("http://") or httpx.URL(url).userinfo:
        return False
    proxies = getproxies()
    return not ("http" in proxies or "all" in proxies) or bool(proxy_bypass(_place(url).host))


class Answer:
    """A complete answer. To construct an httpx.Response would take as long as everything else here."""

    __slots__ = ("_headers", "content", "status_code")

    def __init__(self, status_code: int, headers: list[tuple[bytes, bytes]], content: bytes) -> None:
        self.status_code = status_code
        self._headers = headers
        self.content = content

    @property
    def is_success(self) -> bool:
        return 200 <= self.status_code < 300

    @property
    def headers(self) -> httpx.Headers:
        return httpx.Headers(self._headers)

    def header(self, name: str) -> str:
        """One header, or "". To construct httpx.Headers would take as long as parsing a small answer."""
        wanted = name.encode()
        return next((value.decode("latin-1") for found, value in self._headers if found == wanted), "")

    @property
    def text(self) -> str:
        return self.response("").text

    def response(self, url: str) -> httpx.Response:
        """The answer as an httpx.Response to a request to this address."""
        request = httpx.Request("POST", url)
        return httpx.Response(self.status_code, headers=self._headers, content=self.content, request=request)


class _Line(asyncio.Protocol):
    """One connection, with one request at a time, which fails if nothing arrives for `seconds`."""

    def __init__(self, url: str, seconds: float) -> None:
        self._url = url
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport
        self._parser: HttpResponseParser
        self._answer: asyncio.Future[Answer] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._latest = 0.0
        """The deadline for the next data, by the clock of the loop."""
        self._headers: list[tuple[bytes, bytes]] = []
        self._content = bytearray()
        self._most: int | None = None
        self._ends_with_the_connection = False
        self.is_free = False
        """Whether the connection can be used for another request."""
        self.heard = False
        """Whether any data of an answer has arrived."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # those of uvloop do not inherit from it
        self.is_free = True

    async def ask(self, request: bytes, most: int | None) -> Answer:
        """Send a request. Raises ConnectionLost, NoAnswer, AnswerTooLarge."""
        self.is_free = self.heard = self._ends_with_the_connection = False
        self._parser, self._most = HttpResponseParser(self), most
        answer: asyncio.Future[Answer] = self._loop.create_future()
        self._answer = answer
        self._latest = self._loop.time() + self._seconds
        if self._timer is None:
            self._timer = self._loop.call_at(self._latest, self._look)
        self._transport.write(request)
        try:
            return await answer
        finally:
            self._answer = None

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._fail(ConnectionLost(f"the connection to {self._url} was closed"))
        self._transport.abort()

    # -- incoming data --------------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        if self._answer is None:  # no request is pending
            self.close()
            return
        self.heard = True
        self._latest = self._loop.time() + self._seconds
        try:
            self._parser.feed_data(data)
        except HttpParserError as error:
            self._fail(ConnectionLost(f"{self._url} answers with something else than HTTP: {error}"))

    def on_message_begin(self) -> None:
        self._headers, self._content = [], bytearray()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        has_end = {b"content-length", b"transfer-encoding"}
        self._ends_with_the_connection = not any(name in has_end for name, _ in self._headers)

    def on_body(self, piece: bytes) -> None:
        self._content += piece
        if self._most is not None and len(self._content) > self._most:
            said = f"{self._url} answers with more than {self._most:,} bytes; ask for less"
            self._fail(AnswerTooLarge(said, self._most))

    def on_message_complete(self) -> None:
        if self._parser.get_status_code() >= 200:
            self.is_free = self._parser.should_keep_alive() and not self._transport.is_closing()
            self._succeed()

    def connection_lost(self, error: Exception | None) -> None:
        self.is_free = False
        if self._ends_with_the_connection and error is None:
            self._succeed()
        self._fail(ConnectionLost(f"the connection to {self._url} was lost: {error or 'it was closed'}"))

    # -- outcome --------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Fail the request after its deadline. One timer per connection: one per request took a tenth of its time."""
        self._timer = None
        if self._answer is None:
            return
        if self._loop.time() >= self._latest:
            self._fail(NoAnswer(f"{self._url} did not answer in time"))
        else:
            self._timer = self._loop.call_at(self._latest, self._look)

    def _succeed(self) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(Answer(self._parser.get_status_code(), self._headers, bytes(self._content)))

    def _fail(self, error: TidingsError) -> None:
        """Fail the pending request, if any, and abort the connection, because further data is of no use."""
        self.is_free = False
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)
            self._transport.abort()


class PlainHttp:
    """Sends requests, at most `connections` at a time; others wait."""

    def __init__(self, *, seconds: float, connections: int) -> None:
        self._seconds = seconds
        self._room = asyncio.Semaphore(connections)
        self._free: dict[tuple[str, int], list[_Line]] = {}

    async def post(self, url: str, headers: Mapping[str, str], body: bytes, most: int | None = None) -> Answer:
        """The complete answer, whatever its status. If a kept connection has been closed meanwhile, the request is sent
        once more. Raises CannotConnect, ConnectionLost, NoAnswer, AnswerTooLarge."""
        place = _place(url)
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        head = f"POST {place.target} HTTP/1.1\r\nhost: {place.name}\r\ncontent-length: {len(body)}\r\n{lines}\r\n"
        async with self._room:
            kept = self._kept(place)
            if kept is not None:
                try:
                    return await self._asked(place, kept, head.encode() + body, most)
                except ConnectionLost:
                    if kept.heard:
                        raise
            return await self._asked(place, await self._connected(url, place), head.encode() + body, most)

    async def _asked(self, place: _Place, line: _Line, request: bytes, most: int | None) -> Answer:
        try:
            return await line.ask(request, most)
        finally:
            if line.is_free:
                self._free.setdefault(place[:2], []).append(line)
            else:
                line.close()

    def _kept(self, place: _Place) -> _Line | None:
        free = self._free.get(place[:2], [])
        while free:
            line = free.pop()
            if line.is_free:
                return line
        return None

    async def _connected(self, url: str, place: _Place) -> _Line:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(min(_CONNECT, self._seconds)):
                _, line = await loop.create_connection(lambda: _Line(url, self._seconds), place.host, place.port)
        except TimeoutError as error:
            raise CannotConnect(f"nobody answers at {url} in time") from error
        except OSError as error:
            raise CannotConnect(f"nobody answers at {url}: {error}") from error
        return line

    def close(self) -> None:
        for line in (line for free in self._free.values() for line in free):
            line.close()
        self._free.clear()
