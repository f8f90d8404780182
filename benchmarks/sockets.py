"""Shared by the benchmarks of a whole broker: brokers in processes of their own, and many connections in one loop.

The receiver must not be slower than the broker, or faster for one peer than for the other. So one loop reads the
connections of all protocols, and parses only length headers, except for connections with a function `hear`, which gets
their messages. The broker has one core, and the client another.
"""

import os
import re
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import orjson
import psutil

from measure import check

PATIENCE = 60.0
"""The time limit of every wait, in seconds."""
TIDINGS = (sys.executable, "-m", "tidings", "serve", "--http-port", "0", "--ws-port", "0")

_CHUNK = 1 << 16
_BATCH = 200  # connections that are opened at a time: fewer than the backlog of any listener
_HANDSHAKE = (
    "GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
_ACCEPTED = b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="  # the answer to that key in RFC 6455, 1.3
_TEXT, _CLOSE, _PING, _PONG = 0x81, 0x88, 0x89, 0x8A

Split = Callable[[bytes], tuple[list[tuple[int, int]], list[bytes], int]]
"""From some bytes: the ranges of the complete messages at the beginning, answers to send at once (to pings), and where
the rest begins."""


def split_websocket(data: bytes) -> tuple[list[tuple[int, int]], list[bytes], int]:
    """Text frames of a server, which are unmasked and not fragmented (RFC 6455, 5.2)."""
    messages: list[tuple[int, int]] = []
    answers: list[bytes] = []
    at, end = 0, len(data)
    while at + 2 <= end:
        start, size = at + 2, data[at + 1]
        if size == 126:
            if at + 4 > end:
                break
            start, size = at + 4, data[at + 2] << 8 | data[at + 3]
        elif size == 127:
            if at + 10 > end:
                break
            start, size = at + 10, int.from_bytes(data[at + 2 : at + 10], "big")
        if start + size > end:
            break
        kind = data[at]
        if kind == _TEXT:
            messages.append((start, start + size))
        elif kind == _PING:
            answers.append(websocket_frame(data[start : start + size], _PONG))
        else:
            check(kind == _PONG, f"a text frame, not {data[at : start + size]!r}")
        at = start + size
    return messages, answers, at


def split_mqtt(data: bytes) -> tuple[list[tuple[int, int]], list[bytes], int]:
    """Packets of any type (MQTT 3.1.1, 2.2). A message is the part after the length."""
    messages: list[tuple[int, int]] = []
    at, end = 0, len(data)
    while at + 2 <= end:
        start, size = at + 2, data[at + 1]
        if size > 127:
            if at + 3 > end:
                break
            check(data[at + 2] < 128, "a packet of less than 16 kB")
            start, size = at + 3, size & 127 | data[at + 2] << 7
        if start + size > end:
            break
        messages.append((start, start + size))
        at = start + size
    return messages, [], at


def split_http(data: bytes) -> tuple[list[tuple[int, int]], list[bytes], int]:
    """Answers with a Content-Length. A message is a whole answer, with its head."""
    messages: list[tuple[int, int]] = []
    at = 0
    while (body := data.find(b"\r\n\r\n", at) + 4) > 3:
        length = _LENGTH.search(data, at, body)
        if length is None:
            raise SystemExit(f"an answer with a length, not {data[at:body]!r}")
        end = body + int(length[1])
        if end > len(data):
            break
        messages.append((at, end))
        at = end
    return messages, [], at


_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


def websocket_frame(payload: bytes, kind: int = _TEXT) -> bytes:
    """A client's frame. Its mask is zero, which leaves the payload unchanged; the broker unmasks it like any other."""
    size = len(payload)
    head = bytes((kind, 0x80 | size)) if size < 126 else bytes((kind, 0xFE)) + size.to_bytes(2, "big")
    check(size < 1 << 16, "a frame of less than 64 kB")
    return head + b"\0\0\0\0" + payload


def websocket_json(message: Any) -> bytes:
    return websocket_frame(orjson.dumps(message))


@dataclass(frozen=True, slots=True)
class Address:
    host: str
    port: int
    path: str = "/"


class Line:
    """A connection, with the number of messages received over it."""

    __slots__ = ("_rest", "_split", "hear", "received", "socket")

    def __init__(self, address: Address, split: Split) -> None:
        # Blocking: it is read only when data has arrived, and sent data fits into the kernel's buffers.
        self.socket = socket.create_connection((address.host, address.port), timeout=PATIENCE)
        self.socket.settimeout(None)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.hear: Callable[[bytes], object] | None = None
        self.received = 0
        self._split = split
        self._rest = b""

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def read(self) -> int:
        """Read the bytes that have arrived. Returns the number of messages that they complete."""
        data = self.socket.recv(_CHUNK)
        check(bool(data), "the broker keeps the connection")
        if self._rest:
            data = self._rest + data
        messages, answers, used = self._split(data)
        self._rest = data[used:]
        for answer in answers:
            self.send(answer)
        if self.hear is not None:
            for start, end in messages:
                self.hear(data[start:end])
        self.received += len(messages)
        return len(messages)

    def read_head(self) -> bytes:
        """The head of the answer to an upgrade. Bytes after it are kept for `read`."""
        data = b""
        while b"\r\n\r\n" not in data:
            more = self.socket.recv(_CHUNK)
            check(bool(more), f"the broker answers the upgrade, not {data!r}")
            data += more
        head, self._rest = data.split(b"\r\n\r\n", 1)
        return head


class Lines:
    """Many connections, read by one loop."""

    def __init__(self, lines: Iterable[Line] = ()) -> None:
        self.received = 0
        self._epoll = select.epoll()
        self._lines: dict[int, Line] = {}
        for line in lines:
            self.add(line)

    def add(self, line: Line) -> None:
        self._lines[line.socket.fileno()] = line
        self._epoll.register(line.socket.fileno(), select.EPOLLIN)

    def remove(self, line: Line) -> None:
        """Remove and close a connection."""
        self._epoll.unregister(line.socket.fileno())
        self._lines.pop(line.socket.fileno()).socket.close()

    def poll(self, seconds: float) -> None:
        lines, received = self._lines, 0
        for number, _ in self._epoll.poll(seconds, len(lines) or 1):
            received += lines[number].read()
        self.received += received

    def poll_until(self, done: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not done():
            self.poll(1.0)
            check(time.monotonic() < deadline or done(), f"{what} within {PATIENCE:.0f} s")

    def settle(self, seconds: float = 0.2) -> None:
        """Read until no more messages arrive for some time, so that unexpected ones would have arrived."""
        before = -1
        while before != self.received:
            before = self.received
            self.poll(seconds)

    def close(self) -> None:
        self._epoll.close()
        for line in self._lines.values():
            line.socket.close()


def open_websockets(address: Address, count: int) -> list[Line]:
    """New WebSocket connections, after the handshake."""
    handshake = _HANDSHAKE.format(path=address.path, host=address.host, port=address.port).encode()
    opened: list[Line] = []
    for start in range(0, count, _BATCH):
        batch = [Line(address, split_websocket) for _ in range(min(_BATCH, count - start))]
        for line in batch:
            line.send(handshake)
        for line in batch:
            head = line.read_head()
            check(head.startswith(b"HTTP/1.1 101 ") and _ACCEPTED in head, f"an upgrade to WebSocket, not {head!r}")
        opened += batch
    return opened


def subscribe(
    lines: Lines, subscribers: Sequence[tuple[Line, str, str]], more: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Subscribe on each connection to a query with an alias, and wait for all first answers; `more` are further members
    of each request."""
    wanted = lines.received + len(subscribers)
    for line, text, alias in subscribers:
        line.send(websocket_json({"subscribe": {"sparql": text, "alias": alias, **more}}))
    lines.poll_until(lambda: lines.received >= wanted, "a first answer for every subscription")


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker in a process of its own."""

    process: psutil.Process
    http: Address
    websocket: Address

    def resident_bytes(self) -> int:
        return int(self.process.memory_info().rss)

    def await_rest(self, seconds: float = 0.5) -> None:
        """Wait until the broker and its forks are idle, so that all work after a start or a load is done."""
        deadline, before = time.monotonic() + PATIENCE, -1.0
        while (busy := self._busy_with_forks()) > before + seconds / 20:
            check(time.monotonic() < deadline, "the broker comes to rest")
            before = busy
            time.sleep(seconds)

    def _busy_with_forks(self) -> float:
        return sum(busy_seconds(each) for each in (self.process, *self.process.children()))


def busy_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


@contextmanager
def tidings(*arguments: str) -> Iterator[Broker]:
    """A broker, which is started, and stopped at the end."""
    with started((*TIDINGS, *arguments), stdout=subprocess.PIPE) as process:
        greeting = _greeting(process)
        http = re.search(r"http://([\d.]+):(\d+)", greeting)
        websocket = re.search(r"ws://([\d.]+):(\d+)(/\S*)", greeting)
        if http is None or websocket is None:
            raise SystemExit(f"Tidings did not say where it listens: {greeting!r}")
        yield Broker(
            psutil.Process(process.pid),
            Address(http[1], int(http[2])),
            Address(websocket[1], int(websocket[2]), websocket[3]),
        )


def _greeting(process: subprocess.Popen[bytes]) -> str:
    """The standard output of a broker, until it has printed both of its addresses."""
    assert process.stdout is not None
    said = b""
    deadline = time.monotonic() + PATIENCE
    while not (b"http://" in said and b"ws://" in said and said.endswith(b"\n")):
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
        more = os.read(process.stdout.fileno(), _CHUNK) if ready else b""
        if not more:
            break
        said += more
    return said.decode()


@contextmanager
def started(command: Sequence[str], stdout: int = subprocess.DEVNULL) -> Iterator[subprocess.Popen[bytes]]:
    """A process on the brokers' core. At the end, it is terminated, and killed if it does not stop."""
    process = subprocess.Popen(command, stdout=stdout)
    try:
        os.sched_setaffinity(process.pid, {broker_core()})  # it has no threads yet; they inherit it
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


_CORES = sorted(os.sched_getaffinity(0))


def broker_core() -> int:
    return _CORES[0]


def take_client_core() -> None:
    """Run this process on the client's core; without a second core, it shares the brokers'."""
    os.sched_setaffinity(0, {_CORES[-1]})


def allow_open_files(count: int) -> None:
    """Raise the limit of open files for this process and the brokers that it starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= count:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, max(count, hard)))
    except (ValueError, OSError) as error:
        raise SystemExit(f"{count} open files are needed, and the limit is {hard} (ulimit -Hn)") from error
