"""Shared by the handlers of all paths: routes that answer OPTIONS, paging, headers, and noticing that a client left."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from itertools import islice
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive

from tidings.gates.errors import ClientLeft
from tidings.gates.http.security.identification import asker_of
from tidings.model.errors import BadRequest

T = TypeVar("T")
PAGE = 100
MOST_PER_PAGE = 1_000
Handler = Callable[[Request], Awaitable[Response]]


def route(
    path: str, handler: Handler, *methods: str, public: bool = False, headers: Mapping[str, str] | None = None
) -> Route:
    """A path that also answers OPTIONS, with headers. Unless it is open to all, the client must be identified."""
    told = {"allow": ", ".join((*methods, "OPTIONS")), **(headers or {})}

    async def answer(request: Request) -> Response:
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=told)
        if not public:
            asker_of(request.scope)
        return await handler(request)

    return Route(path, answer, methods=[*methods, "OPTIONS"])


def accept_of(request: Request) -> str | None:
    return ", ".join(request.headers.getlist("accept")) or None


def whole(value: str | None, name: str, default: int, most: int) -> int:
    """The value of a parameter that must be a whole number; larger values become `most`. Raises BadRequest."""
    if value is None:
        return default
    if not (value.isascii() and value.isdigit() and len(value) < 20):
        raise BadRequest(f"{name} is {value!r}, and must be a whole number")
    return min(int(value), most)


def page_of(request: Request, items: Iterator[T]) -> tuple[list[T], bool]:
    """A page of as many items as the request asks for, and whether there are more."""
    limit = max(1, whole(request.query_params.get("limit"), "limit", PAGE, MOST_PER_PAGE))
    page = list(islice(items, limit))
    return page, next(items, None) is not None


async def while_present(request: Request, work: Awaitable[T]) -> T:
    """The outcome of the work, which is cancelled if the client leaves."""
    try:
        async with asyncio.TaskGroup() as group:
            leaving = group.create_task(_leave(request.receive))
            outcome = await work
            leaving.cancel()
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return outcome


async def _leave(receive: Receive) -> None:
    await departure(receive)
    raise ClientLeft("the client left before its answer was complete")


async def departure(receive: Receive) -> None:
    """Wait until the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
