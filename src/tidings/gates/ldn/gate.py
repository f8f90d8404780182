"""The inbox, as the process sees it: paths of the HTTP gate, and what they count."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from starlette.routing import BaseRoute

from tidings.gates.figures import Figure
from tidings.gates.gate import Counts
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
        types: dict[str, Any] = {format_.media.types[0]: {"schema": {}} for format_ in FORMATS}
        refused = {"$ref": "#/components/responses/Error"}
        number = {"name": "number", "in": "path", "required": True, "schema": {"type": "string"}}
        return {
            PATH: {
                "get": {
                    "summary": "List notifications",
                    "responses": {"200": {"description": "A container", "content": types}, "default": refused},
                },
                "post": {
                    "summary": "Send a notification",
                    "requestBody": {"required": True, "content": types},
                    "responses": {"201": {"description": "Kept; Location has its address"}, "default": refused},
                },
            },
            CONSTRAINTS: {
                "get": {
                    "summary": "What a notification has to satisfy",
                    "responses": {
                        "200": {
                            "description": "An ASK query",
                            "content": {"application/sparql-query": {"schema": {"type": "string"}}},
                        },
                        "default": refused,
                    },
                }
            },
            PATH + "{number}": {
                "parameters": [number],
                "get": {
                    "summary": "Read a notification",
                    "responses": {"200": {"description": "Its triples", "content": types}, "default": refused},
                },
                "delete": {
                    "summary": "Remove a notification",
                    "responses": {"204": {"description": "It is gone"}, "default": refused},
                },
            },
        }

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        yield
