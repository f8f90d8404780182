"""An answer that is written in full before its first byte is sent: in memory while it is small, else in a file.

So a client that reads slowly holds nothing but its file, an error in the last row is still an honest status, and the
length is known.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

IN_MEMORY = 4 << 20
CHUNK = 1 << 16
STALLED_AFTER = 60.0
"""Seconds after which a client that takes nothing is let go."""


@dataclass(frozen=True, slots=True)
class Spool:
    """A complete document."""

    media_type: str
    file: "SpooledTemporaryFile[bytes]"
    size: int

    @classmethod
    def of(cls, media_type: str, chunks: Iterable[bytes]) -> "Spool":
        """Write down all chunks."""
        file = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 -- whoever sends it closes it
        try:
            for chunk in chunks:
                file.write(chunk)
        except BaseException:
            file.close()
            raise
        size = file.tell()
        file.seek(0)
        return cls(media_type, file, size)


class SpoolResponse(Response):
    """Sends a spool, and closes it."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        super().__init__(None, 200, {"content-length": str(spool.size), "vary": "accept"}, spool.media_type)

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
