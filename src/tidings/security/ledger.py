"""Where facts are written that must survive a crash, and how they come back; whoever puts security to use has one.

A fact is a note. It is written, and once it is durable it is applied: by the same method, while the process lives and
after a restart. So what is remembered is always what the log says, and never half of it.
"""

from collections.abc import Iterable
from typing import Protocol

from tidings.protocol.entries import Note


class Ledger(Protocol):
    """Writes facts."""

    async def write(self, *notes: Note) -> None:
        """Until they are durable, all or none, and have been applied. Raises what keeps them from being so."""


class Keeper(Protocol):
    """Remembers facts of some kinds."""

    def restore(self, note: Note) -> None:
        """Apply a fact. To apply one again that has been applied changes nothing."""

    def notes(self) -> Iterable[Note]:
        """Everything that is remembered, as facts that lead to it."""
