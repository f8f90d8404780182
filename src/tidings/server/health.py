"""Health checks in a thread and at a port of their own, so that work on the event loop does not delay an answer.

    GET /healthz   200 while the process works; 503 once it cannot, or the loop has not turned for a minute
    GET /readyz    200 if the broker would take a request now; 503 while it starts, stops, or its loop is busy

A thread gets its turn within `sys.getswitchinterval` of a loop that computes (docs/decisions/0023-health.md).
"""

import threading
from collections.abc import Callable
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Protocol

import orjson

from tidings import __version__
from tidings.broker.errors import ShuttingDown
from tidings.gates.http.door import SECURITY
from tidings.log.errors import LogBroken
from tidings.model.errors import LimitExceeded, NotFound, TidingsError

BEAT = 0.05
"""Seconds between two heartbeats of the loop."""
BUSY = 1.0
"""Seconds without a turn of the loop after which the broker is not ready."""
STUCK = 60.0
"""Seconds without a turn of the loop after which the process is not healthy."""
_PATIENCE = 5.0
"""Seconds that a client has to send its request and to read the answer."""
_MOST = 16
"""Clients at a time; the server closes further connections."""


class LoopBusy(LimitExceeded):
    """The loop has not turned for a while: a request would wait."""

    code = "loop_busy"

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the loop has not turned for {seconds:.1f} s")
        self.seconds = seconds

    def data(self) -> dict[str, Any]:
        return {"seconds": round(self.seconds, 3)}


class Starting(LimitExceeded):
    """The broker is still reading its data folder."""

    code = "starting"


class Watched(Protocol):
    """What the health checks need of a broker."""

    @property
    def ending(self) -> bool: ...
    def check_log(self) -> None: ...


class Schedule(Protocol):
    """What heartbeats need of an event loop."""

    def call_later(self, delay: float, callback: Callable[[], None], /) -> object: ...


class Health:
    """The health of a broker, which threads can read without the event loop. `monotonic` returns seconds."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._broker: Watched | None = None
        self._turned = 0.0

    def watch(self, broker: Watched, loop: Schedule) -> None:
        """Start the heartbeat of the loop. The caller runs on the loop."""
        self._turned = self._monotonic()
        self._broker = broker

        def beat() -> None:
            self._turned = self._monotonic()
            if not broker.ending:
                loop.call_later(BEAT, beat)

        beat()

    def silence(self) -> float:
        """Seconds since the last heartbeat of the loop."""
        return max(0.0, self._monotonic() - self._turned - BEAT)

    def check(self, path: str) -> dict[str, Any]:
        """The answer to a path if the broker is healthy; otherwise raises what is wrong."""
        if path not in {"/healthz", "/readyz"}:
            raise NotFound(f"there is nothing at {path}; this port has /healthz and /readyz")
        broker = self._broker
        if broker is None:
            if path == "/readyz":
                raise Starting("the broker is starting")
            return {"status": "starting", "version": __version__}
        broker.check_log()
        if broker.ending:
            raise ShuttingDown("the broker is stopping")
        silence = self.silence()
        if silence > (BUSY if path == "/readyz" else STUCK):
            raise LoopBusy(silence)
        return {"status": "ok", "version": __version__, "silence": round(silence, 3)}


class HealthServer:
    """Serves the health checks in threads of its own, until the context ends."""

    def __init__(self, health: Health, host: str, port: int) -> None:
        self._server = _Server((host, port), _handler(health))
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, name="health", daemon=True)

    def __enter__(self) -> "HealthServer":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with closing(self._server):
            self._server.shutdown()
            self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._room = threading.BoundedSemaphore(_MOST)
        super().__init__(address, handler)

    def close(self) -> None:
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._room.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect or are slow."""


def _handler(health: Health) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = _PATIENCE
        server_version = f"tidings/{__version__}"
        sys_version = ""

        def do_GET(self) -> None:
            status, document = _answer(health, self.path.partition("?")[0])
            self.send_response(status)
            for name, value in (*SECURITY, ("content-type", "application/json"), ("cache-control", "no-store")):
                self.send_header(name, value)
            self.send_header("content-length", str(len(document)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(document)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass  # health checks come often, and would fill the log

    return Handler


def _answer(health: Health, path: str) -> tuple[int, bytes]:
    try:
        return 200, orjson.dumps(health.check(path), option=orjson.OPT_APPEND_NEWLINE)
    except (LogBroken, LimitExceeded, NotFound) as error:
        return error.status, _refusal(error)


def _refusal(error: TidingsError) -> bytes:
    content = {"status": error.code, "version": __version__, **error.to_json()}
    return orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE)
