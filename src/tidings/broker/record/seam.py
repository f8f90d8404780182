"""The interface of a store of record. Requests name states: which quads shall exist, and which shall not.

A state that holds already changes nothing, so the broker can repeat a request if it does not know whether it was done.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from tidings.engine.lutt import Key
from tidings.engine.store.store import Store
from tidings.log.entry import Entry
from tidings.model.errors import TidingsError
from tidings.model.results import Result, Row
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.sparql.algebra import Query
from tidings.sparql.prepared import Parameters
from tidings.sparql.writing.requests import Where

States: TypeAlias = Mapping[Quad, bool]
"""Quads, and whether each is there."""


class Comparison(Protocol):
    """By what a store of record differs from a store: its quads less those of the store."""

    @property
    def differences(self) -> ZSet[Quad]: ...
    @property
    def rewritten(self) -> int:
        """Literals that it holds in another spelling of the same value, which is no difference."""


class StoreOfRecord(Protocol):
    """Everything raises EndpointAway or EndpointRefused."""

    async def greet(self) -> None:
        """Until it answers anything."""

    async def take(self, states: States) -> None:
        """Until it holds these states, all of them."""

    async def lacking(self, states: States) -> list[Quad]:
        """The quads of which it holds something else."""

    async def compare(self, store: Store) -> Comparison:
        """By what it differs. The store may change meanwhile: what comes of it is to be looked at again then."""


class AskedStore(StoreOfRecord, Protocol):
    """A store of record that is also asked what is not in memory."""

    async def answer(self, query: Query, parameters: Parameters) -> Result:
        """What it answers to a query."""

    async def solutions(self, wheres: Sequence[Where]) -> "list[list[Row] | TidingsError]":
        """Of each, the terms of its variables that are in its pattern, in their order; or why there are none."""

    async def select(self, keys: Collection[Key], most: int) -> set[Quad]:
        """All quads that these patterns select. Raises ContextTooLarge."""

    async def in_pages(self) -> bool:
        """Whether it tells many quads page by page, so that they must not change meanwhile."""


Side: TypeAlias = Literal["endpoint", "broker"]
"""Which of the two is right where they differ."""


class Reconciled(Struct, frozen=True):
    """What differed, and became of it."""

    added: int
    """Quads that the store of record had and the broker lacked."""
    removed: int
    rewritten: int
    """Literals that the store of record spells otherwise."""
    commit: int | None
    """The commit that has them; None if there is none."""


class RecordStatus(Struct, frozen=True):
    """How the store of record is, as far as the broker knows."""

    state: str
    """`ok`, or the code of what is wrong."""
    reason: str
    age: float
    """Seconds since it was last known to agree with the memory of the broker; 0 while it does."""
    waiting: int
    requests: int
    commits: int
    outages: int
    reconciled: Reconciled | None
    reconciled_at: int
    """When it was last compared, in microseconds since 1970; 0 is never."""
    reconciliations: int


class Record(Protocol):
    """A store of record as the gates see it."""

    def status(self) -> RecordStatus: ...
    async def reconcile(self, right: Side, *, dry: bool) -> Reconciled: ...


def before(delta: ZSet[Quad]) -> dict[Quad, bool]:
    """The states that an exact delta has changed."""
    return {quad: weight < 0 for quad, weight in delta.items()}


def after(entries: list[Entry]) -> dict[Quad, bool]:
    """The states after some commits."""
    return {quad: weight > 0 for entry in entries for quad, weight in entry.delta.items()}
