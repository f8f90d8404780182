"""A receiver of web hooks: a small HTTP server that takes what is posted to it, or refuses it."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass

from ports import free_port
from waiting import PATIENCE

_ANSWER = "HTTP/1.1 {} x\r\n{}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


@dataclass(frozen=True)
class Posted:
    headers: dict[str, str]
    body: bytes


class Receiver:
    """`status` is what it answers. Started again, it listens where it did before."""

    def __init__(self) -> None:
        self.port = free_port()
        self.status = 204
        self.links: dict[str, str] = {}
        """What is said to those who look, by path: a Link header."""
        self.attempts = 0
        self.refused: list[Posted] = []
        self.posted: dict[str, asyncio.Queue[Posted]] = defaultdict(asyncio.Queue)
        """By path."""
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    async def next(self, path: str) -> Posted:
        return await asyncio.wait_for(self.posted[path].get(), PATIENCE)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
            if head[0].startswith("GET"):
                link = self.links[head[0].split()[1]]
                writer.write(_ANSWER.format(200, f"link: {link}").encode())
                return
            posted = Posted(headers, await reader.readexactly(int(headers["content-length"])))
            self.attempts += 1
            if 200 <= self.status < 300:
                self.posted[head[0].split()[1]].put_nowait(posted)
            else:
                self.refused.append(posted)
            writer.write(_ANSWER.format(self.status, "location: http://127.0.0.1:1/").encode())
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass  # the broker was ended meanwhile, and sends it again
        finally:
            writer.close()
