"""Tidings with updates and queries over HTTP, on persistent connections, and subscriptions over WebSocket."""

import msgspec

from tidings.bench.targets import Description, Offers
from tidings.bench.targets.assembled import Assembled
from tidings.bench.targets.settings import Count, HttpUrl, Seconds, WsUrl
from tidings.bench.targets.status import Status
from tidings.bench.targets.wire.language import OverSockets
from tidings.bench.targets.wire.sparql import OverHttp


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    url: HttpUrl
    ws: WsUrl | None = None
    """The address for subscriptions, if it is not the one that the broker names."""
    connections: Count = 100
    """The most connections for updates and queries."""
    subscribers_per_connection: Count = 100
    timeout: Seconds = 120.0


def make(name: str, settings: Settings) -> Assembled:
    url, timeout = settings.url.rstrip("/"), settings.timeout
    each = settings.subscribers_per_connection
    return Assembled(
        Description(name, "tidings_http", url, details={"subscribers_per_connection": each}),
        Offers(components=True),
        OverHttp(f"{url}/query", f"{url}/update", timeout=timeout, connections=settings.connections),
        OverSockets(settings.ws or url, each=each, timeout=timeout),
        Status(url, timeout=timeout),
    )
