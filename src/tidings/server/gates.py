"""Builds the gates of a broker by its settings, and the servers of their connections: uvicorn for HTTP, picows for
WebSockets."""

import asyncio
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import uvicorn
from picows import ws_create_server
from starlette.types import ASGIApp

from tidings import __version__
from tidings.broker.broker import Broker
from tidings.gates.asking import OPEN
from tidings.gates.forwarding import Proxies
from tidings.gates.gate import Gate
from tidings.gates.http.app import HttpGate, HttpSettings
from tidings.gates.http.connection import HEADER_SECONDS, counted
from tidings.gates.http.door import SECURITY, Door
from tidings.gates.http.forwarded import Forwarded
from tidings.gates.http.limits import Turnstile
from tidings.gates.http.quick_update import QuickUpdates
from tidings.gates.http.security.identification import Identification
from tidings.gates.ldn.inbox import PATH
from tidings.gates.premises import Premises
from tidings.gates.quotas import Quota, Quotas
from tidings.gates.visitors import Visitors
from tidings.gates.websocket.gate import WebSocketGate, WebSocketSettings
from tidings.gates.websocket.upgrade import upgrading
from tidings.server.config import Settings
from tidings.server.listening import BACKLOG, Serve
from tidings.server.tls import figures

if TYPE_CHECKING:
    from tidings.server.security.assembly import Security

LAST_SECONDS = 10
"""Seconds that running requests have to end after a signal has stopped the broker."""


def http_gate(
    broker: Broker,
    settings: Settings,
    ws_port: int | None = None,
    wss_port: int | None = None,
    security: "Security | None" = None,
    quotas: Quotas | None = None,
    gates: Sequence[Gate] = (),
) -> HttpGate:
    """The HTTP gate. The ports are those of the WebSocket gate, if they differ from the settings; `gates` are the
    optional gates that are switched on."""
    limits = HttpSettings(
        base=settings.base,
        max_body=settings.max_body,
        max_requests=settings.max_requests,
        read_only=settings.read_only,
        loads=settings.load_from is not None or bool(settings.outgoing_hosts),
        cors=settings.cors,
        visitors=visitors(settings),
        max_connections=settings.max_connections,
        high_water=settings.outbox,
        ping=settings.ping,
        ws_port=ws_port or settings.ws_port,
        wss_port=wss_port or settings.wss_port,
        inbox=PATH if settings.ldn else None,
        figures=partial(figures, settings),
    )
    quotas = quotas or client_quotas(settings)
    if security is None:
        return HttpGate(broker, limits, quotas=quotas, gates=gates)
    return HttpGate(broker, limits, security.guard, security.routes(), quotas, gates)


def premises(broker: Broker, settings: Settings, security: "Security | None", quotas: Quotas) -> Premises:
    """What optional gates need of the server."""
    return Premises(
        broker,
        quotas,
        settings.base,
        guard=OPEN if security is None else security.guard,
        read_only=settings.read_only,
        max_body=settings.max_body,
        high_water=settings.outbox,
    )


def client_quotas(settings: Settings, monotonic: Callable[[], float] = time.monotonic) -> Quotas:
    """The quotas of each client, over all gates."""
    quota = Quota(
        rate=settings.client_rate,
        requests=settings.client_requests,
        updates=settings.client_queue,
        connections=settings.client_connections,
    )
    return Quotas(quota, monotonic)


def http_app(
    broker: Broker, settings: Settings, gate: HttpGate | None = None, security: "Security | None" = None
) -> ASGIApp:
    gate = gate or http_gate(broker, settings, security=security)
    guard = OPEN if security is None else security.guard
    app = Door(Identification(Turnstile(gate.app(), gate.quotas), guard), gate.visitors)
    return Forwarded(app, proxies) if (proxies := Proxies(settings.trusted_proxies)) else app


def quick_updates(
    broker: Broker, settings: Settings, gate: HttpGate, security: "Security | None" = None
) -> QuickUpdates | None:
    """The fast path of HTTP updates; None if the broker is read-only."""
    if settings.read_only:
        return None
    guard, proxies = OPEN if security is None else security.guard, Proxies(settings.trusted_proxies)
    return QuickUpdates(
        broker, guard, gate.quotas, gate.visitors, proxies, base=settings.base, max_body=settings.max_body
    )


def visitors(settings: Settings, pages: tuple[int, ...] = ()) -> Visitors:
    """The check of Host and Origin headers. Allowed are the names of this machine and of the address that it listens
    on."""
    hosts = (*settings.allowed_hosts, settings.host, socket.gethostname())
    return Visitors(hosts=hosts, origins=settings.cors, pages=pages)


def websocket_gate(
    broker: Broker,
    settings: Settings,
    http_port: int | None = None,
    https_port: int | None = None,
    security: "Security | None" = None,
    quotas: Quotas | None = None,
) -> WebSocketGate:
    """The WebSocket gate. The ports are those of the HTTP gate, if they differ from the settings."""
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
    guard = OPEN if security is None else security.guard
    return WebSocketGate(broker, limits, guard, quotas or client_quotas(settings))


# -- servers of connections ---------------------------------------------------------------------------------------


def serve_websockets(gate: WebSocketGate, settings: Settings) -> Serve:
    """A function that serves the connections of a port for WebSockets only."""

    async def serve(listener: socket.socket, tls: ssl.SSLContext | None) -> asyncio.AbstractServer:
        listen = partial(gate.listen, secure=tls is not None)
        limit = None if tls is None else HEADER_SECONDS
        return await ws_create_server(
            listen, sock=listener, ssl=tls, ssl_handshake_timeout=limit, **picows_options(settings)
        )

    return serve


def uvicorn_config(
    app: ASGIApp, settings: Settings, gate: WebSocketGate, quick: QuickUpdates | None = None
) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=counted(gate.quotas, Proxies(settings.trusted_proxies), quick),
        ws=upgrading(gate.listen, picows_options(settings)),
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


def picows_options(settings: Settings) -> dict[str, Any]:
    return {
        "max_frame_size": settings.max_body,
        "enable_auto_ping": True,
        "auto_ping_idle_timeout": settings.ping,
        "auto_ping_reply_timeout": settings.ping,
        "read_buffer_init_size": 4096,
        "backlog": BACKLOG,
    }
