"""Documents of providers, over the one HTTP client: of bounded size, within a bounded time, and without redirects."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from tidings.client.errors import NotUnderstood
from tidings.client.http import AsyncHttpClient
from tidings.client.responses import decoded

Fetch: TypeAlias = Callable[[str], Awaitable[Any]]
"""The JSON document at an address. Raises TidingsError."""

LARGEST = 1 << 20
SECONDS = 10.0


class Fetching:
    """Gets documents; for `async with`."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._client = AsyncHttpClient(seconds=seconds, connections=4)

    async def __aenter__(self) -> "Fetching":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def __call__(self, url: str) -> Any:
        headers = {"accept": "application/json", "accept-encoding": "identity"}
        parts: list[bytes] = []
        size = 0
        async with self._client.streamed(url, headers=headers) as pieces:
            async for piece in pieces:
                size += len(piece)
                if size > LARGEST:
                    raise NotUnderstood(f"the document at {url} is larger than {LARGEST:,} bytes")
                parts.append(piece)
        return decoded(b"".join(parts), url)
