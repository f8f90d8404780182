"""The limits of a broker, and its place on disk, which are given when it is made."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from tidings.broker.approximate.matching import Words
from tidings.broker.subscriptions.outbox import Bounds
from tidings.log.journal import Durability, Journal
from tidings.sparql.evaluate.context import Limits

WORK_OF_A_SECOND = 2_000_000
"""How many rows the engine looks up in a second, roughly."""


class Policy(Struct, frozen=True):
    """The limits of a broker, in number, size and time."""

    queue: int = 10_000
    """Updates that may wait."""
    delayed: int = 100_000
    """Delayed updates that may wait."""
    slice_seconds: float = 0.01
    """How long an evaluation may block the event loop."""
    seconds: float | None = 30.0
    rows: int | None = 1_000_000
    planning: float = 0.5
    """Seconds of processor time that parsing and planning a subscription may take: this blocks the event loop."""
    workers: int = 2
    """Forks at a time."""
    memory: int | None = None
    """Bytes that a fork may use beyond what the broker has."""
    answer: int | None = None
    """Bytes that an answer may have."""
    snapshot_bytes: int = 64 << 20
    """The broker writes a snapshot after so many bytes of log."""
    keep_log: int = 0
    """Bytes of log to keep although a snapshot covers them; 0 keeps all."""
    bounds: Bounds = Bounds()
    words: Words = Words()
    behind: float = 60.0
    """Seconds that a subscription may be behind before the broker ends it."""
    patience: float = 60.0
    """Seconds that an external engine may take for a first answer."""

    @property
    def work(self) -> int:
        """How many rows a plan may look up at a time: about as many as fit into a slice of time."""
        return max(round(self.slice_seconds * WORK_OF_A_SECOND), 1)

    def limits(self, clock: Callable[[], float]) -> dict[str, Any]:
        """The limits of an evaluation, as keyword arguments of `Queries` and `UpdateQueue`; `clock` counts seconds."""
        return {"slice_seconds": self.slice_seconds, "seconds": self.seconds, "rows": self.rows, "clock": clock}

    def slice(self, clock: Callable[[], float]) -> Limits:
        """The limits of an evaluation on the event loop, while everything else waits."""
        return Limits(seconds=self.slice_seconds, rows=self.rows, clock=clock)


class Disk(Struct, frozen=True):
    """The data folder of a broker and its log."""

    folder: Path
    journal: Journal
    durability: Durability = "fsync"
    behind: int = 0
    """Bytes of log that no snapshot covers."""
