"""Durable facts that are no quads, such as subscriptions or grants: one mechanism for all kinds of them.

    write      note -> log -> (durable) -> keeper.restore -> the caller goes on
    restart    note of the log, or of a snapshot -> keeper.restore
    snapshot   keeper.notes

A keeper gets each fact through the same method in normal operation and after a restart, and only once it is durable. So
it never knows more than the log. If a broker is started without a part of it, such as a gate, the notes of this part
have no keeper; they are kept, also in snapshots, until a start with that part.
"""

import asyncio
from collections.abc import Iterable
from typing import Protocol

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.pending import PendingFacts
from tidings.log.entry import PUBLISHER, Note


class Keeper(Protocol):
    """Keeps the facts of some kinds."""

    def restore(self, note: Note) -> None:
        """Apply a fact. Applying it a second time changes nothing."""

    def notes(self) -> Iterable[Note]:
        """Notes that lead to everything that is kept, for a snapshot."""


class Facts:
    """Passes facts to their keepers. A snapshot has the notes in the order of the keepers."""

    def __init__(self, commit_log: CommitLog) -> None:
        self._commit_log = commit_log
        self._keepers: list[Keeper] = []
        self._keeper_of: dict[str, Keeper] = {}
        self._nobodys: list[Note] = []
        """Notes of kinds without a keeper, in the order in which they were written."""

    def keep(self, kinds: Iterable[str], keeper: Keeper) -> None:
        """Register the keeper of these kinds, and pass it the notes of these kinds that had no keeper."""
        for kind in kinds:
            assert kind not in self._keeper_of, kind
            self._keeper_of[kind] = keeper
        self._keepers.append(keeper)
        mine = [note for note in self._nobodys if self._keeper_of.get(note.kind) is keeper]
        self._nobodys = [note for note in self._nobodys if note.kind not in self._keeper_of]
        for note in mine:
            keeper.restore(note)

    async def write(self, *notes: Note) -> None:
        """Write facts, all or none, and wait until they are durable and applied. Raises the error if that fails."""
        pending = PendingFacts(notes, asyncio.get_running_loop().create_future())
        self._commit_log.notes(notes, pending)
        await pending.durable

    def restore(self, note: Note) -> None:
        """Apply a fact that is durable."""
        if note.kind == PUBLISHER:
            return  # it names the publisher of a commit, and no keeper needs that
        keeper = self._keeper_of.get(note.kind)
        if keeper is None:
            self._nobodys.append(note)
        else:
            keeper.restore(note)

    def is_nobodys(self, kind: str) -> bool:
        """Whether there are notes of this kind without a keeper."""
        return any(note.kind == kind for note in self._nobodys)

    def notes(self) -> Iterable[Note]:
        """All facts, for a snapshot."""
        for keeper in self._keepers:
            yield from keeper.notes()
        yield from self._nobodys
