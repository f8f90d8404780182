"""What a broker is told once, when it is made: what it takes on, and where it keeps what must not be lost."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from tidings.broker.approximate.matching import Words
from tidings.broker.subscriptions.outbox import Bounds
from tidings.log.journal import Durability, Journal
from tidings.sparql.evaluate.context import Limits

WORK_OF_A_SECOND = 2_000_000
"""Rows that are looked up in a second."""


class Policy(Struct, frozen=True):
    """What the broker takes on, and for how long."""

    queue: int = 10_000
    """Updates that may wait."""
    delayed: int = 100_000
    """Delayed updates that may wait."""
    slice_seconds: float = 0.01
    """How long an evaluation may hold the loop."""
    seconds: float | None = 30.0
    rows: int | None = 1_000_000
    planning: float = 0.5
    """Seconds of the processor that a subscription may take to be read and planned, which holds the loop."""
    workers: int = 2
    """Forks at a time."""
    memory: int | None = None
    """Bytes that a fork may need beyond what the broker has."""
    answer: int | None = None
    """Bytes that an answer may have."""
    snapshot_bytes: int = 64 << 20
    """Log written since the last snapshot that calls for another one."""
    keep_log: int = 0
    """Bytes of log that are kept although a snapshot covers them; 0 keeps all."""
    bounds: Bounds = Bounds()
    words: Words = Words()
    behind: float = 60.0
    """Seconds that a subscription may be behind, before it is let go."""
    patience: float = 60.0
    """Seconds that a first answer of an external engine may take."""

    @property
    def work(self) -> int:
        """What a plan may do at a time, in rows looked up: about as much as fits into a slice of time."""
        return max(round(self.slice_seconds * WORK_OF_A_SECOND), 1)

    def limits(self, clock: Callable[[], float]) -> dict[str, Any]:
        """Those of an evaluation, by the names that whoever evaluates has for them; `clock` counts seconds."""
        return {"slice_seconds": self.slice_seconds, "seconds": self.seconds, "rows": self.rows, "clock": clock}

    def slice(self, clock: Callable[[], float]) -> Limits:
        """What may be evaluated at once, while everything else waits."""
        return Limits(seconds=self.slice_seconds, rows=self.rows, clock=clock)


class Disk(Struct, frozen=True):
    """Where a broker keeps what must not be lost."""

    folder: Path
    journal: Journal
    durability: Durability = "fsync"
    behind: int = 0
    """Bytes of log that no snapshot covers."""
