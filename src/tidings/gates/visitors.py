"""Checks that a request does not come from a hostile web page: a browser sends the requests of any page it shows.

    Host            the name under which the client addressed the broker. If evil.example resolves its own name to
                    127.0.0.1, a browser takes its page for the broker's (DNS rebinding); the Host header reveals it.
    Origin          the origin of the page. Programs send none; the broker's own page sends the broker's.
    Sec-Fetch-Site  tells whether a request without an Origin, such as that for an image, comes from another site.

IP addresses and localhost are always allowed as Host: no web site can have them as its name.
"""

from collections.abc import Iterable
from ipaddress import ip_address

from tidings.gates.errors import HostNotAllowed, OriginNotAllowed

ANY = "*"
SECURE = "/secure"
"""Paths below this one require a token."""
OF_SECURITY = (f"{SECURE}/", "/admin/", "/oauth/")
"""Paths that exist only with security on."""
SECURE_IS_OFF = "there is nothing at {}: it is served with security on (--secure), and this broker runs without it"
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_FOREIGN = frozenset({"cross-site", "same-site"})


class Visitors:
    """Accepts or refuses requests by these headers. `pages` are the ports at which this broker serves its own pages."""

    def __init__(self, *, hosts: Iterable[str], origins: Iterable[str], pages: Iterable[int] = ()) -> None:
        names = frozenset(host.lower().rstrip(".") for host in hosts)
        self._any_host = ANY in names
        self._hosts = names
        self._suffixes = (".localhost", *(name[1:] for name in names if name.startswith("*.")))
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)
        self._any_origin = ANY in self._origins
        self._pages = frozenset(pages)
        self.let_in: set[bytes | None] = {None}
        """Host headers that were accepted before, for a quick check of most requests."""

    def check(
        self, host: str | None, origin: str | None = None, site: str | None = None, mode: str | None = None
    ) -> None:
        """Raises HostNotAllowed, OriginNotAllowed. `site` and `mode` are those of Sec-Fetch."""
        self.check_host(host)
        if origin is not None:
            if not self._takes(origin.lower(), (host or "").lower()):
                raise OriginNotAllowed(
                    f"pages of {origin} may not use this broker; the setting cors lists those that may"
                )
        elif site in _FOREIGN and mode != "navigate" and not self._any_origin:
            raise OriginNotAllowed(
                "pages of other origins may not use this broker; the setting cors lists those that may"
            )

    def check_host(self, host: str | None) -> None:
        """Raises HostNotAllowed. A request without a Host header does not come from a browser, and is accepted."""
        if host and not self._any_host and not self._is_ours(_name(host)):
            raise HostNotAllowed(
                f"this broker is not known as {_name(host)}; the setting allowed_hosts lists the names that it has"
            )

    def _is_ours(self, name: str) -> bool:
        if name == "localhost" or name in self._hosts or name.endswith(self._suffixes):
            return True
        try:
            ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True

    def _takes(self, origin: str, host: str) -> bool:
        """Whether pages of an origin may use the broker under the name `host`."""
        if self._any_origin or origin in self._origins:
            return True
        scheme, _, authority = origin.partition("://")
        port = _DEFAULT_PORTS.get(scheme)
        if port is None or not host:
            return False
        if authority.removesuffix(port) == host.removesuffix(port):
            return True
        name, _, number = authority.rpartition(":")
        return number.isdigit() and int(number) in self._pages and name == _name(host)


def _name(host: str) -> str:
    """A host without its port, in lower case; an IPv6 address keeps its brackets."""
    host = host.strip().lower()
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0].rstrip(".")
