"""The WebSocket gate: accepts or refuses connections, holds what they share, and closes them all at the end."""

import asyncio
import time
from http import HTTPStatus
from typing import Protocol, TypeAlias

import orjson
from msgspec import Struct
from picows import WSCloseCode, WSUpgradeRequest, WSUpgradeResponse, WSUpgradeResponseWithListener

from tidings import __version__
from tidings.broker.broker import Broker
from tidings.gates.asking import OPEN, Guard
from tidings.gates.errors import TooManyConnections
from tidings.gates.forwarding import NOBODY, Proxies
from tidings.gates.http.door import SECURITY
from tidings.gates.quotas import Quota, Quotas
from tidings.gates.visitors import SECURE, SECURE_IS_OFF, Visitors
from tidings.gates.websocket.connection import Connection
from tidings.gates.websocket.conversation import Traffic
from tidings.model.errors import NotFound, TidingsError
from tidings.protocol.errors import BadMessage

PATHS = (b"/subscribe", b"/sparql")
SECURE_PATHS = (*PATHS, *(SECURE.encode() + path for path in PATHS))

Answer: TypeAlias = Connection | WSUpgradeResponseWithListener


class Listen(Protocol):
    """Accepts a request for a WebSocket, with the connection that handles it, or refuses it with a response."""

    def __call__(self, request: WSUpgradeRequest, *, secure: bool) -> Answer: ...


class WebSocketSettings(Struct, frozen=True):
    """The limits of the gate: the size of messages, the number of connections, unsent bytes for a client, and whether
    it takes updates."""

    base: str
    max_message: int = 16 << 20
    max_connections: int = 20_000
    high_water: int = 1 << 18
    read_only: bool = False
    http_port: int | None = None
    https_port: int | None = None
    """The port of the HTTP gate, for the error that a client gets who speaks HTTP to this one."""
    proxies: Proxies = NOBODY
    visitors: Visitors = Visitors(hosts=(), origins=())


class WebSocketGate:
    """Makes a `Connection` for each client that it accepts."""

    def __init__(
        self, broker: Broker, settings: WebSocketSettings, guard: Guard = OPEN, quotas: Quotas | None = None
    ) -> None:
        self.broker = broker
        self.guard = guard
        self.quotas = quotas or Quotas(Quota(), time.monotonic)
        self.settings = settings
        self.connections: set[Connection] = set()
        self.traffic = Traffic()
        self._laden: list[Connection] = []

    def listen(self, request: WSUpgradeRequest, *, secure: bool = False) -> Answer:
        """picows calls it for each handshake; see `Listen`. `secure` says that the connection has TLS."""
        path = request.path.partition(b"?")[0]
        most = self.settings.max_connections
        try:
            self._check_visitor(request)
        except TidingsError as error:
            return _refused(error)
        if path not in (SECURE_PATHS if self.guard.asks else PATHS):
            return _refused(NotFound(self._nothing_at(path.decode("latin-1"), request, secure)))
        if len(self.broker.sessions) >= most:
            full = TooManyConnections(f"{most:,} clients are connected, the limit of max_connections")
            self.quotas.note(full)
            return _refused(full)
        if "websocket" not in request.headers.get("upgrade", "").lower():
            return _refused(BadMessage(f"this port speaks WebSocket; HTTP is at {self._http(request, secure)}"))
        return Connection(self, request.headers.get("authorization") if self.guard.asks else None)

    def _nothing_at(self, path: str, request: WSUpgradeRequest, secure: bool) -> str:
        if path.startswith(SECURE) and not self.guard.asks:
            return SECURE_IS_OFF.format(path)
        right = f"{'wss' if secure else 'ws'}://{request.headers.get('host', '')}/subscribe"
        return f"there is nothing at {path}; subscribe at {right}"

    def _http(self, request: WSUpgradeRequest, secure: bool) -> str:
        """The address of the HTTP gate, with the host name that this client uses."""
        scheme, port = ("https", self.settings.https_port) if secure else ("http", self.settings.http_port)
        host = request.headers.get("host", "")
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        return "the other one" if port is None or not name else f"{scheme}://{name}:{port}"

    def _check_visitor(self, request: WSUpgradeRequest) -> None:
        """A browser opens a WebSocket for any page, without a CORS preflight: only the Origin header tells which."""
        headers = request.headers
        self.settings.visitors.check(headers.get("host"), headers.get("origin"))

    def will_flush(self, connection: Connection) -> None:
        """Flush this connection at the end of this turn of the event loop."""
        if not self._laden:
            asyncio.get_running_loop().call_soon(self._flush)
        self._laden.append(connection)

    def _flush(self) -> None:
        laden, self._laden = self._laden, []
        for connection in laden:
            connection.flush()

    async def close(self) -> None:
        """Close all connections, in the orderly way for at most a second."""
        for connection in list(self.connections):
            connection.close(WSCloseCode.GOING_AWAY.value, "the broker is stopping")
        deadline = asyncio.get_running_loop().time() + 1.0
        while self.connections and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(0.01)
        for connection in list(self.connections):
            connection.abort()


def _refused(error: TidingsError) -> WSUpgradeResponseWithListener:
    body = orjson.dumps(error.to_json(), option=orjson.OPT_APPEND_NEWLINE)
    response = WSUpgradeResponse.create_error_response(
        HTTPStatus(error.status),
        body,
        {"Content-Type": "application/json", "Server": f"tidings/{__version__}", **dict(SECURITY)},
    )
    return WSUpgradeResponseWithListener(response, None)
