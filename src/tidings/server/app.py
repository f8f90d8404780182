"""Settings to a running broker: its folder, its gates, their sockets, and an end that leaves nothing undone."""

import asyncio
import gc
import signal
import socket
import ssl
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import uvicorn
import uvloop
from picows import ws_create_server
from starlette.types import ASGIApp

from tidings import __version__
from tidings.broker.broker import Broker
from tidings.broker.policy import Disk, Policy
from tidings.broker.subscriptions.external_answers import ExternalEngine
from tidings.broker.subscriptions.outbox import Bounds, SlowPolicy
from tidings.broker.updates.initial_data import seed
from tidings.engine.engine import Engine
from tidings.engine.updates.executor import Core
from tidings.extras import needing
from tidings.gates.asking import OPEN
from tidings.gates.forwarding import Proxies
from tidings.gates.http.app import HttpGate, HttpSettings
from tidings.gates.http.connection import HEADER_SECONDS, HttpConnection
from tidings.gates.http.door import SECURITY, Door
from tidings.gates.http.fast_update import FastUpdate
from tidings.gates.http.forwarded import Forwarded
from tidings.gates.http.security.identification import Identification
from tidings.gates.visitors import Visitors
from tidings.gates.websocket.gate import WebSocketGate, WebSocketSettings
from tidings.gates.websocket.upgrade import upgrading
from tidings.log.folder import Folder
from tidings.log.journal import Durability, Journal
from tidings.log.journal import Settings as JournalSettings
from tidings.log.recovery import recover
from tidings.model.terms import Quad
from tidings.server.config import Settings
from tidings.server.exposure import check_exposure
from tidings.server.files import FolderLoader
from tidings.server.health import Health, HealthServer
from tidings.server.http_server import HttpServer
from tidings.server.listening import BACKLOG, Addresses, Entrances, Listeners, Serve, cannot_listen, listeners
from tidings.server.security.assembly import Security, build
from tidings.server.security.choices import is_secure
from tidings.server.tls import Tls, figures, read_tls, renewing

if TYPE_CHECKING:
    from tidings.server.spark_delivery import Delivery

LAST_SECONDS = 10
"""How long requests in work may take to end after the broker was told to stop."""


_SWITCH = 0.0005
"""Seconds that the loop may keep the interpreter from the thread that has just written the log, and wants to say so."""


def clock() -> int:
    """Microseconds since 1970: the one clock, handed to whoever needs the time."""
    return time.time_ns() // 1000


@dataclass(frozen=True, slots=True)
class Watch:
    """What a broker is told the time by: microseconds since 1970, and seconds for durations."""

    clock: Callable[[], int]
    monotonic: Callable[[], float]


WATCH = Watch(clock, time.monotonic)


# -- building -----------------------------------------------------------------------------------------------------


def build_core(settings: Settings) -> Core:
    folder = settings.load_from
    loader = None if folder is None else FolderLoader(Path(folder), settings.base)
    return Core(base=settings.base, loader=loader, most_parts=settings.max_parts or None)


def policy(settings: Settings) -> Policy:
    return Policy(
        queue=settings.max_queue,
        delayed=settings.max_delayed,
        slice_seconds=settings.slice,
        seconds=settings.timeout or None,
        rows=settings.max_rows or None,
        planning=settings.max_planning,
        workers=settings.workers,
        snapshot_bytes=settings.snapshot_every,
        keep_log=settings.keep_log,
        bounds=Bounds(
            subscriptions=settings.max_subscriptions,
            retain=settings.retain,
            rows=settings.outbox_rows,
            grace=settings.grace,
            slow=cast(SlowPolicy, settings.slow),
        ),
        patience=settings.deliver_patience,
    )


def build_broker(
    settings: Settings, core: Core | None = None, external: ExternalEngine | None = None, watch: Watch = WATCH
) -> Broker:
    """A broker in memory."""
    engine = Engine(core or build_core(settings), naive=settings.naive, clock=time.perf_counter)
    return Broker(engine, policy(settings), clock=watch.clock, monotonic=watch.monotonic, external=external)


