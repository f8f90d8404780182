"""The interface of a gate that can be switched on: its name, its address, its lifetime and its figures."""

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
        """Notifications that the gate has handed to its clients or to its transport."""


class Gate(Protocol):
    """The server builds a gate before the broker starts, so that the gate can register the facts that it keeps in the
    log, and runs it while the broker runs."""

    @property
    def name(self) -> str:
        """One word, as in `docs/gates.md`; its settings and figures begin with it."""

    @property
    def address(self) -> str:
        """The address at which clients find it while it runs."""

    @property
    def counts(self) -> Counts: ...

    @property
    def clients(self) -> int:
        """How many clients are connected, or registered for notifications."""

    def figures(self) -> Iterable[Figure]:
        """Further figures of this gate at this moment."""

    def routes(self) -> Sequence[BaseRoute]:
        """Paths that the HTTP gate serves for it."""

    def paths(self) -> Mapping[str, Any]:
        """The OpenAPI descriptions of these routes, by path."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """The gate takes requests within this context. Entering it raises an error if, say, the port is taken."""


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
