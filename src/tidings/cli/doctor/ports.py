"""Checks the ports of the settings. If one is taken, the check asks the program there whether it is a broker."""

import errno
import json
import re
import socket
import time
from dataclasses import dataclass

from tidings.cli.doctor.finding import Finding
from tidings.server.config import Settings
from tidings.server.listening import plain_host

PATIENCE = 2.0
"""Seconds that the program at a port has to answer."""
_MOST = 1 << 16
_ASKED = "GET /healthz HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n"
_SERVER = re.compile(rb"^server: tidings/([\w.+-]+)\r?$", re.IGNORECASE | re.MULTILINE)
_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}


@dataclass(frozen=True, slots=True)
class Broker:
    """A running broker. `trouble` is the code of the error with which it refuses updates, if it does."""

    version: str
    trouble: str = ""


def check_http_port(settings: Settings, patience: float = PATIENCE) -> Finding:
    return _check("HTTP port", "--http-port", _plain(settings), settings.http_port, patience)


def check_ws_port(settings: Settings, patience: float = PATIENCE) -> Finding:
    name, flag = "WebSocket port", "--ws-port"
    if settings.ws_port == settings.http_port != 0:
        return Finding(name, "ok", f"{settings.ws_port}, shared with HTTP")
    return _check(name, flag, _plain(settings), settings.ws_port, patience)


def check_https_port(settings: Settings, patience: float = PATIENCE) -> Finding:
    return _check("HTTPS port", "--https-port", settings.host, settings.https_port, patience)


def check_wss_port(settings: Settings, patience: float = PATIENCE) -> Finding:
    name, flag = "WebSocket port with TLS", "--wss-port"
    if settings.wss_port == settings.https_port != 0:
        return Finding(name, "ok", f"{settings.wss_port}, shared with HTTPS")
    return _check(name, flag, settings.host, settings.wss_port, patience)


def has_plain(settings: Settings) -> bool:
    """Whether there are ports without TLS."""
    return settings.tls_certificate is None or plain_host(settings) is not None


def _plain(settings: Settings) -> str:
    return settings.host if settings.tls_certificate is None else plain_host(settings) or settings.host


def _check(name: str, flag: str, host: str, port: int, patience: float) -> Finding:
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        _bind(host, port)
    except PermissionError:
        advice = f"take one from 1024 on: {flag} N; or allow it: AmbientCapabilities=CAP_NET_BIND_SERVICE for systemd"
        return Finding(name, "problem", f"{address} is for those with privileges only", advice)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return _taken(name, flag, address, host, port, patience)
        reason = (error.strerror or str(error)).lower()
        advice = "name an address of this machine: --host 127.0.0.1, or --host 0.0.0.0 --allow-insecure for all of them"
        return Finding(name, "problem", f"{address} cannot be listened on: {reason}", advice)
    return Finding(name, "ok", f"{address} is free" if port else f"any that is free on {host}")


def _bind(host: str, port: int) -> None:
    """Bind a port as a broker would, and close it at once; it never listens, so no client can connect."""
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(address)


def _taken(name: str, flag: str, address: str, host: str, port: int, patience: float) -> Finding:
    broker = broker_at(_ANY.get(host, host), port, patience)
    if broker is None:
        advice = f"give another one: {flag} N; or see who has it: ss -ltnp 'sport = :{port}'"
        return Finding(name, "problem", f"{address} is in use, and not by a Tidings broker", advice)
    found = f"{address} is in use by a Tidings broker, version {broker.version}"
    if broker.trouble:
        advice = "`tidings status` says more, and docs/operations.md what to do"
        return Finding(name, "problem", f"{found}, which refuses updates: {broker.trouble}", advice)
    return Finding(name, "note", found, f"for another broker beside it, another port: {flag} N")


# -- the program at a port ----------------------------------------------------------------------------------------


def broker_at(host: str, port: int, patience: float = PATIENCE) -> Broker | None:
    """The broker at a port of this machine, for HTTP or for WebSocket; None if the program there is not a broker."""
    head, _, body = _asked(host, port, patience).partition(b"\r\n\r\n")
    found = _SERVER.search(head)
    if found is None:
        return None
    return Broker(found[1].decode(), _trouble(body))


def _trouble(body: bytes) -> str:
    """The error code in the answer to a health check; empty for the WebSocket gate, which has no health check."""
    try:
        content = json.loads(body)
    except ValueError:
        return ""
    status = content.get("status", "ok") if isinstance(content, dict) else "ok"
    return "" if status == "ok" else str(status)


def _asked(host: str, port: int, patience: float) -> bytes:
    """The answer to a health check, as far as it comes in time."""
    deadline, answer = time.monotonic() + patience, b""
    try:
        with socket.create_connection((host, port), timeout=patience) as connection:
            connection.sendall(_ASKED.format(host=host, port=port).encode())
            while (left := deadline - time.monotonic()) > 0 and len(answer) < _MOST:
                connection.settimeout(left)
                if not (chunk := connection.recv(_MOST)):
                    break
                answer += chunk
    except OSError:
        return answer  # the program closed the connection or was slow; the answer so far may be enough to recognize it
    return answer
