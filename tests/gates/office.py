"""An administrator at work: what they ask of a broker with security, over HTTP."""

from typing import Any

import httpx

from gates.secured import House


class Office:
    """What an administrator does."""

    def __init__(self, house: House, token: str | None) -> None:
        self._house = house
        self._headers = {} if token is None else {"authorization": token}

    async def ask(self, method: str, path: str, document: Any = None) -> httpx.Response:
        return await self._house.http.request(method, path, json=document, headers=self._headers)

    async def done(self, method: str, path: str, document: Any = None, status: int = 200) -> Any:
        answer = await self.ask(method, path, document)
        assert answer.status_code == status, answer.text
        assert answer.headers["cache-control"] == "no-store"
        return answer.json()


async def opened(house: House) -> Office:
    return Office(house, await house.newcomer("boss"))
