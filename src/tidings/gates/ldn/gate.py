"""The inbox as a gate: its paths on the HTTP gate, and its counters."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from starlette.routing import BaseRoute

from tidings.gates.figures import Figure
from tidings.gates.gate import Counts
from tidings.gates.http.monitoring.openapi_parts import TEXT, content, get, in_path, operation
from tidings.gates.ldn.inbox import PATH
from tidings.gates.ldn.notifications import FORMATS, Reading
from tidings.gates.ldn.receiver import CONSTRAINTS, Receiver
from tidings.gates.premises import Premises


class LdnGate:
    name = "ldn"
    address = PATH

    def __init__(self, premises: Premises, reading: Reading) -> None:
        self.counts = Counts()
        self._receiver = Receiver(premises, reading, self.counts)

    @property
    def clients(self) -> int:
        return 0

    def figures(self) -> Iterable[Figure]:
        yield Figure("ldn_received", "Notifications that came into the inbox", self._receiver.received, grows=True)

    def routes(self) -> Sequence[BaseRoute]:
        return self._receiver.routes()

    def paths(self) -> Mapping[str, Any]:
        types: dict[str, Any] = {format_.media.types[0]: TEXT for format_ in FORMATS}
        body = {"requestBody": {"required": True, "content": {name: {"schema": TEXT} for name in types}}}
        kept = {"201": {"description": "It is kept; Location is where"}}
        query = content("An ASK query", {"application/sparql-query": TEXT})
        return {
            PATH: {
                "get": get("inbox", "List notifications", content("A container", types)),
                "post": operation("notify", "Send a notification", kept) | body,
            },
            CONSTRAINTS: {"get": get("constraints", "What a notification has to satisfy", query)},
            PATH + "{number}": {
                "parameters": [in_path("number", "Its id")],
                "get": get("notification", "One notification", content("Its triples", types)),
                "delete": operation("discard", "Remove it", {"204": {"description": "It is gone"}}),
            },
        }

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        yield
