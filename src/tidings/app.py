"""Settings to a running broker: the core, its gate, a socket, and an end that leaves nothing undone."""

import asyncio
import gc
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import uvicorn
import uvloop
from starlette.applications import Starlette

from tidings import __version__
from tidings.config import Settings
from tidings.engine.core import Core
from tidings.files import FolderLoader
from tidings.gates.http import HttpGate, Terms
from tidings.gates.shared import SharedCore
from tidings.model.errors import TidingsError

BACKLOG = 1024
LAST_SECONDS = 10
"""How long requests in work may take to end after the broker was told to stop."""


class CannotListen(TidingsError):
    """The address or the port cannot be had."""

    code = "cannot_listen"


def clock() -> int:
    """Microseconds since 1970: the one clock, handed to whoever needs the time."""
    return time.time_ns() // 1000


def build_core(settings: Settings) -> Core:
    folder = settings.load_from
    loader = None if folder is None else FolderLoader(Path(folder), settings.base)
    return Core(base=settings.base, loader=loader)


def share(core: Core, settings: Settings) -> SharedCore:
    return SharedCore(
        core,
        lambda: Core(core.store, base=settings.base),
        clock=clock,
        seconds=settings.timeout or None,
        rows=settings.max_rows or None,
        workers=settings.workers,
    )


def build_app(shared: SharedCore, settings: Settings) -> Starlette:
    terms = Terms(
        base=settings.base,
        max_body=settings.max_body,
        max_requests=settings.max_requests,
        read_only=settings.read_only,
        loads=settings.load_from is not None,
        cors=settings.cors,
    )
    return HttpGate(shared, terms).app()


def serve(core: Core, settings: Settings, announce: Callable[[str], None]) -> None:
    """Answer until told to stop; `announce` is called with the address once it is open."""
    with closing(_listen(settings)) as listener, closing(share(core, settings)) as shared:
        gc.freeze()  # what was loaded is here to stay: a collection need not look at it
        announce(_address(listener))
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_run(shared, settings, listener))


def _listen(settings: Settings) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
            listener.listen(BACKLOG)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise CannotListen(f"cannot listen on {settings.host} port {settings.port}: {reason}") from error
    return listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Server(uvicorn.Server):
    """uvicorn raises a signal again once it has shut down; here, being told to stop is no failure."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _run(shared: SharedCore, settings: Settings, listener: socket.socket) -> None:
    config = uvicorn.Config(
        build_app(shared, settings),
        http="httptools",
        ws="none",
        lifespan="off",
        log_level=settings.log_level,
        server_header=False,
        headers=[("server", f"tidings/{__version__}")],
        timeout_graceful_shutdown=2 * LAST_SECONDS,
    )
    server = _Server(config)

    loop = asyncio.get_running_loop()

    def stop() -> None:
        """Told once, let requests end; told twice, give them up."""
        loop.call_later(0 if server.should_exit else LAST_SECONDS, shared.end)
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    await server.serve(sockets=[listener])
