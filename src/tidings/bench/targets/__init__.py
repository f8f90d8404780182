"""The targets of measurements: brokers and stores, behind one small interface.

A test opens a target, calls it, and closes it. The target measures nothing; the test takes the times. To add a kind of
target, write a class with these methods, and name it in `targets/kinds.py`.
"""

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from tidings.model.terms import Triple


@dataclass(frozen=True, slots=True)
class Arrival:
    """A notification: its time (`time.perf_counter`) and its rows. `number` is the target's sequence number, if any."""

    at: float
    number: int | None
    added: tuple[tuple[str | None, ...], ...]
    """Rows as N-Triples terms, in the order of the query's variables."""
    removed: tuple[tuple[str | None, ...], ...]


class Listening(Protocol):
    """A subscription, as an iterator over its notifications. The first one is the whole answer."""

    def __aiter__(self) -> AsyncIterator[Arrival]: ...
    async def end(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Offers:
    """The abilities of a target; tests that need others are left out."""

    updates: bool = True
    queries: bool = True
    subscriptions: bool = True
    polls: bool = False
    """Whether its subscriptions poll: they miss changes between two polls."""
    components: bool = False
    """Whether it reports the timing components of its updates."""


@dataclass(slots=True)
class Description:
    """Facts about a target for reports."""

    name: str
    kind: str
    address: str
    version: str = ""
    details: dict[str, Any] = field(default_factory=dict)


class Target(Protocol):
    """A broker or store under test."""

    @property
    def offers(self) -> Offers: ...
    @property
    def description(self) -> Description: ...
    async def open(self) -> None:
        """Start the target, if the suite manages it, and connect. Raises a TidingsError that says what is wrong."""

    async def close(self) -> None: ...
    async def clear(self) -> None:
        """Remove all data."""

    async def insert(self, triples: Iterable[Triple]) -> None:
        """Add triples to the default graph, as one request."""

    async def update(self, text: str) -> None: ...
    async def query(self, text: str) -> list[tuple[str | None, ...]]:
        """The rows of an answer, as N-Triples terms; that of ASK is one row with one boolean."""

    async def subscribe(self, text: str) -> Listening: ...
    async def components(self) -> dict[str, float]:
        """The sums of timing components since the start, in ms, and counters, by the names of the SPS paper; {} if the
        target does not report them."""

    async def memory(self) -> int | None:
        """Resident bytes; None if unknown."""
