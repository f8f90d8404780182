"""Computes the address of a primitive from the sections `sparql11protocol` and `sparql11seprotocol`, and the host.

A section of a primitive is merged with that of the profile, member by member. The host is the first of these that is
given: in the primitive's section, the primitive, the profile's section, the profile; otherwise, it is this machine.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Any

from tidings.client.jsap.documents import overlaid
from tidings.client.jsap.mistakes import Mistakes, below, shown

HTTP_PORTS = {"http": 8000, "https": 8443}
WS_PORTS = {"ws": 9000, "wss": 9443}
METHODS = {"query": ("GET", "POST", "URLENCODED_POST"), "update": ("POST", "URLENCODED_POST")}

_HTTP_MEMBERS = ("host", "protocol", "port", "query", "update")
_CALL_MEMBERS = ("path", "method", "format")
_WS_MEMBERS = ("host", "protocol", "reconnect", "availableProtocols", "security")
_GATE_MEMBERS = ("port", "path")
_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)*\.?")
_PATH = re.compile(r"/[^\s#<>\"{}|\\^`]*")


@dataclass(frozen=True, slots=True)
class Http:
    """How queries or updates are sent over HTTP: address, method and format of results."""

    url: str
    method: str
    format: str


@dataclass(frozen=True, slots=True)
class Level:
    """The settings for addresses on one level: of the whole profile, or of a primitive."""

    host: str | None
    http: Mapping[str, Any]
    ws: Mapping[str, Any]


def read_level(members: Mapping[str, Any], path: str, mistakes: Mistakes) -> Level:
    host = _host(members, path, mistakes)
    http = mistakes.members(members.get("sparql11protocol"), below(path, "sparql11protocol"), _HTTP_MEMBERS)
    ws = mistakes.members(members.get("sparql11seprotocol"), below(path, "sparql11seprotocol"), _WS_MEMBERS)
    _check_http(http, below(path, "sparql11protocol"), mistakes)
    _check_ws(ws, below(path, "sparql11seprotocol"), mistakes)
    return Level(host, http, ws)


def http_address(kind: str, inner: Level, outer: Level) -> Http:
    section = overlaid(outer.http, inner.http)
    protocol = section.get("protocol", "http")
    call = section.get(kind) or {}
    host = inner.http.get("host") or inner.host or outer.http.get("host") or outer.host
    url = _url(protocol, host, section.get("port", HTTP_PORTS[protocol]), call.get("path", f"/{kind}"))
    return Http(url, call.get("method", "POST"), call.get("format", "JSON"))


def ws_address(inner: Level, outer: Level) -> str:
    section = overlaid(outer.ws, inner.ws)
    protocol = chosen_gate(section)
    gate = section.get("availableProtocols", {}).get(protocol) or {}
    host = inner.ws.get("host") or inner.host or outer.ws.get("host") or outer.host
    return _url(protocol, host, gate.get("port", WS_PORTS[protocol]), gate.get("path", "/subscribe"))


def chosen_gate(section: Mapping[str, Any]) -> str:
    """The protocol of subscriptions: the named one, otherwise ws if it is available, otherwise the first available."""
    offered = [name for name in section.get("availableProtocols", {}) if name in WS_PORTS]
    return str(section.get("protocol") or ("ws" if "ws" in offered or not offered else offered[0]))


def check_gate(inner: Level, outer: Level, path: str, mistakes: Mistakes) -> None:
    """Check that a named protocol is one of `availableProtocols`, if these are given."""
    section = overlaid(outer.ws, inner.ws)
    offered, protocol = section.get("availableProtocols"), section.get("protocol")
    if offered and isinstance(offered, dict) and protocol in tuple(WS_PORTS) and protocol not in offered:
        at = below(below(path, "sparql11seprotocol"), "protocol")
        mistakes.add(at, f"must be one of availableProtocols ({', '.join(offered)}), not {shown(protocol)}")


def _url(protocol: str, host: str | None, port: int, path: str) -> str:
    host = host or "localhost"
    return f"{protocol}://{f'[{host}]' if _is_v6(host) else host}:{port}{path}"


# -- checks -----------------------------------------------------------------------------------------------------


def _check_http(section: Mapping[str, Any], path: str, mistakes: Mistakes) -> None:
    _host(section, path, mistakes)
    _choice(section, "protocol", HTTP_PORTS, path, mistakes)
    _port(section, path, mistakes)
    for kind, methods in METHODS.items():
        at = below(path, kind)
        call = mistakes.members(section.get(kind), at, _CALL_MEMBERS)
        _path(call, at, mistakes)
        _choice(call, "method", methods, at, mistakes)
        mistakes.text(call.get("format"), below(at, "format"))


def _check_ws(section: Mapping[str, Any], path: str, mistakes: Mistakes) -> None:
    _host(section, path, mistakes)
    _choice(section, "protocol", WS_PORTS, path, mistakes)
    reconnect = section.get("reconnect")
    if reconnect is not None and not isinstance(reconnect, bool):
        mistakes.add(below(path, "reconnect"), f"must be true or false, not {shown(reconnect)}")
    mistakes.mapping(section.get("security"), below(path, "security"))
    at = below(path, "availableProtocols")
    for name, gate in mistakes.mapping(section.get("availableProtocols"), at).items():
        if name in WS_PORTS:  # other gates have members of their own
            members = mistakes.members(gate, below(at, name), _GATE_MEMBERS)
            _port(members, below(at, name), mistakes)
            _path(members, below(at, name), mistakes)


def _choice(section: Mapping[str, Any], name: str, among: Iterable[str], path: str, mistakes: Mistakes) -> None:
    value = section.get(name)
    if value is not None and value not in (among := tuple(among)):
        mistakes.add(below(path, name), f"must be {_either(among)}, not {shown(value)}")


def _either(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _port(section: Mapping[str, Any], path: str, mistakes: Mistakes) -> None:
    port = section.get("port")
    if port is not None and (isinstance(port, bool) or not isinstance(port, int) or not 0 < port < 65_536):
        mistakes.add(below(path, "port"), f"must be a number from 1 to 65535, not {shown(port)}")


def _path(section: Mapping[str, Any], path: str, mistakes: Mistakes) -> None:
    given = section.get("path")
    if given is not None and not (isinstance(given, str) and _PATH.fullmatch(given)):
        mistakes.add(below(path, "path"), f"must be a path that starts with /, not {shown(given)}")


def _host(section: Mapping[str, Any], path: str, mistakes: Mistakes) -> str | None:
    host = section.get("host")
    if host is None:
        return None
    if not isinstance(host, str) or not (_HOST.fullmatch(host) or _is_v6(host.strip("[]"))):
        mistakes.add(below(path, "host"), f"must be a name or an IP address alone, not {shown(host)}")
        return None
    return host


def _is_v6(host: str) -> bool:
    try:
        IPv6Address(host)
    except ValueError:
        return False
    return True
