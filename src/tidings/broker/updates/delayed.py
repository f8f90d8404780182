"""Delayed updates: accepted now and durable at once, carried out in their time, in order.

The commit of a delayed update and the note that it is done are one entry of the log, so that it is carried out once,
whenever the broker dies. Those that fell due while it was down are carried out at its start.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from uuid import uuid4

from tidings.broker.durability.commit_log import Chronicle
from tidings.broker.errors import TooManyDelayed
from tidings.broker.updates.queue import NOT_DONE, Outcome, Update, Updates
from tidings.broker.updates.schedule import Agenda, Delayed, DelayedId
from tidings.engine.updates.executor import Core
from tidings.log.entry import Note
from tidings.model.errors import TidingsError
from tidings.sparql.algebra import Dataset

_RETRY_MICROS = 1_000_000

log = logging.getLogger("tidings")


class Delays:
    """Accepts, keeps and carries out delayed updates. `wind` is called when the next one may be due earlier."""

    def __init__(self, core: Core, chronicle: Chronicle, updates: Updates, most: int, wind: Callable[[], None]) -> None:
        self._core = core
        self._chronicle = chronicle
        self._updates = updates
        self._most = most
        self._wind = wind
        self.agenda = Agenda()
        self.done = 0
        self.failed = 0

    async def accept(self, text: str, dataset: Dataset | None, at: int, publisher: str | None = None) -> Delayed:
        """Accept an update for an instant, in microseconds since 1970. Raises whatever is wrong with its text."""
        if len(self.agenda) >= self._most:
            raise TooManyDelayed(f"{self._most:,} delayed updates wait already")
        self._chronicle.check()
        self._core.prepare_update(text, dataset)
        delayed = Delayed(DelayedId(uuid4().hex), at, text, dataset, publisher)
        accepted: asyncio.Future[Delayed] = asyncio.get_running_loop().create_future()

        def release() -> None:
            self.agenda.add(delayed)
            self._wind()
            if not accepted.done():
                accepted.set_result(delayed)

        self._chronicle.note(_note(delayed), release, lambda error: _refuse(accepted, error))
        return await accepted

    async def cancel(self, number: str) -> Delayed:
        """Take a delayed update off the agenda. Raises UnknownDelayed."""
        delayed = self.agenda.cancel(number)
        cancelled: asyncio.Future[Delayed] = asyncio.get_running_loop().create_future()

        def release() -> None:
            if not cancelled.done():
                cancelled.set_result(delayed)

        def undo(error: TidingsError) -> None:
            self.agenda.add(delayed)
            _refuse(cancelled, error)

        self._chronicle.note(Note("cancel", {"id": delayed.id}), release, undo)
        return await cancelled

    def carry_out(self, now: int) -> None:
        """Whatever is due by now."""
        for delayed in self.agenda.due(now):
            self._carry_out(delayed)

    def _carry_out(self, delayed: Delayed) -> None:
        def reply(outcome: Outcome) -> None:
            if isinstance(outcome, NOT_DONE):  # it stays, here and in the log
                self.agenda.postpone(delayed.id, self._chronicle.clock() + _RETRY_MICROS)
                return
            self.agenda.discard(delayed.id)
            self.done += 1
            if isinstance(outcome, TidingsError):
                self.failed += 1
                log.warning("the delayed update %s failed: %s", delayed.id, outcome)

        self._updates.enqueue(
            Update(delayed.text, delayed.dataset, reply, delayed=delayed.id, publisher=delayed.publisher)
        )

    # -- the log ------------------------------------------------------------------------------------------------

    def restore(self, note: Note) -> None:
        """Do again what a note of the log, or of a snapshot, says was done."""
        content = note.content
        if note.kind == "delay":
            default, named = (_names(content.get(key)) for key in ("default", "named"))
            dataset = None if default is None and named is None else Dataset(default, named)
            publisher = content.get("publisher")
            self.agenda.add(Delayed(content["id"], content["at"], content["sparql"], dataset, publisher))
        else:
            self.agenda.discard(content["id"])

    def notes(self) -> Iterable[Note]:
        """For a snapshot: everything that waits."""
        return map(_note, self.agenda)


def _note(delayed: Delayed) -> Note:
    content: dict[str, object] = {"id": delayed.id, "at": delayed.at, "sparql": delayed.text}
    if delayed.dataset is not None:
        content |= {"default": delayed.dataset.default, "named": delayed.dataset.named}
    if delayed.publisher is not None:
        content["publisher"] = delayed.publisher
    return Note("delay", content)


def _names(value: list[str] | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(value)


def _refuse(waiting: "asyncio.Future[Delayed]", error: TidingsError) -> None:
    if not waiting.done():
        waiting.set_exception(error)
