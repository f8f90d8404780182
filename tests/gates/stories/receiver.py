"""A receiver of web hooks: a small HTTP server that takes what is posted to it, or refuses it.

It accepts connections itself: a server of asyncio that is closed in the turn in which somebody connects forgets that
connection without closing it.
"""

import asyncio
import socket
from collections import defaultdict
from contextlib import suppress
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
        self._listener: socket.socket | None = None
        self._serving: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        self._listener = listener = socket.create_server(("127.0.0.1", self.port), backlog=128)
        listener.setblocking(False)
        asyncio.get_running_loop().add_reader(listener, self._accept, listener)

    async def stop(self) -> None:
        assert self._listener is not None
        asyncio.get_running_loop().remove_reader(self._listener)
        self._listener.close()
        if self._serving:
            await asyncio.wait(self._serving, timeout=PATIENCE)

    def _accept(self, listener: socket.socket) -> None:
        with suppress(BlockingIOError, ConnectionAbortedError):
            accepted, _ = listener.accept()
            accepted.setblocking(False)
            serving = asyncio.create_task(self._serve(accepted))
            self._serving.add(serving)
            serving.add_done_callback(self._serving.discard)

    async def next(self, path: str) -> Posted:
        return await asyncio.wait_for(self.posted[path].get(), PATIENCE)

    async def _serve(self, accepted: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=accepted)
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
            with suppress(OSError):
                await writer.wait_closed()
