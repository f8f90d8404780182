"""Reads the headers in which a trusted reverse proxy names the client that it forwards.

    Forwarded: for=192.0.2.7;proto=https;host=tidings.example.org        (RFC 7239)
    X-Forwarded-For: 192.0.2.7   X-Forwarded-Proto: https   X-Forwarded-Host: tidings.example.org

Each proxy appends the address that called it. So the lists are read from their end, for as long as the writer of an
element is trusted. The client may have written everything before that.
"""

import re
from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

from msgspec import Struct, structs

from tidings.gates.errors import BadForwarding
from tidings.gates.peer import Peer

Header: TypeAlias = tuple[str, str]
_X = ("x-forwarded-for", "x-forwarded-proto", "x-forwarded-host")
_NAMES = frozenset({"forwarded", *_X})
_SECURE = {"https": True, "wss": True, "http": False, "ws": False}
_HOST = re.compile(r"(?:[A-Za-z0-9_.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_NODE = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<four>[0-9.]+))(?::[0-9]{1,5}|:_[\w.-]+)?")
_HIDDEN = re.compile(r"unknown|_[A-Za-z0-9._-]{1,100}")
_PAIR = re.compile(r'\s*([A-Za-z]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s";,]*))\s*')
_MOST = 4096


class Hop(Struct, frozen=True):
    """What one proxy wrote: the address that called it, whether over TLS, and the Host header that it got."""

    client: str
    secure: bool | None = None
    host: str | None = None


class Proxies:
    """The proxies that the settings trust, by address or network."""

    def __init__(self, networks: Iterable[str]) -> None:
        self._networks: list[IPv4Network | IPv6Network] = [ip_network(each) for each in networks]

    def __bool__(self) -> bool:
        return bool(self._networks)

    def trusts(self, address: str) -> bool:
        try:
            found = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
            found = found.ipv4_mapped
        return any(found in network for network in self._networks)

    def origin(self, address: str, headers: Iterable[Header]) -> Hop | None:
        """What the outermost trusted proxy wrote; None if there is no trusted proxy, or it wrote nothing. Raises
        BadForwarding."""
        if not self._networks or not self.trusts(address):
            return None
        hops = _hops(headers)
        for hop in reversed(hops):
            if not self.trusts(hop.client):
                return _checked(hop)
        return _checked(hops[0]) if hops else None

    def peer(self, peer: Peer, headers: Iterable[Header]) -> Peer:
        """The client, with the address that the proxies report. Raises BadForwarding."""
        hop = self.origin(peer.address, headers)
        return peer if hop is None else structs.replace(peer, address=hop.client)


NOBODY = Proxies(())


def _hops(headers: Iterable[Header]) -> list[Hop]:
    """All hops in the order of the headers: the nearest proxy wrote the last one."""
    found: dict[str, str] = {}
    for raw, value in headers:
        if (name := raw.lower()) in _NAMES:
            found[name] = f"{found[name]},{value}" if name in found else value
    if sum(map(len, found.values())) > _MOST:
        raise BadForwarding(f"the headers of the proxy have more than {_MOST:,} characters")
    if "forwarded" in found:
        if len(found) > 1:  # a proxy writes one of them; the other may be the client's
            raise BadForwarding(
                "both Forwarded and X-Forwarded-… came; the proxy has to remove the one it does not set"
            )
        return [_element(each) for each in _split(found["forwarded"])]
    return _of_lists(*([part.strip() for part in found.get(name, "").split(",") if part.strip()] for name in _X))


def _of_lists(clients: list[str], schemes: list[str], hosts: list[str]) -> list[Hop]:
    """Proxies may write one scheme and one host for several clients: the last one then holds for all."""

    def beside(values: list[str], number: int) -> str | None:
        return None if not values else values[max(number - len(clients), -len(values))]

    return [
        Hop(_address(client), _scheme(beside(schemes, number)), beside(hosts, number))
        for number, client in enumerate(clients)
    ]


def _split(text: str) -> list[str]:
    """At commas that are not in quotes."""
    return [part for part in re.findall(r'(?:[^",]|"(?:[^"\\]|\\.)*")+', text) if part.strip()]


def _element(text: str) -> Hop:
    pairs: dict[str, str] = {}
    for part in re.findall(r'(?:[^";]|"(?:[^"\\]|\\.)*")+', text):
        match = _PAIR.fullmatch(part)
        if match is None:
            return Hop("", None, None)  # `_checked` refuses it if it is used; otherwise the client may have written it
        pairs[match[1].lower()] = match[3] if match[2] is None else re.sub(r"\\(.)", r"\1", match[2])
    return Hop(_address(pairs.get("for", "")), _scheme(pairs.get("proto")), pairs.get("host"))


def _address(node: str) -> str:
    """The address without its port; the text as it is, if it has no address."""
    try:
        return str(ip_address(node))
    except ValueError:
        match = _NODE.fullmatch(node)
        return node if match is None else match["six"] or match["four"]


def _scheme(text: str | None) -> bool | None:
    return None if text is None else _SECURE.get(text.lower())


def _checked(hop: Hop) -> Hop:
    try:
        ip_address(hop.client)
    except ValueError:
        if not _HIDDEN.fullmatch(hop.client):
            raise BadForwarding(f"the proxy speaks for {hop.client[:100]!r}, which is no address") from None
    if hop.host is not None and not _HOST.fullmatch(hop.host):
        raise BadForwarding(f"the proxy was called {hop.host[:100]!r}, which is no host")
    return hop
