"""A broker in a process of its own, and what its clients see: one address for HTTP, one for WebSockets."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from picows import WSCloseCode, WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from waiting import PATIENCE

SERVE = ("-m", "tidings", "serve", "--http-port", "0", "--ws-port", "0")
PATIENT = {f"TIDINGS_{name}": "600" for name in ("GRACE", "PING", "TIMEOUT", "DELIVER_PATIENCE")}
"""The surroundings of a broker that loses no patience with a client whom the machine holds up."""
Message = dict[str, Any]
Row = tuple[str | None, ...]
Graphs = str | list[str] | None  # as a request names them: one, several, or no word about it


# -- the broker -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Broker:
    http: str
    ws: str
    process: subprocess.Popen[str]

    @property
    def http_port(self) -> int:
        return int(self.http.rpartition(":")[2])

    @property
    def ws_port(self) -> int:
        return int(self.ws.split(":")[2].partition("/")[0])

    def update(self, text: str, **parameters: str | list[str]) -> Message:
        """What a commit says about itself."""
        answer = httpx.post(f"{self.http}/update", data={"update": text} | parameters, timeout=PATIENCE)
        assert answer.status_code == 200, answer.text
        response = answer.json()["response"]
        assert isinstance(response, dict)
        return response

    def query(self, text: str, **parameters: str | list[str]) -> list[Message]:
        answer = httpx.post(f"{self.http}/query", data={"query": text} | parameters, timeout=PATIENCE)
        assert answer.status_code == 200, answer.text
        bindings = answer.json()["results"]["bindings"]
        assert isinstance(bindings, list)
        return bindings

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.process.wait(PATIENCE)


@contextmanager
def serving(folder: Path, *arguments: str, program: tuple[str, ...] = SERVE) -> Iterator[Broker]:
    """A broker that was started in a folder, on ports that were free."""
    command = [sys.executable, *program, *arguments]
    with subprocess.Popen(command, cwd=folder, env=PATIENT | os.environ, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Broker(*_addresses(process), process)
        finally:
            process.kill()


def _addresses(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Where a broker listens, from its greeting; a broker that does not greet in time is ended."""
    assert process.stdout is not None
    greeting = ""
    watchdog = threading.Timer(PATIENCE, process.kill)
    watchdog.start()
    try:
        for line in process.stdout:
            greeting += line
            http = re.search(r"http://127\.0\.0\.1:\d+", greeting)
            ws = re.search(r"ws://127\.0\.0\.1:\d+/subscribe", greeting)
            if http and ws:
                return http[0], ws[0]
    finally:
        watchdog.cancel()
    raise AssertionError(f"the broker ended with code {process.wait()} and said: {greeting!r}")


# -- its clients ------------------------------------------------------------------------------------------------


class _Inbox(WSListener):
    """Whole messages, in the order they came; then None, when the socket is closed."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[Message | None] = asyncio.Queue()
        self._pieces: list[bytes] = []

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type in (WSMsgType.TEXT, WSMsgType.CONTINUATION):
            self._pieces.append(frame.get_payload_as_bytes())
            if frame.fin:
                self.messages.put_nowait(json.loads(b"".join(self._pieces)))
                self._pieces.clear()
        elif frame.msg_type == WSMsgType.CLOSE:
            transport.send_close(WSCloseCode.OK)
            transport.disconnect()

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        self.messages.put_nowait(None)


class Socket:
    """A WebSocket that carries JSON objects both ways."""

    def __init__(self, transport: WSTransport, inbox: _Inbox) -> None:
        self._transport = transport
        self._inbox = inbox

    def send(self, message: Message | str) -> None:
        text = message if isinstance(message, str) else json.dumps(message)
        self._transport.send(WSMsgType.TEXT, text.encode())

    @property
    def inbox(self) -> "asyncio.Queue[Message | None]":
        """Messages that came, and None at the end."""
        return self._inbox.messages

    async def next(self) -> Message:
        message = await asyncio.wait_for(self._inbox.messages.get(), PATIENCE)
        assert message is not None, "the broker closed the socket"
        return message

    async def ask(self, message: Message | str) -> Message:
        """What comes next after a message."""
        self.send(message)
        return await self.next()

    async def update(self, text: str) -> Message:
        """What a commit says about itself, asked on a socket that has no subscriptions."""
        response = (await self.ask({"update": {"sparql": text, "alias": "update"}}))["response"]
        assert isinstance(response, dict)
        assert response["alias"] == "update"
        return response

    async def follow(self, text: str, alias: str = "it", *, default: Graphs = None, named: Graphs = None) -> "Follower":
        """Subscribe on a socket whose other subscriptions have nothing to say right now."""
        dataset = {"default-graph-uri": default, "named-graph-uri": named}
        given = {member: graphs for member, graphs in dataset.items() if graphs is not None}
        self.send({"subscribe": {"sparql": text, "alias": alias} | given})
        follower = Follower(self, alias)
        await follower.hear()
        return follower


@asynccontextmanager
async def connected(broker: Broker) -> AsyncIterator[Socket]:
    transport, inbox = await ws_connect(_Inbox, broker.ws, websocket_handshake_timeout=PATIENCE)
    assert isinstance(inbox, _Inbox)
    try:
        yield Socket(transport, inbox)
    finally:
        transport.disconnect()
        await asyncio.wait_for(transport.wait_disconnected(), PATIENCE)


@dataclass
class Follower:
    """A subscription, and the answer that its notifications add up to, as rows in the order of the head."""

    socket: Socket
    alias: str
    spuid: str = ""
    told: int = -1
    answer: Counter[Row] = field(default_factory=Counter)

    async def hear(self) -> None:
        """Take the next message of the socket, which is the next notification of this subscription."""
        self.take(await self.socket.next())

    def take(self, message: Message) -> None:
        assert set(message) == {"notification"}, message
        notification = message["notification"]
        self.told += 1
        assert (notification["alias"], notification["sequence"]) == (self.alias, self.told)
        self.spuid = self.spuid or notification["spuid"]
        assert notification["spuid"] == self.spuid
        removed, added = Counter(rows(notification["removedResults"])), Counter(rows(notification["addedResults"]))
        assert removed <= self.answer, f"a row was removed that was not there: {notification}"
        self.answer = self.answer - removed + added


def rows(results: Message) -> list[Row]:
    variables = results["head"]["vars"]
    return [
        tuple(row[name]["value"] if name in row else None for name in variables)
        for row in results["results"]["bindings"]
    ]
