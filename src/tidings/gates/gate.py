"""What the process wants of a gate that can be switched on: a name, a life, and what it counts."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from starlette.routing import BaseRoute

from tidings.gates.figures import Figure


class Counts:
    """What every gate counts since the start, for `/metrics` and `/status`."""

    __slots__ = ("errors", "notifications", "requests")

    def __init__(self) -> None:
        self.requests = 0
        self.errors = 0
        """Requests that were refused."""
        self.notifications = 0
        """Handed to whoever takes them to a client."""


class Gate(Protocol):
    """Built before the broker runs, so that it may keep facts; runs while the broker does."""

    @property
    def name(self) -> str:
        """One word, as in `docs/gates.md`; its settings and figures begin with it."""

    @property
    def address(self) -> str:
        """Where its clients find it, as an address; while it runs."""

    @property
    def counts(self) -> Counts: ...

    @property
    def clients(self) -> int:
        """How many are connected, or would be told of something."""

    def figures(self) -> Iterable[Figure]:
        """What it has to tell beside that, at this moment."""

    def routes(self) -> Sequence[BaseRoute]:
        """What the HTTP gate serves for it."""

    def paths(self) -> Mapping[str, Any]:
        """The same for the OpenAPI description, by path."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """Takes requests meanwhile. Raises what keeps it from that, as that it cannot listen."""


def gate_status(gate: Gate) -> dict[str, Any]:
    """What `/status` says of a gate."""
    counts = gate.counts
    return {
        "address": gate.address,
        "clients": gate.clients,
        "requests": counts.requests,
        "errors": counts.errors,
        "notifications": counts.notifications,
        **{figure.name.removeprefix(f"{gate.name}_"): figure.value for figure in gate.figures()},
    }
