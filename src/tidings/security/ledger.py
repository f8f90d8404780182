"""The interface of the ledger, which keeps the facts of security that must survive a crash. The broker provides it.

A fact is a note. It is written, and applied once it is durable, by the same method in normal operation and after a
restart. So the state of security is always that of the log.
"""

from collections.abc import Iterable
from typing import Protocol

from tidings.protocol.entries import Note


class Ledger(Protocol):
    """Writes facts."""

    async def write(self, *notes: Note) -> None:
        """Write facts, all or none, and wait until they are durable and applied. Raises the error if that fails."""


class Keeper(Protocol):
    """Remembers facts of some kinds."""

    def restore(self, note: Note) -> None:
        """Apply a fact. To apply one again that has been applied changes nothing."""

    def notes(self) -> Iterable[Note]:
        """Everything that is remembered, as facts that lead to it."""
