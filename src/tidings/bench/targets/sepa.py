"""Any SEPA broker: updates and queries by the SPARQL Protocol, subscriptions by the Subscribe language."""

from typing import Annotated

import msgspec
from msgspec import Meta

from tidings.bench.targets import Description, Offers
from tidings.bench.targets.assembled import Assembled, Silent
from tidings.bench.targets.settings import Count, HttpUrl, Seconds, WsUrl
from tidings.bench.targets.wire.language import OverSockets
from tidings.bench.targets.wire.sparql import OverHttp

# The reference broker crashes on CLEAR ALL.
CLEARING = ["DELETE WHERE { ?s ?p ?o }", "DELETE WHERE { GRAPH ?g { ?s ?p ?o } }"]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    url: HttpUrl = "http://localhost:8000"
    ws: WsUrl = "ws://localhost:9000/subscribe"
    query_path: str = "/query"
    update_path: str = "/update"
    clear: Annotated[list[str], Meta(min_length=1)] = msgspec.field(default_factory=CLEARING.copy)
    """The updates that remove all data."""
    form: bool = False
    """Whether queries and updates are sent as forms; else their bare text is the body."""
    connections: Count = 100
    subscribers_per_connection: Count = 100
    timeout: Seconds = 120.0


def make(name: str, settings: Settings) -> Assembled:
    url, timeout, each = settings.url.rstrip("/"), settings.timeout, settings.subscribers_per_connection
    details = {"ws": settings.ws, "subscribers_per_connection": each}
    speaking = OverHttp(
        url + settings.query_path,
        url + settings.update_path,
        timeout=timeout,
        connections=settings.connections,
        form=settings.form,
    )
    return Assembled(
        Description(name, "sepa", url, details=details),
        Offers(),
        speaking,
        OverSockets(settings.ws, each=each, timeout=timeout),
        Silent(lambda: speaking.server),
        tuple(settings.clear),
    )
