"""Limits of the HTTP gate: the number of concurrent requests, of all clients and of each, and the size and duration of
bodies."""

import asyncio

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from tidings.broker.errors import TooManyRequests
from tidings.gates.asking import EVERYBODY
from tidings.gates.errors import BodyTooLarge, BodyTooSlow, ClientLeft
from tidings.gates.http.responses import refusal
from tidings.gates.http.security.identification import identified
from tidings.gates.quotas import Quotas, Tally, client_of
from tidings.gates.visitors import SECURE
from tidings.model.errors import LimitExceeded, UnsupportedFormat
from tidings.protocol.sparql_http import HttpRequest, read_post

BODY_SECONDS = 60.0
LARGE_BODY = 1 << 18
"""Bodies of more bytes are decoded in a thread: a form of 4 MB takes half a second."""
_CLIENT = "tidings.client"
_FREE = frozenset({"/healthz", "/metrics"})
"""Monitoring needs no place in a quota, so that it works on a busy broker."""
_ENDLESS = frozenset({"/subscribe", "/log"})
"""Streams count as connections, and not as requests."""


class Admission:
    """Middleware that refuses requests beyond `most` at a time, without reading them; the client may retry later."""

    def __init__(self, app: ASGIApp, *, most: int, quotas: Quotas, open_paths: tuple[str, ...] = ()) -> None:
        self._app = app
        self._most = most
        self._quotas = quotas
        self._open_paths = open_paths
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in self._open_paths:
            await self._app(scope, receive, send)
            return
        if self._inside >= self._most:
            error = TooManyRequests(f"{self._most} requests are in progress, the limit of max_requests; try again soon")
            self._quotas.note(error)
            await refusal(error)(scope, receive, send)
            return
        self._inside += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._inside -= 1


class Turnstile:
    """Middleware that counts each request against its client's quota. It runs after the identification."""

    def __init__(self, app: ASGIApp, quotas: Quotas) -> None:
        self._app = app
        self._quotas = quotas

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"].removeprefix(SECURE) if scope["type"] == "http" else "/healthz"
        if path in _FREE:
            await self._app(scope, receive, send)
            return
        tally = self._tally(path)
        peer = scope.get("client")
        scope[_CLIENT] = client = client_of(identified(scope), peer[0] if peer else "")
        try:
            self._quotas.take(client)
            if tally is not None:
                tally.enter(client)
        except LimitExceeded as error:
            self._quotas.note(error)
            await refusal(error)(scope, receive, send)
            return
        try:
            await self._app(scope, receive, send)
        finally:
            if tally is not None:
                tally.leave(client)

    def _tally(self, path: str) -> Tally | None:
        if path in _ENDLESS:
            return None
        return self._quotas.updates if path == "/update" else self._quotas.requests


def share_of(scope: Scope) -> str | None:
    """The client against whose share of the forks a request counts; None for clients without a token."""
    client = None if identified(scope) is EVERYBODY else scope.get(_CLIENT)
    return client if isinstance(client, str) else None


async def read_body(request: Request, most: int) -> bytes:
    """Read the body of a request. Raises BodyTooLarge as early as possible, BodyTooSlow."""
    if request.headers.get("content-encoding", "identity") != "identity":
        raise UnsupportedFormat("the body has a Content-Encoding; the broker takes only bodies without one")
    announced = request.headers.get("content-length", "").encode("latin-1")
    return await collect(announced, request.receive, most)


async def collect(announced: bytes | None, receive: Receive, most: int) -> bytes:
    """Collect the pieces of a body. `announced` is its Content-Length, if it has one."""
    if announced and announced.isdigit() and int(announced) > most:
        raise BodyTooLarge(most)
    parts: list[bytes] = []
    size = 0
    more = True
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientLeft("the client left before its body was complete")
                part = message.get("body", b"")
                parts.append(part)
                size += len(part)
                if size > most:
                    raise BodyTooLarge(most)
                more = message.get("more_body", False)
    except TimeoutError as error:
        raise BodyTooSlow(f"the body did not arrive within {BODY_SECONDS:g} s") from error
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def read_aside(content_type: str, query_string: bytes, body: bytes, base: str) -> HttpRequest:
    """Read the request in a body. A large body is decoded in a thread, while the event loop goes on."""
    if len(body) <= LARGE_BODY:
        return read_post(content_type, query_string, body, base)
    return await asyncio.to_thread(read_post, content_type, query_string, body, base)
