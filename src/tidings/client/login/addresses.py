"""Finds the broker that an address belongs to, and the name and password in it: `wss://name:password@host/subscribe`.

A password in an address is for a proxy in front of a broker (RFC 7617, Basic). Error messages omit it.
"""

import re
from base64 import b64encode
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

_SCHEMES = {"ws": "http", "wss": "https"}
_SECURE = ("https", "wss")
_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_BESIDE = {9000: 8000, 9443: 8443}
"""From the default ports for WebSockets to the default ports for HTTP."""
_PATHS = re.compile(r"(/secure)?(/(query|update|sparql|subscribe))?/?\Z")


class Host(NamedTuple):
    """A host name, and whether the connection is encrypted."""

    name: str
    secure: bool


class Origin(NamedTuple):
    """The origin of an address. A token is shown only at the origin of its broker."""

    scheme: str
    host: str
    port: int | None


def without_credentials(url: str) -> tuple[str, dict[str, str]]:
    """An address without name and password, and the headers that carry them instead."""
    parts = urlsplit(url)
    credentials, at, host = parts.netloc.rpartition("@")
    if not at:
        return url, {}
    name, _, password = credentials.partition(":")
    token = b64encode(f"{unquote(name)}:{unquote(password)}".encode()).decode("ascii")
    return urlunsplit(parts._replace(netloc=host)), {"Authorization": f"Basic {token}"}


def host_of(url: str) -> Host:
    parts = urlsplit(url)
    return Host((parts.hostname or "").rstrip("."), parts.scheme in _SECURE)


def origin_of(url: str) -> Origin:
    parts = urlsplit(url)
    return Origin(parts.scheme, parts.hostname or "", _port(parts) or _PORTS.get(parts.scheme))


def broker_of(url: str) -> str:
    """The HTTP address of a broker, from the address of one of its endpoints, including that for subscriptions."""
    parts = urlsplit(without_credentials(url)[0])
    host, port = parts.hostname or "", _port(parts)
    scheme = _SCHEMES.get(parts.scheme, parts.scheme)
    if parts.scheme in _SCHEMES and port is not None:
        port = _BESIDE.get(port, port)
    netloc = f"[{host}]" if ":" in host else host
    return urlunsplit((scheme, netloc if port is None else f"{netloc}:{port}", _PATHS.sub("", parts.path), "", ""))


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port
    except ValueError:  # not a number; connecting reports that
        return None
