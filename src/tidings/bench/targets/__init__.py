"""What can be measured: brokers and stores, each behind the same small seam.

A target is opened, asked to do things, and closed. It measures nothing itself: whoever calls takes the time. Add one by
writing a class with these methods and naming it in `targets/kinds.py`.
"""

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from tidings.model.terms import Triple


@dataclass(frozen=True, slots=True)
class Arrival:
    """A notification as it came: when (`time.perf_counter`), and what. `number` is the target's own, if it has one."""

    at: float
    number: int | None
    added: tuple[tuple[str | None, ...], ...]
    """Rows as N-Triples terms, in the order of the query's variables."""
    removed: tuple[tuple[str | None, ...], ...]


class Listening(Protocol):
    """A subscription that was made. The first notification, with the whole answer, is among those it tells."""

    def __aiter__(self) -> AsyncIterator[Arrival]: ...
    async def end(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Offers:
    """What a target can do, so that tests can leave out what it cannot."""

    updates: bool = True
    queries: bool = True
    subscriptions: bool = True
    polls: bool = False
    """Whether its subscriptions are queries asked again and again: they cannot see what happens in between."""
    components: bool = False
    """Whether it tells the timing components of its updates."""


@dataclass(slots=True)
class Description:
    """What a report says of a target."""

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
        """Start it, if it is ours to start, and connect. Raises a TidingsError that says what is wrong."""

    async def close(self) -> None: ...
    async def clear(self) -> None:
        """Have it hold nothing."""

    async def insert(self, triples: Iterable[Triple]) -> None:
        """Add triples to the default graph, as one request."""

    async def update(self, text: str) -> None: ...
    async def query(self, text: str) -> list[tuple[str | None, ...]]:
        """Rows as N-Triples terms; ASK is one row of one boolean."""

    async def subscribe(self, text: str) -> Listening: ...
    async def components(self) -> dict[str, float]:
        """Sums of timing components since it started, in ms, and counters, by the names of the SPS paper; {} if it
        does not tell."""

    async def memory(self) -> int | None:
        """Resident bytes, if that can be known."""
