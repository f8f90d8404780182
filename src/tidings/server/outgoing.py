"""Requests that the broker makes on behalf of clients. They go only to hosts that the settings allow:

    address -> is the host listed? -> resolve it once -> are all its addresses allowed? -> connect to one of these

and again for each redirect. A name that resolves to another address a moment later (DNS rebinding) does not help an
attacker. Addresses of this machine and of private networks are not allowed unless the settings list them.
"""

import io
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Mapping
from http.client import HTTPException, HTTPResponse
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TypeAlias, cast
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from msgspec import Struct

from tidings import __version__
from tidings.model.errors import NotAllowed, TidingsError

Address: TypeAlias = IPv4Address | IPv6Address
Resolve: TypeAlias = Callable[[str, int], Iterable[str]]
"""The addresses of a host, for a port. Raises OSError."""

_PORTS = {"http": 80, "https": 443}
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 5
_CHUNK = 1 << 16
_NAT64 = ip_network("64:ff9b::/96")
_SAFE = "/%:@!$&'()*+,;=~?"


class OutgoingNotAllowed(NotAllowed):
    """A client named an address that the settings do not allow."""

    code = "outgoing_not_allowed"


class FetchFailed(TidingsError):
    """The other server does not answer, or not in a usable way."""

    status = 502
    code = "fetch_failed"


class Reach(Struct, frozen=True):
    """Where requests may go, and their limits. A host is a name, `*.name` for all its subdomains, or `*`; with a port,
    or else for the ports of http and https. `networks` are allowed although they are not public."""

    hosts: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    size: int = 64 << 20
    seconds: float = 10.0
    setting: str = "outgoing"
    """The prefix of these settings, for messages."""


class Document(Struct, frozen=True):
    """A fetched document, and its address after all redirects."""

    url: str
    media_type: str
    body: bytes
    links: tuple[str, ...] = ()
    """The values of its Link headers."""


def system_resolve(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(place[0]) for *_, place in found]


