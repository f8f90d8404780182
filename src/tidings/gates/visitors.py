"""Whose requests a gate takes: a browser carries those of any page to it, also of pages that mean no good.

    Host            the name that the client has for the broker. A page of evil.example that has its name resolved to
                    127.0.0.1 is of the broker's own origin to a browser (DNS rebinding); the name gives it away.
    Origin          the page that asks. Programs have none; the broker's own page has the broker's.
    Sec-Fetch-Site  where a request without an Origin comes from, such as that of an image.

Addresses and localhost are names of everybody's own machine, and no page can have them for its own.
"""

from collections.abc import Iterable
from ipaddress import ip_address

from tidings.gates.errors import HostNotAllowed, OriginNotAllowed

ANY = "*"
SECURE = "/secure"
"""What is below is for those who say who they are."""
OF_SECURITY = (f"{SECURE}/", "/admin/", "/oauth/")
"""What is there only if everybody is asked who they are."""
SECURE_IS_OFF = "there is nothing at {}: it is served with security on (--secure), and this broker runs without it"
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_FOREIGN = frozenset({"cross-site", "same-site"})


class Visitors:
    """Lets requests in by the names in their headers. `pages` are ports at which this broker has pages of its own."""

    def __init__(self, *, hosts: Iterable[str], origins: Iterable[str], pages: Iterable[int] = ()) -> None:
        names = frozenset(host.lower().rstrip(".") for host in hosts)
        self._any_host = ANY in names
        self._hosts = names
        self._suffixes = (".localhost", *(name[1:] for name in names if name.startswith("*.")))
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)
        self._any_origin = ANY in self._origins
        self._pages = frozenset(pages)
        self.let_in: set[bytes | None] = {None}
        """Host headers that were let in before: most requests need no more than a look at these."""

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
        """Raises HostNotAllowed. What is no browser may leave the name out."""
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
        """Whether pages of an origin may ask what the client calls `host`."""
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