def open_broker(
    settings: Settings,
    folder: Path,
    say: Callable[[str], None],
    external: ExternalEngine | None = None,
    watch: Watch = WATCH,
) -> Broker:
    """The broker that a folder holds: its newest snapshot, and the log since. The folder must be locked."""
    recovered = recover(folder)
    core = build_core(settings)
    snapshot = recovered.snapshot
    if snapshot is not None:
        for s, p, o, g in snapshot.quads:
            core.store.add(s, p, o, g)
    broker = build_broker(settings, core, external, watch)
    if snapshot is not None:
        broker.begin_at(snapshot.commit, snapshot.time)
        for note in snapshot.notes:
            broker.restore_note(note)
    for entry in recovered.entries():
        broker.restore(entry)
    if recovered.aside is not None:
        say(f"the end of the commit log was damaged: moved its last {recovered.cut:,} bytes to {recovered.aside}")
    elif recovered.cut:
        say(f"the commit log ended in an incomplete entry: cut off its last {recovered.cut:,} bytes")
    durability = cast(Durability, settings.durability)
    journal = Journal(folder, recovered.place, JournalSettings(settings.segment_size, settings.segment_age, durability))
    broker.attach(Disk(folder, journal, durability, recovered.replayed))
    return broker


def http_gate(
    broker: Broker,
    settings: Settings,
    ws_port: int | None = None,
    wss_port: int | None = None,
    security: Security | None = None,
) -> HttpGate:
    """The ports are where the WebSocket gate listens, if that is not where the settings say."""
    limits = HttpSettings(
        base=settings.base,
        max_body=settings.max_body,
        max_requests=settings.max_requests,
        read_only=settings.read_only,
        loads=settings.load_from is not None,
        cors=settings.cors,
        max_connections=settings.max_connections,
        high_water=settings.outbox,
        ping=settings.ping,
        ws_port=ws_port or settings.ws_port,
        wss_port=wss_port or settings.wss_port,
        figures=partial(figures, settings),
    )
    if security is None:
        return HttpGate(broker, limits)
    return HttpGate(broker, limits, security.guard, security.routes())


def http_app(
    broker: Broker, settings: Settings, gate: HttpGate | None = None, security: Security | None = None
) -> ASGIApp:
    long_way = (gate or http_gate(broker, settings, security=security)).app()
    guard = OPEN if security is None else security.guard
    short = FastUpdate(
        long_way, broker, guard, base=settings.base, max_body=settings.max_body, read_only=settings.read_only
    )
    app = Door(Identification(short, guard), visitors(settings))
    return Forwarded(app, proxies) if (proxies := Proxies(settings.trusted_proxies)) else app


def visitors(settings: Settings, pages: tuple[int, ...] = ()) -> Visitors:
    """Whose requests the gates take; this machine goes by its own name, and by that of the address it listens on."""
    hosts = (*settings.allowed_hosts, settings.host, socket.gethostname())
    return Visitors(hosts=hosts, origins=settings.cors, pages=pages)


def websocket_gate(
    broker: Broker,
    settings: Settings,
    http_port: int | None = None,
    https_port: int | None = None,
    security: Security | None = None,
) -> WebSocketGate:
    """The ports are where the HTTP gate listens, if that is not where the settings say."""
    limits = WebSocketSettings(
        base=settings.base,
        max_message=settings.max_body,
        max_connections=settings.max_connections,
        high_water=settings.outbox,
        read_only=settings.read_only,
        visitors=visitors(settings, (http_port or settings.http_port, https_port or settings.https_port)),
        http_port=http_port or settings.http_port,
        https_port=https_port or settings.https_port,
        proxies=Proxies(settings.trusted_proxies),
    )
    return WebSocketGate(broker, limits, OPEN if security is None else security.guard)


# -- running ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Opened:
    """A broker that can be reached."""

    broker: Broker
    plain: Addresses | None
    secure: Addresses | None = None
    health_port: int | None = None

    @property
    def foremost(self) -> Addresses:
        """What clients are told of."""
        addresses = self.secure or self.plain
        assert addresses is not None
        return addresses

    @property
    def nearest(self) -> Addresses:
        """For those on this machine, who need no TLS."""
        return self.plain or self.foremost


def serve(
    settings: Settings,
    quads: Callable[[], Iterable[Quad]],
    announce: Callable[[Opened], None],
    say: Callable[[str], None],
) -> None:
    """Answer until told to stop. `quads` are what to begin with; `announce` is called once the gates are open."""
    check_exposure(settings)
    sys.setswitchinterval(_SWITCH)
    tls = read_tls(settings)
    with ExitStack() as stack:
        sockets = stack.enter_context(listeners(settings, tls=tls is not None))
        health = Health(time.monotonic)
        watched = _health_port(health, settings, stack)
        gc.disable()  # what is loaded is here to stay: there is nothing to collect
        delivery = None if settings.deliver is None else stack.enter_context(_delivery(settings, settings.deliver))
        if settings.memory:
            broker = build_broker(settings, external=delivery)
        else:
            folder = stack.enter_context(Folder(Path(settings.data)))
            broker = open_broker(settings, folder.path, say, delivery)
        runner = stack.enter_context(asyncio.Runner(loop_factory=uvloop.new_event_loop))
        doors = Doors(sockets, health, watched)
        runner.run(_run(broker, delivery, settings, tls, quads, doors, announce, say))


