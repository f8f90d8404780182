"""The interface of a store of record. Requests name states: which quads are to exist, and which are not.

A request for a state that the store already has changes nothing. So the broker can repeat a request if it does not
know whether the store has executed it.
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
"""Quads, and whether each exists."""


class Comparison(Protocol):
    """How a store of record differs from the store in memory: its quads minus those in memory."""

    @property
    def differences(self) -> ZSet[Quad]: ...
    @property
    def rewritten(self) -> int:
        """How many literals the two spell differently, with the same value. These are no differences."""


class StoreOfRecord(Protocol):
    """All methods raise EndpointAway or EndpointRefused."""

    async def greet(self) -> None:
        """Check that the store answers requests."""

    async def take(self, states: States) -> None:
        """Bring about all of these states."""

    async def lacking(self, states: States) -> list[Quad]:
        """The quads whose state in the store differs from these states."""

    async def compare(self, store: Store) -> Comparison:
        """Compare it with the store in memory. If that changes meanwhile, the caller has to check the differences."""


class AskedStore(StoreOfRecord, Protocol):
    """A store of record that also answers queries, for a broker without the whole graph in memory."""

    async def answer(self, query: Query, parameters: Parameters) -> Result:
        """The answer to a query."""

    async def solutions(self, wheres: Sequence[Where]) -> "list[list[Row] | TidingsError]":
        """For each WHERE, the rows of its answer (columns as in `Where.width`), or the error."""

    async def select(self, keys: Collection[Key], most: int) -> set[Quad]:
        """All quads that these patterns select. Raises ContextTooLarge if there are more than `most`."""

    async def in_pages(self) -> bool:
        """Whether it may return an answer page by page, so that quads must not change between two pages."""


Side: TypeAlias = Literal["endpoint", "broker"]
"""The side whose state is kept where the two differ."""


class Reconciled(Struct, frozen=True):
    """The outcome of a reconciliation."""

    added: int
    """Quads that the store of record had and the broker lacked."""
    removed: int
    rewritten: int
    """Literals that the store of record spells differently."""
    commit: int | None
    """The commit with these changes; None if there is none."""


class RecordStatus(Struct, frozen=True):
    """The status of the store of record, as far as the broker knows."""

    state: str
    """`ok`, or the code of the error."""
    reason: str
    age: float
    """Seconds since it last agreed with the memory of the broker; 0 while it agrees."""
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
    """The states before an exact delta, of the quads that it changes."""
    return {quad: weight < 0 for quad, weight in delta.items()}


def after(entries: list[Entry]) -> dict[Quad, bool]:
    """The states after some commits, of the quads that they change."""
    return {quad: weight > 0 for entry in entries for quad, weight in entry.delta.items()}
