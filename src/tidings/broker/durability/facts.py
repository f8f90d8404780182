"""Facts that are no quads, durable: one way for all of them, whoever keeps them.

    write      note -> log -> (durable) -> keeper.restore -> whoever waits goes on
    restart    note of the log, or of a snapshot -> keeper.restore
    snapshot   keeper.notes

A keeper learns of a fact by the same method while the process lives and after a restart, and only once it is durable:
so it never knows more than the log, nor half of anything. Notes of kinds that nobody keeps stay as they are, through
snapshots as well, until somebody does: a broker that is started without a part of itself forgets nothing of it.
"""

import asyncio
from collections.abc import Iterable
from typing import Protocol

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.pending import PendingFacts
from tidings.log.entry import PUBLISHER, Note


class Keeper(Protocol):
    """Remembers facts of some kinds."""

    def restore(self, note: Note) -> None:
        """Apply a fact. To apply one again that has been applied changes nothing."""

    def notes(self) -> Iterable[Note]:
        """Everything that is remembered, as facts that lead to it."""


class Facts:
    """All keepers, in the order in which their notes come back."""

    def __init__(self, commit_log: CommitLog) -> None:
        self._commit_log = commit_log
        self._keepers: list[Keeper] = []
        self._keeper_of: dict[str, Keeper] = {}
        self._nobodys: list[Note] = []
        """Notes of kinds that nobody keeps, in the order in which they were written."""

    def keep(self, kinds: Iterable[str], keeper: Keeper) -> None:
        """From here on, facts of these kinds are this keeper's; it is told at once of those that nobody kept."""
        for kind in kinds:
            assert kind not in self._keeper_of, kind
            self._keeper_of[kind] = keeper
        self._keepers.append(keeper)
        mine = [note for note in self._nobodys if self._keeper_of.get(note.kind) is keeper]
        self._nobodys = [note for note in self._nobodys if note.kind not in self._keeper_of]
        for note in mine:
            keeper.restore(note)

    async def write(self, *notes: Note) -> None:
        """Until facts are durable, all or none, and have been applied. Raises what keeps them from being so."""
        pending = PendingFacts(notes, asyncio.get_running_loop().create_future())
        self._commit_log.notes(notes, pending)
        await pending.durable

    def restore(self, note: Note) -> None:
        """Apply a fact that is durable."""
        if note.kind == PUBLISHER:
            return  # it says whose commit it was, and is no part of what is true now
        keeper = self._keeper_of.get(note.kind)
        if keeper is None:
            self._nobodys.append(note)
        else:
            keeper.restore(note)

    def is_nobodys(self, kind: str) -> bool:
        """Whether there are notes of a kind that nobody keeps."""
        return any(note.kind == kind for note in self._nobodys)

    def notes(self) -> Iterable[Note]:
        """For a snapshot: everything that is remembered."""
        for keeper in self._keepers:
            yield from keeper.notes()
        yield from self._nobodys
