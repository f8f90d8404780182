"""Who somebody is, if the address says so: `wss://name:password@host/subscribe`.

A broker asks nobody for a password; a proxy in front of it may (RFC 7617, Basic). Messages name the address without it.
"""

from base64 import b64encode
from urllib.parse import unquote, urlsplit, urlunsplit


def without_credentials(url: str) -> tuple[str, dict[str, str]]:
    """An address without name and password, and the headers that say them instead."""
    parts = urlsplit(url)
    credentials, at, host = parts.netloc.rpartition("@")
    if not at:
        return url, {}
    name, _, password = credentials.partition(":")
    token = b64encode(f"{unquote(name)}:{unquote(password)}".encode()).decode("ascii")
    return urlunsplit(parts._replace(netloc=host)), {"Authorization": f"Basic {token}"}
