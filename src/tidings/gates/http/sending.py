"""Sends a spool piece by piece, as fast as the client reads, and gives up if it reads nothing for too long."""

import asyncio
from math import ceil
from urllib.parse import quote

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tidings.broker.spool import Spool

CHUNK = 1 << 16
_ASCII = "".join(map(chr, range(0x20, 0x7F)))
_LONGEST_WARNING = 1000
STALLED_AFTER = 60.0
"""A client that reads nothing for so many seconds is disconnected."""


class SpoolResponse(Response):
    """Sends a spool, and closes it. The answer in it is `age` seconds old."""

    def __init__(self, spool: Spool, age: float = 0.0) -> None:
        self._spool = spool
        headers = {"content-length": str(spool.size), "vary": "accept"}
        if age:  # RFC 9111, 5.1: for so long, the store of record has not answered
            headers["age"] = str(ceil(age))
        if spool.warnings:
            headers["tidings-warning"] = quote("; ".join(spool.warnings)[:_LONGEST_WARNING], safe=_ASCII)
        super().__init__(None, 200, headers, spool.media_type)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._spool.file as file:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            chunk = b"" if scope["method"] == "HEAD" else file.read(CHUNK)
            while following := file.read(CHUNK) if chunk else b"":
                await _send_part(send, chunk, more=True)
                chunk = following
            await _send_part(send, chunk, more=False)


async def _send_part(send: Send, body: bytes, *, more: bool) -> None:
    async with asyncio.timeout(STALLED_AFTER):
        await send({"type": "http.response.body", "body": body, "more_body": more})
