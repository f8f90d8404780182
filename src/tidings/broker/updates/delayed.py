"""Delayed updates: the broker writes them to the log when it accepts them, and carries them out when they are due.

The commit of a delayed update and the note that it is done are one entry of the log, so it is carried out exactly once
even if the broker crashes. The broker carries out updates that fell due while it was down when it starts again.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from functools import partial
from uuid import uuid4

import msgspec

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.errors import NotYours, TooManyDelayed
from tidings.broker.ownership import Ownership, is_anothers
from tidings.broker.pending import PendingCancellation, PendingDelayed
from tidings.broker.updates.accepted import NOT_DONE, DelayedUpdate, Outcome
from tidings.broker.updates.queue import UpdateQueue
from tidings.broker.updates.schedule import Delayed, DelayedId, Schedule
from tidings.engine.engine import Engine
from tidings.log.entry import Note
from tidings.model.access import ALL_RIGHTS, Rights
from tidings.model.errors import TidingsError
from tidings.sparql.algebra import Dataset

_RETRY_MICROS = 1_000_000
_LONGEST_PAUSE = 1.0
"""The broker looks at the clock at least this often, in seconds, because the clock may jump."""

log = logging.getLogger("tidings")


class DelayedUpdates:
    """Accepts, keeps and carries out delayed updates. It calls `set_timer` when the next one may be due earlier."""

    KINDS = ("delay", "cancel", "done")

    def __init__(
        self,
        engine: Engine,
        commit_log: CommitLog,
        updates: UpdateQueue,
        ownership: Ownership,
        most: int,
        set_timer: Callable[[], None],
    ) -> None:
        self._ownership = ownership
        self._engine = engine
        self._commit_log = commit_log
        self._updates = updates
        self._most = most
        self._set_timer = set_timer
        self.schedule = Schedule()
        self.done = 0
        self.failed = 0
        self.settled: Callable[[Delayed, Outcome], None] = lambda _, __: None
        """Called with each delayed update and its outcome, for the audit log."""

    async def accept(
        self,
        text: str,
        dataset: Dataset | None,
        at: int,
        publisher: str | None = None,
        owner: str | None = None,
        rights: Rights = ALL_RIGHTS,
    ) -> Delayed:
        """Accept an update that is due at `at`, in microseconds since 1970. Raises what is wrong with its text."""
        if len(self.schedule) >= self._most:
            raise TooManyDelayed(f"{self._most:,} delayed updates are waiting, the limit of max_delayed")
        self._commit_log.check()
        await self._updates.check_text(text, dataset)
        delayed = Delayed(DelayedId(uuid4().hex), at, text, dataset, publisher, owner, rights)
        pending = PendingDelayed(delayed, asyncio.get_running_loop().create_future())
        self._commit_log.note(_note(delayed), pending)
        return await pending.accepted

    def add(self, delayed: Delayed) -> None:
        """Put a delayed update that is durable on the schedule."""
        self.schedule.add(delayed)
        self._set_timer()

    async def cancel(self, number: str, asker: str | None = None, rights: Rights = ALL_RIGHTS) -> Delayed:
        """Cancel a delayed update of the asker. Raises UnknownDelayed, NotYours."""
        if is_anothers(self.schedule.find(number).owner, asker, rights):
            raise NotYours("the delayed update belongs to somebody else")
        delayed = self.schedule.cancel(number)
        pending = PendingCancellation(delayed, asyncio.get_running_loop().create_future())
        self._commit_log.note(Note("cancel", {"id": delayed.id}), pending)
        return await pending.cancelled

    def pause(self, now: int) -> float:
        """Seconds until the next delayed update is due, but at most one second."""
        due = self.schedule.next()
        return _LONGEST_PAUSE if due is None else min(_LONGEST_PAUSE, max(0.0, (due - now) / 1e6))

    def carry_out(self, now: int) -> None:
        """Carry out what is due, with those rights that the owner had when it was accepted and still has."""
        for delayed in self.schedule.due(now):
            update = DelayedUpdate(delayed, partial(self._finish, delayed))
            update.rights = self._ownership.still(delayed.owner, delayed.rights)
            self._updates.enqueue(update)

    def _finish(self, delayed: Delayed, outcome: Outcome) -> None:
        if isinstance(outcome, NOT_DONE):  # try again later: it stays on the schedule, and in the log
            self.schedule.postpone(delayed.id, self._commit_log.clock() + _RETRY_MICROS)
            return
        self.schedule.discard(delayed.id)
        self.done += 1
        if isinstance(outcome, TidingsError):
            self.failed += 1
            log.warning("the delayed update %s failed: %s", delayed.id, outcome)
        self.settled(delayed, outcome)

    # -- the log ------------------------------------------------------------------------------------------------

    def restore(self, note: Note) -> None:
        """Apply a note of the log or of a snapshot to the schedule."""
        content = note.content
        if note.kind == "delay":
            default, named = (_names(content.get(key)) for key in ("default", "named"))
            dataset = None if default is None and named is None else Dataset(default, named)
            publisher, owner = content.get("publisher"), content.get("owner")
            rights = msgspec.convert(content["rights"], Rights) if "rights" in content else ALL_RIGHTS
            self.schedule.add(
                Delayed(content["id"], content["at"], content["sparql"], dataset, publisher, owner, rights)
            )
        else:
            self.schedule.discard(content["id"])

    def notes(self) -> Iterable[Note]:
        """All delayed updates that wait, for a snapshot."""
        return map(_note, self.schedule)


def _note(delayed: Delayed) -> Note:
    content: dict[str, object] = {"id": delayed.id, "at": delayed.at, "sparql": delayed.text}
    if delayed.dataset is not None:
        content |= {"default": delayed.dataset.default, "named": delayed.dataset.named}
    if delayed.publisher is not None:
        content["publisher"] = delayed.publisher
    if delayed.owner is not None:
        content["owner"] = delayed.owner
    if delayed.rights != ALL_RIGHTS:
        content["rights"] = msgspec.to_builtins(delayed.rights)
    return Note("delay", content)


def _names(value: list[str] | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(value)