class Outgoing:
    """Fetches documents and posts requests. Its methods block, so they are for forks and threads."""

    def __init__(
        self,
        reach: Reach,
        *,
        resolve: Resolve = system_resolve,
        tls: ssl.SSLContext | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._reach = reach
        self._hosts = frozenset(host.lower().rstrip(".") for host in reach.hosts)
        self._networks = [ip_network(network) for network in reach.networks]
        self._resolve = resolve
        self._tls = tls
        self._clock = clock

    def fetch(self, url: str, accept: str = "*/*") -> Document:
        """The document at an address. Raises OutgoingNotAllowed, FetchFailed."""
        deadline = self._clock() + self._reach.seconds
        for _ in range(1 + _MOST_REDIRECTS):
            place = self.check(url)
            try:
                found = self._ask(place, accept, deadline)
            except TimeoutError as error:
                raise FetchFailed(f"{place.host} did not answer within {self._reach.seconds:g} s") from error
            except (OSError, HTTPException, ValueError) as error:
                raise FetchFailed(f"{place.host} could not be asked: {error}") from error
            if isinstance(found, Document):
                return found
            if place.scheme == "https" and urlsplit(found).scheme == "http":
                raise OutgoingNotAllowed(f"{place.host} redirects to an address without TLS")
            url = found
        raise FetchFailed(f"{place.host} redirects more than {_MOST_REDIRECTS} times")

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> int:
        """Send a request, without following redirects, and return the status of the answer.

        Raises OutgoingNotAllowed, FetchFailed."""
        deadline = self._clock() + self._reach.seconds
        place = self.check(url)
        try:
            with self._connect(place, deadline) as connection:
                connection.settimeout(max(0.001, deadline - self._clock()))
                connection.sendall(_post(place, headers, len(body)) + body)
                answer = HTTPResponse(cast(socket.socket, _Timed(connection, deadline, self._clock)), method="POST")
                with answer:
                    answer.begin()
                    return answer.status
        except TimeoutError as error:
            raise FetchFailed(f"{place.host} did not answer within {self._reach.seconds:g} s") from error
        except (OSError, HTTPException, ValueError) as error:
            raise FetchFailed(f"{place.host} could not be asked: {error}") from error

    # -- where it may go ------------------------------------------------------------------------------------------

    def check(self, url: str) -> "Place":
        """Resolve the host of an address, and check that requests may go there. Raises OutgoingNotAllowed,
        FetchFailed."""
        place = _place(url)
        if not self._is_listed(place.host, place.port, place.scheme):
            raise OutgoingNotAllowed(
                f"the broker may not ask {place.host}:{place.port}; {self._reach.setting}_hosts lists whom it may"
            )
        try:
            found = [ip_address(address.partition("%")[0]) for address in self._resolve(place.host, place.port)]
        except (OSError, UnicodeError, ValueError) as error:
            raise FetchFailed(f"{place.host} has no address") from error
        if not found:
            raise FetchFailed(f"{place.host} has no address")
        if not all(map(self._is_reachable, found)):
            said = f"{place.host} has an address that is not public, and not in {self._reach.setting}_networks"
            raise OutgoingNotAllowed(said)
        return Place(place.scheme, place.host, place.port, place.target, tuple(map(str, found)))

    def _is_listed(self, host: str, port: int, scheme: str) -> bool:
        names = [host, "*", *("*" + host[at:] for at, sign in enumerate(host) if sign == "." and at)]
        if any(f"{name}:{port}" in self._hosts for name in names):
            return True
        return port == _PORTS[scheme] and any(name in self._hosts for name in names)

    def _is_reachable(self, address: Address) -> bool:
        inner = _embedded(address)
        if any(
            each.version == network.version and each in network
            for each in (address, inner)
            for network in self._networks
        ):
            return True
        return is_public(address)

    # -- one request ----------------------------------------------------------------------------------------------

    def _ask(self, place: "Place", accept: str, deadline: float) -> Document | str:
        """The document, or the address of a redirect. Raises OSError, HTTPException, FetchFailed."""
        with self._connect(place, deadline) as connection:
            connection.sendall(_request(place, accept))
            response = HTTPResponse(cast(socket.socket, _Timed(connection, deadline, self._clock)), method="GET")
            with response:
                response.begin()
                if response.status in _REDIRECTS and (location := response.getheader("location")):
                    return urljoin(place.url, location)
                if response.status != 200:
                    raise FetchFailed(f"{place.host} answers with the status {response.status}")
                if response.getheader("content-encoding", "identity").lower() != "identity":
                    raise FetchFailed(f"{place.host} answers with a Content-Encoding that nobody asked for")
                body = self._body(response, place)
                media_type = response.getheader("content-type", "").partition(";")[0].strip()
                return Document(place.url, media_type, body, tuple(response.msg.get_all("link", ())))

    def _connect(self, place: "Place", deadline: float) -> socket.socket:
        """A connection to one of the checked addresses; with TLS, the certificate has to be valid for the host."""
        left = max(0.001, deadline - self._clock())
        failure: OSError = OSError("there is no address")
        for address in place.addresses:
            try:
                connection = socket.create_connection((address, place.port), timeout=left)
            except OSError as error:
                failure = error
                continue
            if place.scheme == "http":
                return connection
            return (self._tls or ssl.create_default_context()).wrap_socket(connection, server_hostname=place.host)
        raise failure

    def _body(self, response: HTTPResponse, place: "Place") -> bytes:
        most = self._reach.size
        parts: list[bytes] = []
        size = response.length or 0
        if size <= most:
            size = 0
            while part := response.read(_CHUNK):
                parts.append(part)
                size += len(part)
                if size > most:
                    break
        if size > most:
            raise FetchFailed(f"what {place.host} has is larger than {most:,} bytes, the limit of outgoing_size")
        return b"".join(parts)


class Place(Struct, frozen=True):
    """The target of a request: a host with its resolved addresses, and a path."""

    scheme: str
    host: str
    port: int
    target: str
    addresses: tuple[str, ...] = ()

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def is_public(address: Address) -> bool:
    """Whether an address is public: not of this machine, a private network or multicast, even if embedded in IPv6."""
    inner = _embedded(address)
    if inner is not address:
        return is_public(inner)
    if isinstance(address, IPv6Address) and (address.teredo is not None or address.is_site_local):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def _embedded(address: Address) -> Address:
    """The IPv4 address that an IPv6 address embeds; if there is none, the address itself."""
    if not isinstance(address, IPv6Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _place(url: str) -> Place:
    """Raises OutgoingNotAllowed."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise OutgoingNotAllowed(f"<{url}> is no address: {error}") from error
    if parts.scheme not in _PORTS:
        raise OutgoingNotAllowed(f"the broker asks http and https addresses only, not <{url}>")
    if parts.username is not None or parts.password is not None:
        raise OutgoingNotAllowed("an address with a user or a password in it is not asked")
    host = _host(parts)
    target = quote(parts.path or "/", safe=_SAFE) + (f"?{quote(parts.query, safe=_SAFE)}" if parts.query else "")
    return Place(parts.scheme, host, _PORTS[parts.scheme] if port is None else port, target)


def _host(parts: SplitResult) -> str:
    name = (parts.hostname or "").rstrip(".").lower()
    try:
        name = name if name.isascii() else name.encode("idna").decode("ascii")
    except UnicodeError:
        name = ""
    if not name or not all(sign.isalnum() or sign in "-._:" for sign in name):
        raise OutgoingNotAllowed("an address needs the name of a host")
    return name


def _request(place: Place, accept: str) -> bytes:
    lines = (
        f"GET {place.target} HTTP/1.1",
        f"Host: {place.authority}",
        f"User-Agent: tidings/{__version__}",
        f"Accept: {accept}",
        "Accept-Encoding: identity",
        "Connection: close",
    )
    return "\r\n".join((*lines, "", "")).encode("ascii")


def _post(place: Place, headers: Mapping[str, str], size: int) -> bytes:
    lines = (
        f"POST {place.target} HTTP/1.1",
        f"Host: {place.authority}",
        f"User-Agent: tidings/{__version__}",
        *(f"{name}: {value}" for name, value in headers.items()),
        f"Content-Length: {size}",
        "Connection: close",
    )
    return "\r\n".join((*lines, "", "")).encode("ascii")


class _Timed(io.RawIOBase):
    """A socket with one deadline for all reads together, rather than a timeout for each."""

    def __init__(self, connection: socket.socket, deadline: float, clock: Callable[[], float]) -> None:
        self._connection = connection
        self._deadline = deadline
        self._clock = clock

    def makefile(self, _: str) -> io.BufferedReader:
        """The file that HTTPResponse reads."""
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        left = self._deadline - self._clock()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)
