"""The sockets that the broker listens on, and the functions that serve the connections of each.

Without TLS, there are two ports, for HTTP and for WebSocket. With TLS, there are two more, and only this machine can
reach the ports without TLS, by default. If both ports have the same number, the HTTP server takes WebSockets, too.
"""

import errno
import ipaddress
import socket
import ssl
from asyncio import AbstractServer
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from tidings.model.errors import TidingsError
from tidings.server.config import Settings

BACKLOG = 4096
THIS_MACHINE = "127.0.0.1"
CLOSED = "off"

Serve: TypeAlias = Callable[[socket.socket, ssl.SSLContext | None], Awaitable[AbstractServer]]
"""Starts a server for the connections of a listening socket, and takes over the socket."""


class CannotListen(TidingsError):
    """The broker cannot listen at an address or a port."""

    code = "cannot_listen"


# -- sockets ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Addresses:
    """The URLs for clients."""

    http: str
    ws: str


@dataclass(frozen=True, slots=True)
class Pair:
    """The sockets for HTTP and for WebSocket; the latter is None if HTTP serves both."""

    http: socket.socket
    ws: socket.socket | None
    secure: bool = False

    @property
    def http_port(self) -> int:
        return _port(self.http)

    @property
    def ws_port(self) -> int:
        return _port(self.ws or self.http)

    @property
    def addresses(self) -> Addresses:
        letter = "s" if self.secure else ""
        return Addresses(
            _address(f"http{letter}", self.http), _address(f"ws{letter}", self.ws or self.http) + "/subscribe"
        )


@dataclass(frozen=True, slots=True)
class Listeners:
    """All sockets: a pair without TLS, a pair with TLS, or both."""

    plain: Pair | None
    secure: Pair | None

    @property
    def pairs(self) -> tuple[Pair | None, Pair | None]:
        return self.plain, self.secure

    @property
    def http_ports(self) -> tuple[int | None, int | None]:
        """The HTTP ports without and with TLS."""
        return self.plain.http_port if self.plain else None, self.secure.http_port if self.secure else None

    @property
    def ws_ports(self) -> tuple[int | None, int | None]:
        return self.plain.ws_port if self.plain else None, self.secure.ws_port if self.secure else None


@contextmanager
def listeners(settings: Settings, *, tls: bool) -> Iterator[Listeners]:
    """Open the listening sockets. Raises CannotListen."""
    with ExitStack() as stack:

        def pair(host: str, http_port: int, ws_port: int, *, secure: bool) -> Pair:
            letter = "s" if secure else ""
            http = stack.enter_context(closing(listen(host, http_port, f"--http{letter}-port")))
            if ws_port == http_port != 0:
                return Pair(http, None, secure)
            return Pair(http, stack.enter_context(closing(listen(host, ws_port, f"--ws{letter}-port"))), secure)

        secure = pair(settings.host, settings.https_port, settings.wss_port, secure=True) if tls else None
        host = plain_host(settings) if tls else settings.host
        plain = None if host is None else pair(host, settings.http_port, settings.ws_port, secure=False)
        yield Listeners(plain, secure)


def plain_host(settings: Settings) -> str | None:
    """The host of the ports without TLS, if there are ports with TLS: by default this machine only; None if closed."""
    if settings.plain_host is not None:
        return None if settings.plain_host == CLOSED else settings.plain_host
    return settings.host if _is_this_machine(settings.host) else THIS_MACHINE


def listen(host: str, port: int, option: str) -> socket.socket:
    """A listening socket; `option` is the option that sets its port. Raises CannotListen."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(place)
            listener.listen(BACKLOG)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise cannot_listen(host, port, option, error) from error
    return listener


def cannot_listen(host: str, port: int, option: str, error: OSError) -> CannotListen:
    """The error, with advice: another port, if the port is taken or reserved."""
    said = f"cannot listen on {host} port {port}: {(error.strerror or str(error)).lower()}"
    hint = f"; choose another port with {option} N, or any free one with {option} 0"
    return CannotListen(said + hint if error.errno in {errno.EADDRINUSE, errno.EACCES} else said)


def _address(scheme: str, listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def _port(listener: socket.socket) -> int:
    port: int = listener.getsockname()[1]
    return port


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


# -- serving ------------------------------------------------------------------------------------------------------


class Entrance:
    """A listening socket with its server. `open` called again serves new connections with another certificate: the
    socket stays, so connections in its queue are not lost, and accepted connections go on."""

    def __init__(self, listener: socket.socket, serve: Serve, *, secure: bool) -> None:
        self._listener = listener
        self._serve = serve
        self.secure = secure
        self._server: AbstractServer | None = None

    async def open(self, tls: ssl.SSLContext | None) -> None:
        if self._is_closed():
            return
        former, self._server = self._server, await self._serve(self._listener.dup(), tls if self.secure else None)
        if former is not None:
            former.close()
        if self._is_closed():  # closed while the server started
            self._server.close()

    def close(self) -> None:
        """Close the socket for good."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self._listener.close()

    def _is_closed(self) -> bool:
        return self._listener.fileno() < 0


class Entrances:
    """All entrances, with the TLS context of those with TLS."""

    def __init__(self, tls: ssl.SSLContext | None) -> None:
        self._tls = tls
        self._all: list[Entrance] = []

    def add(self, pair: Pair | None, http: Serve, ws: Serve) -> None:
        if pair is not None:
            self._all.append(Entrance(pair.http, http, secure=pair.secure))
            if pair.ws is not None:
                self._all.append(Entrance(pair.ws, ws, secure=pair.secure))

    async def open(self) -> None:
        for entrance in self._all:
            await entrance.open(self._tls)

    async def renew(self, tls: ssl.SSLContext) -> None:
        self._tls = tls
        for entrance in self._all:
            if entrance.secure:
                await entrance.open(tls)

    def close(self) -> None:
        for entrance in self._all:
            entrance.close()
