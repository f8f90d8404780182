"""The CoAP gate: the resources at a UDP port."""

import socket
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiocoap import Context
from msgspec import Struct
from starlette.routing import BaseRoute

from tidings.gates.coap.requests import Requests
from tidings.gates.coap.site import site_of
from tidings.gates.figures import Figure
from tidings.gates.gate import Counts
from tidings.gates.premises import Premises
from tidings.model.errors import TidingsError


class CoapSettings(Struct, frozen=True):
    """Where it listens, and for how many observers."""

    host: str
    port: int
    most: int
    cannot_listen: Callable[[OSError], TidingsError]
    """What is raised if the port cannot be had."""


class CoapGate:
    """For UDP."""

    name = "coap"

    def __init__(self, premises: Premises, settings: CoapSettings) -> None:
        self._settings = settings
        self._port = settings.port
        self.counts = Counts()
        self._requests = Requests(premises, self.counts, settings.most)
        self._most = premises.max_body

    @property
    def address(self) -> str:
        host = self._settings.host
        return f"coap://{f'[{host}]' if ':' in host else host}:{self._port}"

    @property
    def clients(self) -> int:
        return self._requests.observers

    def figures(self) -> Iterable[Figure]:
        return ()

    def routes(self) -> Sequence[BaseRoute]:
        return ()

    def paths(self) -> Mapping[str, Any]:
        return {}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        host = self._settings.host
        site = site_of(self._requests, self.counts, self._most)
        try:
            self._port = self._settings.port or _free_port(host)
            context = await Context.create_server_context(
                site, bind=(host, self._port), transports=["simplesocketserver"]
            )
        except OSError as error:
            raise self._settings.cannot_listen(error) from error
        try:
            yield
        finally:
            self._requests.close()
            await context.shutdown()


def _free_port(host: str) -> int:
    """A port that is free at this moment. Raises OSError."""
    family, kind, protocol, _, place = socket.getaddrinfo(host, 0, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.bind(place)
        port: int = probe.getsockname()[1]
        return port
