"""Reads `/status` of a Tidings broker: its version, its memory, and the times of its updates."""

from typing import Any

from tidings.bench.targets.errors import TargetFailed, translated
from tidings.client.errors import Refused
from tidings.client.http import AsyncHttpClient

_MS = 1000.0


class Status:
    """`Telling` by `/status`."""

    def __init__(self, http_url: str, *, timeout: float) -> None:
        self._url = f"{http_url.rstrip('/')}/status"
        self._timeout = timeout
        self._client: AsyncHttpClient | None = None

    async def open(self) -> None:
        self._client = AsyncHttpClient(seconds=self._timeout)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def version(self) -> str:
        return str((await self._told()).get("version", ""))

    async def components(self) -> dict[str, float]:
        """Sums in ms and counters since the start; the difference of two is what happened in between.

        `Nu` is the sum of the triples that updates replaced, so that Nu_avg = Nu / requests."""
        told = await self._told()
        timing, kpi, held = told["timing"], told["kpi"], told["subscriptions"]
        times = {name: _MS * seconds for name, seconds in timing.items() if name.startswith("T_")}
        return times | {
            "requests": timing["requests"],
            "commits": timing["commits"],
            "hits": kpi["hits"],
            "false_alarms": kpi["false_alarms"],
            "Nu": kpi["Nu_avg"] * timing["requests"],
            "notified": held["notified"],
            "merged": held["merged"],
        }

    async def memory(self) -> int | None:
        resident = (await self._told())["memory"].get("resident")
        return None if resident is None else int(resident)

    async def _told(self) -> dict[str, Any]:
        if self._client is None:
            raise TargetFailed(f"{self._url} was asked before it was opened, or after it was closed")
        try:
            with translated(self._url):
                told = await self._client.json(self._url)
        except Refused as error:
            raise TargetFailed(f"{self._url} does not tell how the broker is: {error}") from error
        if not isinstance(told, dict):
            raise TargetFailed(f"{self._url} does not tell how the broker is")
        return told
