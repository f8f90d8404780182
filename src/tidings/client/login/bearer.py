"""Adds the token to every HTTP request to its broker, and to no other request.

When the token is about to expire, or the broker says that it has expired, the client gets another one, and sends the
request again.
"""

from collections.abc import AsyncGenerator, Generator

import httpx

from tidings.client.login.addresses import origin_of
from tidings.client.login.login import Login
from tidings.client.responses import refused


class Bearer(httpx.Auth):
    """Authentication for the broker at an address. While one request gets a token, the others wait."""

    def __init__(self, login: Login, broker: str) -> None:
        self._login = login
        self._origin = origin_of(broker)

    def sync_auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        for attempt in range(2):
            if self._is_for(request):
                with self._login.turn:
                    while (wanted := self._login.wanted()) is not None:
                        given = yield wanted
                        given.read()
                        self._login.take(wanted, given)
                request.headers["Authorization"] = self._login.token.header
            answer = yield request
            if attempt or not self._is_for(request) or answer.status_code != httpx.codes.UNAUTHORIZED:
                return
            answer.read()
            if not self._doubts(request, answer):
                return

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        for attempt in range(2):
            if self._is_for(request):
                async with self._login.turn:
                    while (wanted := self._login.wanted()) is not None:
                        given = yield wanted
                        await given.aread()
                        self._login.take(wanted, given)
                request.headers["Authorization"] = self._login.token.header
            answer = yield request
            if attempt or not self._is_for(request) or answer.status_code != httpx.codes.UNAUTHORIZED:
                return
            await answer.aread()
            if not self._doubts(request, answer):
                return

    def _is_for(self, request: httpx.Request) -> bool:
        return origin_of(str(request.url)) == self._origin

    def _doubts(self, request: httpx.Request, answer: httpx.Response) -> bool:
        return self._login.doubt(request.headers["Authorization"].removeprefix("Bearer "), refused(answer))
