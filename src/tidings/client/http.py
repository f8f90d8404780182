"""HTTP clients for brokers and stores, in applications, commands, benchmarks and tasks of Spark.

HttpClient       blocks; for commands and for tasks of Spark, at one broker
AsyncHttpClient  for applications and benchmarks, at any address

Connections are kept open. The errors are CannotConnect, NoAnswer, ConnectionLost, and Refused if the server refuses.
"""

import logging
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from types import TracebackType
from typing import Any

import httpx

from tidings.client.errors import NotUnderstood, reason
from tidings.client.login.addresses import without_credentials
from tidings.client.login.bearer import Bearer
from tidings.client.login.credentials import Shown
from tidings.client.login.login import Login, login_of
from tidings.client.responses import decoded, headers_of, refused, translated
from tidings.client.trust import SYSTEM, Trust
from tidings.model.errors import AnswerTooLarge

PATIENCE = 60.0
"""Seconds that an answer may take, by default."""
_CONNECT = 10.0
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 2.0

log = logging.getLogger("tidings.client")


class HttpClient:
    """A context manager for requests to one broker. `endless` is for answers that never end; `wait` is how many seconds
    the client waits for a broker that is not up yet; `credentials` are shown to this broker only."""

    def __init__(
        self,
        url: str,
        *,
        seconds: float | None = None,
        endless: bool = False,
        wait: float = 0.0,
        trust: Trust = SYSTEM,
        credentials: Shown | None = None,
    ) -> None:
        self._wait = wait
        address, headers = without_credentials(url)
        self.url = address.rstrip("/")
        seconds = seconds or PATIENCE
        limits = httpx.Timeout(None if endless else seconds, connect=min(_CONNECT, seconds))
        login = login_of(credentials, self.url)
        self._client = httpx.Client(
            timeout=limits,
            headers=headers,
            verify=trust.context() or True,
            auth=None if login is None else Bearer(login, self.url),
        )

    def __enter__(self) -> "HttpClient":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._client.close()

    def log_in(self, login: Login) -> None:
        """Get a token, unless there is a valid one."""
        with login.turn:
            while (wanted := login.wanted()) is not None:
                with translated(str(wanted.url)):
                    answer = self._client.send(wanted, auth=None)
                login.take(wanted, answer)

    def json(self, path: str, method: str = "GET", **sent: Any) -> Any:
        """The JSON document at a path."""
        with self.streamed(path, method, **sent) as pieces:
            return decoded(b"".join(pieces), self.url)

    def pages(self, path: str, member: str) -> Iterator[dict[str, Any]]:
        """The items of a list that comes in pages. The first page has been read when this returns."""
        return self._items(path, member, self._page(path, member))

    def _items(self, path: str, member: str, page: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield from page[member]
        while "after" in page:
            page = self._page(path, member, after=page["after"])
            yield from page[member]

    def _page(self, path: str, member: str, **more: str) -> dict[str, Any]:
        page = self.json(path, params={"limit": "1000", **more})
        if not isinstance(page, dict) or not isinstance(page.get(member), list):
            raise NotUnderstood(f"what answers at {self.url} is no broker")
        return page

    @contextmanager
    def streamed(
        self,
        path: str,
        method: str = "GET",
        *,
        params: Mapping[str, Any] | None = None,
        form: Mapping[str, Any] | None = None,
        document: Any = None,
        accept: str = "application/json",
        publisher: str | None = None,
    ) -> Iterator[Iterator[bytes]]:
        """The bytes of an answer, as they arrive; `document` is sent as JSON."""
        headers = headers_of(accept, publisher)
        request = self._client.build_request(
            method, f"{self.url}{path}", params=params, data=form, json=document, headers=headers
        )
        with translated(self.url), closing(self._sent(request)) as answer:
            if not answer.is_success:
                answer.read()
                raise refused(answer)
            yield answer.iter_bytes()

    def _sent(self, request: httpx.Request) -> httpx.Response:
        """Send a request. If no broker answers, try again until `wait` is over."""
        until, pause = time.monotonic() + self._wait, _FIRST_PAUSE
        while True:
            try:
                return self._client.send(request, stream=True)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                if time.monotonic() + pause > until:
                    raise
                if pause == _FIRST_PAUSE:
                    log.warning("nobody answers at %s: %s; waiting for it", self.url, reason(error))
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


class AsyncHttpClient:
    """An async context manager for requests to any address. `connections` is how many it opens and keeps at most; other
    requests wait without a limit. `endless` is for answers that never end, each over a connection of its own.
    `credentials` are shown to the broker at the address `broker` only; `auth` is for other servers."""

    def __init__(
        self,
        *,
        seconds: float = PATIENCE,
        connections: int = 100,
        endless: bool = False,
        trust: Trust = SYSTEM,
        broker: str = "",
        credentials: Shown | None = None,
        auth: httpx.Auth | None = None,
    ) -> None:
        timeout = httpx.Timeout(seconds, pool=None)
        limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
        if endless:
            timeout = httpx.Timeout(seconds, read=None, pool=None)
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
        login = login_of(credentials, broker)
        self._client = httpx.AsyncClient(
            timeout=timeout,
            limits=limits,
            verify=trust.context() or True,
            auth=auth if login is None else Bearer(login, broker),
        )

    async def __aenter__(self) -> "AsyncHttpClient":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._client.aclose()

    async def send(self, method: str, url: str, **sent: Any) -> httpx.Response:
        """The whole answer to a request; `sent` are arguments for httpx."""
        with translated(url):
            answer = await self._client.request(method, url, **sent)
        if not answer.is_success:
            raise refused(answer)
        return answer

    async def send_within(self, most: int, method: str, url: str, **sent: Any) -> httpx.Response:
        """As `send`, but reads at most `most` bytes. Raises AnswerTooLarge if there are more."""
        content = bytearray()
        with translated(url):
            async with self._client.stream(method, url, **sent) as begun:
                async for piece in begun.aiter_bytes():
                    content += piece
                    if len(content) > most:
                        raise AnswerTooLarge(f"{url} answers with more than {most:,} bytes; ask for less", most)
        headers = [(name, value) for name, value in begun.headers.multi_items() if name != "content-encoding"]
        answer = httpx.Response(begun.status_code, headers=headers, content=bytes(content), request=begun.request)
        if not answer.is_success:
            raise refused(answer)
        return answer

    async def log_in(self, login: Login) -> None:
        """Get a token, unless there is a valid one. For callers that show it in other ways than over HTTP."""
        async with login.turn:
            while (wanted := login.wanted()) is not None:
                with translated(str(wanted.url)):
                    answer = await self._client.send(wanted, auth=None)
                login.take(wanted, answer)

    async def json(self, url: str) -> Any:
        answer = await self.send("GET", url, headers={"accept": "application/json"})
        return decoded(answer.content, url)

    @asynccontextmanager
    async def streamed(self, url: str, **sent: Any) -> AsyncIterator[AsyncIterator[bytes]]:
        """The bytes of an answer as they arrive, without decompression."""
        with translated(url):
            async with self._client.stream("GET", url, **sent) as answer:
                if not answer.is_success:
                    await answer.aread()
                    raise refused(answer)
                yield answer.aiter_raw()
