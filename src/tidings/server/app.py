"""Runs a broker by its settings: opens its folder, its gates and their sockets, and shuts them down in order."""

import asyncio
import gc
import signal
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import uvloop

from tidings.broker.broker import Broker
from tidings.broker.updates.initial_data import seed
from tidings.extras import needing
from tidings.log.folder import Folder
from tidings.model.terms import Quad
from tidings.server.brokers import build_broker, open_broker
from tidings.server.config import Settings
from tidings.server.exposure import check_exposure
from tidings.server.gates import (
    LAST_SECONDS,
    client_quotas,
    http_app,
    http_gate,
    premises,
    quick_updates,
    serve_websockets,
    uvicorn_config,
    websocket_gate,
)
from tidings.server.health import Health, HealthServer
from tidings.server.http_server import HttpServer
from tidings.server.listening import Addresses, Entrances, Listeners, cannot_listen, listeners
from tidings.server.optional_gates.opening import optional_gates
from tidings.server.tls import Tls, read_tls, renewing
from tidings.sparql.nesting import allow_nesting

if TYPE_CHECKING:
    from tidings.server.security.assembly import Security
    from tidings.server.spark_delivery import Delivery

_SWITCH = 0.0005
"""Python's switch interval: seconds for which the event loop may keep the thread waiting that has written the log."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A broker whose gates are open, with their addresses."""

    broker: Broker
    plain: Addresses | None
    secure: Addresses | None = None
    health_port: int | None = None

    @property
    def foremost(self) -> Addresses:
        """The addresses to publish: those with TLS, if there are any."""
        addresses = self.secure or self.plain
        assert addresses is not None
        return addresses

    @property
    def nearest(self) -> Addresses:
        """The addresses for programs on this machine: those without TLS, if there are any."""
        return self.plain or self.foremost


def serve(
    settings: Settings,
    quads: Callable[[], Iterable[Quad]],
    announce: Callable[[Opened], None],
    say: Callable[[str], None],
) -> None:
    """Run a broker until a signal stops it. `quads` is the initial data; `serve` calls `announce` once the gates are
    open."""
    check_exposure(settings)
    allow_nesting()
    sys.setswitchinterval(_SWITCH)
    tls = read_tls(settings)
    with ExitStack() as stack:
        sockets = stack.enter_context(listeners(settings, tls=tls is not None))
        health = Health(time.monotonic)
        watched = _health_port(health, settings, stack)
        gc.disable()  # loaded data stays in memory: there is no garbage to collect
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
    """The sockets of a broker, and its health."""

    sockets: Listeners
    health: Health
    health_port: int | None


def _health_port(health: Health, settings: Settings, stack: ExitStack) -> int | None:
    """Open the separate port for health, if the settings have one. Raises CannotListen."""
    if settings.health_port is None:
        return None
    try:
        return stack.enter_context(HealthServer(health, settings.host, settings.health_port)).port
    except OSError as error:
        raise cannot_listen(settings.host, settings.health_port, "--health-port", error) from error


def _delivery(settings: Settings, out: str) -> AbstractContextManager["Delivery"]:
    """The delivery of answers that a Spark job works out. Raises ExtraMissing: reading them needs Parquet."""
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
    security = _security(broker, settings, sockets) if settings.is_secure else None
    quotas = client_quotas(settings)
    gate = websocket_gate(broker, settings, *sockets.http_ports, security, quotas)
    switched_on = optional_gates(premises(broker, settings, security, quotas), settings)
    pages = http_gate(broker, settings, *sockets.ws_ports, security, quotas, switched_on)
    entrances = Entrances(None if tls is None else tls.context)
    app, quick = http_app(broker, settings, pages, security), quick_updates(broker, settings, pages, security)
    server = HttpServer(uvicorn_config(app, settings, gate, quick), entrances)
    for pair in sockets.pairs:
        entrances.add(pair, server.serve_connections, serve_websockets(gate, settings))
    loop = asyncio.get_running_loop()

    def stop() -> None:
        """On the first signal, let accepted requests end; on the second one, abort them."""
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
        if settings.has_endpoint:
            from tidings.server.endpoints import behind  # imported here because most brokers have no endpoint

            await stack.enter_async_context(behind(broker, settings))
        if settings.lake is not None:
            from tidings.server.history.lake import lake_behind  # imported here because most brokers have no lake

            await stack.enter_async_context(lake_behind(broker, settings, say))
        if _begins_with_something(broker, settings) and not await seed(broker, quads) and settings.load:
            say("there are commits already, so nothing was loaded")
        if delivery is not None:
            await delivery.begin(broker)
        gc.enable()
        broker.freeze()
        if tls is not None:
            await stack.enter_async_context(renewing(tls, entrances.renew))
        for each in switched_on:
            await stack.enter_async_context(each.running())
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


def _security(broker: Broker, settings: Settings, sockets: Listeners) -> "Security":
    """Build security. By default, its issuer is the address that the broker listens on. Raises BadSetting."""
    from tidings.server.security.assembly import build  # imported here because brokers without security start faster

    pair = sockets.secure or sockets.plain
    assert pair is not None
    return build(broker, settings, pair.addresses.http, time.monotonic)


def _begins_with_something(broker: Broker, settings: Settings) -> bool:
    """Whether there is initial data: files of --load, or the demo, which loads only into an empty store."""
    return bool(settings.load) or (settings.demo and not settings.read_only and not len(broker.store))