@dataclass(frozen=True, slots=True)
class Doors:
    """Where a broker can be reached, and what is told of its health."""

    sockets: Listeners
    health: Health
    health_port: int | None


def _health_port(health: Health, settings: Settings, stack: ExitStack) -> int | None:
    """Have health told at a port of its own, if there is one. Raises CannotListen."""
    if settings.health_port is None:
        return None
    try:
        return stack.enter_context(HealthServer(health, settings.host, settings.health_port)).port
    except OSError as error:
        raise cannot_listen(settings.host, settings.health_port, error) from error


def _delivery(settings: Settings, out: str) -> AbstractContextManager["Delivery"]:
    """What the broker only delivers. Raises ExtraMissing: it comes in a format that not everybody can read."""
    with needing("--deliver needs what reads Parquet", "spark"):
        from tidings.server.spark_delivery import delivering
    return delivering(Path(out), settings.base)


async def _run(
    broker: Broker,
    delivery: "Delivery | None",
    settings: Settings,
    tls: Tls | None,
    quads: Callable[[], Iterable[Quad]],
    doors: Doors,
    announce: Callable[[Opened], None],
    say: Callable[[str], None],
) -> None:
    sockets = doors.sockets
    security = _security(broker, settings, sockets) if is_secure(settings) else None
    gate = websocket_gate(broker, settings, *sockets.http_ports, security)
    pages = http_gate(broker, settings, *sockets.ws_ports, security)
    entrances = Entrances(None if tls is None else tls.context)
    server = HttpServer(_uvicorn(http_app(broker, settings, pages, security), settings, gate), entrances)
    for pair in sockets.pairs:
        entrances.add(pair, server.serve_connections, _websockets(gate, settings))
    loop = asyncio.get_running_loop()

    def stop() -> None:
        """Told once, let what was accepted end; told twice, give it up."""
        broker.end()
        pages.end()
        loop.call_later(0 if server.should_exit else LAST_SECONDS, broker.abort_forks)
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(broker)
        if security is not None:
            await stack.enter_async_context(security.running(say))
        if _begins_with_something(broker, settings) and not await seed(broker, quads) and settings.load:
            say("there are commits already, so nothing was loaded")
        if delivery is not None:
            await delivery.begin(broker)
        gc.enable()
        broker.freeze()
        if tls is not None:
            await stack.enter_async_context(renewing(tls, entrances.renew))
        doors.health.watch(broker, loop)
        plain, secure = (None if pair is None else pair.addresses for pair in sockets.pairs)
        announce(Opened(broker, plain, secure, doors.health_port))
        try:
            await server.serve()
        finally:
            broker.end()
            await broker.finish()
            entrances.close()
            await gate.close()


def _security(broker: Broker, settings: Settings, sockets: Listeners) -> Security:
    """Raises BadSetting. Unless the settings say otherwise, the broker is called by the address that it listens on."""
    pair = sockets.secure or sockets.plain
    assert pair is not None
    return build(broker, settings, pair.addresses.http, time.monotonic)


def _websockets(gate: WebSocketGate, settings: Settings) -> Serve:
    """How connections to a port for WebSockets alone are served."""

    async def serve(listener: socket.socket, tls: ssl.SSLContext | None) -> asyncio.AbstractServer:
        listen = partial(gate.listen, secure=tls is not None)
        limit = None if tls is None else HEADER_SECONDS
        return await ws_create_server(listen, sock=listener, ssl=tls, ssl_handshake_timeout=limit, **_picows(settings))

    return serve


def _begins_with_something(broker: Broker, settings: Settings) -> bool:
    """Files that are named are at least mentioned; the demo keeps out of the way of anything that is there."""
    return bool(settings.load) or (settings.demo and not settings.read_only and not len(broker.store))


def _uvicorn(app: ASGIApp, settings: Settings, gate: WebSocketGate) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=HttpConnection,
        ws=upgrading(gate.listen, _picows(settings)),
        lifespan="off",
        log_config=None,
        log_level=settings.log_level,
        access_log=False,
        proxy_headers=False,
        timeout_keep_alive=75,
        server_header=False,
        headers=[("server", f"tidings/{__version__}"), *SECURITY],
        timeout_graceful_shutdown=2 * LAST_SECONDS,
    )


def _picows(settings: Settings) -> dict[str, Any]:
    return {
        "max_frame_size": settings.max_body,
        "enable_auto_ping": True,
        "auto_ping_idle_timeout": settings.ping,
        "auto_ping_reply_timeout": settings.ping,
        "read_buffer_init_size": 4096,
        "backlog": BACKLOG,
    }
