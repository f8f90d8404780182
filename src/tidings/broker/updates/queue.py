"""Updates, one after the other, in the order in which they came.

    submit --> execute on the loop, for a slice of time --> commit --> durable --> answer
                  \\--> what takes longer: in a fork, while the others wait --/

An update that takes its time is worked out on a copy of the store, and only its delta is applied here, so pings,
queries and first answers go on meanwhile. Whoever finds the queue full is asked to come back.
"""

import logging
import time
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from tidings.broker.durability.commit_log import Chronicle
from tidings.broker.errors import ShuttingDown, TooManyRequests
from tidings.broker.forks import Forks
from tidings.broker.latency import Latency
from tidings.broker.subscriptions.registry import Subscriptions
from tidings.broker.updates.graph_change import Change
from tidings.broker.updates.schedule import DelayedId
from tidings.engine.engine import Commit, Engine
from tidings.engine.updates.operations import PreparedUpdate
from tidings.log.entry import Note, published_by
from tidings.log.errors import LogBroken, LogWriteFailed
from tidings.model.errors import TidingsError, TimeLimitExceeded
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.sparql.algebra import Dataset
from tidings.sparql.evaluate.context import Limits, Moment
from tidings.sparql.prepared import Parameters

LONG_TEXT = 1 << 18
"""Texts of more characters are read in a fork: reading them would take longer than a slice."""

log = logging.getLogger("tidings")


class Done(Struct, frozen=True):
    """An update that was carried out: the commit that has it, when, and what it changed."""

    sequence: int
    time: int
    added: int
    removed: int


NOT_DONE = (LogWriteFailed, LogBroken, ShuttingDown)
"""Errors that say nothing about the update: a delayed one stays on the agenda."""

Outcome: TypeAlias = Done | TidingsError
Reply: TypeAlias = Callable[[Outcome], None]


class Update(Struct):
    """An update that was accepted. It is a text, a document, or has been read already."""

    text: str
    dataset: Dataset | None
    reply: Reply
    bound: tuple[PreparedUpdate, Parameters] | None = None
    delayed: DelayedId | None = None
    change: Change | None = None
    publisher: str | None = None
    """Who sent it, if that was said."""
    since: float = 0.0
    """When it was accepted."""

    @property
    def size(self) -> int:
        return len(self.text) if self.change is None else self.change.size


class Spawn(Protocol):
    def __call__(self, work: Coroutine[Any, Any, None], /) -> object: ...


class Updates:
    """The queue, and the one who works on it."""

    def __init__(
        self,
        engine: Engine,
        chronicle: Chronicle,
        forks: Forks,
        subscriptions: Subscriptions,
        spawn: Spawn,
        *,
        most: int,
        slice_seconds: float,
        seconds: float | None,
        rows: int | None,
        monotonic: Callable[[], float],
    ) -> None:
        self._engine = engine
        self._chronicle = chronicle
        self._forks = forks
        self._subscriptions = subscriptions
        self._spawn = spawn
        self.most = most
        self._monotonic = monotonic
        self._limits = Limits(seconds=slice_seconds, rows=rows, clock=time.monotonic)
        self._seconds = seconds
        self._rows = rows
        self._waiting: deque[Update] = deque()
        self._stopped = 0
        self._undone = 0
        """Commits taken back: what was worked out on top of them has to be worked out again."""
        self.accepted = 0
        """Updates that wait for their turn, for the disk, or are being worked on."""
        self.done = 0
        self.failed = 0
        self.refused = 0
        self.aside = 0
        self.latency = Latency()
        """From accepting an update to answering it, whatever the answer."""
        self.ending = False

    def submit(self, update: Update) -> None:
        """Take in an update; `reply` is called once, sooner or later."""
        if self.ending or self.accepted >= self.most:
            self.refused += 1
            update.reply(
                ShuttingDown("the broker is stopping")
                if self.ending
                else TooManyRequests(f"{self.most} updates wait already; come back in a moment")
            )
            return
        self.enqueue(update)

    def enqueue(self, update: Update) -> None:
        """As `submit`, for an update that was promised long ago."""
        self.accepted += 1
        update.since = self._monotonic()
        self._waiting.append(update)
        if len(self._waiting) == 1:
            self._pump()

    def hold(self) -> None:
        """Begin no update until `go_on` is called."""
        self._stopped += 1

    def go_on(self) -> None:
        self._stopped -= 1
        self._pump()

    def _pump(self) -> None:
        waiting = self._waiting
        while waiting and not self._stopped and self._begin(waiting[0]):
            waiting.popleft()

    def _begin(self, update: Update) -> bool:
        """Work on an update; whether that is all there is to do."""
        chronicle = self._chronicle
        try:
            chronicle.check()
            now = chronicle.now()
            if update.bound is None:
                if update.change is not None:
                    update.change.look(self._engine.core.store)
                if update.size > LONG_TEXT:
                    self._work_aside(update)
                    return False
                update.bound = self._prepared(update)
            if update.bound[0].loads:  # documents take their time
                self._work_aside(update)
                return False
            commit = self._engine.execute(*update.bound, now=now, limits=self._limits)
        except TimeLimitExceeded:
            self._work_aside(update)
            return False
        except TidingsError as error:
            self._fail(update, error)
        except Exception:  # whatever it is, the publisher has to hear of it, and the next one has to have its turn
            log.exception("an update failed in a way that nobody foresaw")
            self._fail(update, TidingsError("something went wrong here; it is in the log"))
        else:
            self._commit(update, commit, now)
        return True

    def _prepared(self, update: Update) -> tuple[PreparedUpdate, Parameters]:
        if update.change is not None:
            return update.change.request(), ()
        return self._engine.core.prepare_update(update.text, update.dataset)

    # -- what takes longer --------------------------------------------------------------------------------------

    def _work_aside(self, update: Update) -> None:
        self.hold()
        self.aside += 1
        self._spawn(self._aside(update))

    async def _aside(self, update: Update) -> None:
        try:
            begun = time.perf_counter()
            delta = await self._delta(update)
            self._engine.timing.update += time.perf_counter() - begun
            now = self._chronicle.now()
            commit = self._engine.absorb(delta, now=now)
        except TidingsError as error:
            self._fail(update, error)
        except Exception:
            log.exception("an update failed in a way that nobody foresaw")
            self._fail(update, TidingsError("something went wrong here; it is in the log"))
        else:
            self._commit(update, commit, now)
        finally:
            self._waiting.popleft()
            self.go_on()

    async def _delta(self, update: Update) -> ZSet[Quad]:
        while True:
            undone = self._undone
            fork = self._forks.launch(lambda: self._worked_out(update))
            delta = await self._forks.outcome(fork, seconds=self._seconds)
            if undone == self._undone:
                return delta

    def _worked_out(self, update: Update) -> ZSet[Quad]:
        """In the fork: the delta of an update. Blank nodes it makes must differ from those made here meanwhile."""
        core = self._engine.core
        core.moment = Moment(self._chronicle.time)
        request = update.bound or self._prepared(update)
        limits = Limits(seconds=self._seconds, rows=self._rows, clock=time.monotonic)
        return core.execute(*request, now=self._chronicle.time, limits=limits)

    # -- outcomes -----------------------------------------------------------------------------------------------

    def _fail(self, update: Update, error: TidingsError) -> None:
        """An update that cannot be carried out leaves no trace; a delayed one is off the agenda all the same."""
        self.failed += 1
        if update.delayed is None or isinstance(error, NOT_DONE):
            self._answer(update, error)
            return
        note = Note("done", {"id": update.delayed, "error": error.code})
        self._chronicle.note(note, lambda: self._answer(update, error), lambda failed: self._answer(update, failed))

    def _answer(self, update: Update, outcome: Outcome) -> None:
        self.accepted -= 1
        self.latency.count(self._monotonic() - update.since)
        update.reply(outcome)

    def _commit(self, update: Update, commit: Commit, now: int) -> None:
        chronicle = self._chronicle
        self._subscriptions.lose(self._engine.failures)
        notes: tuple[Note, ...] = () if update.delayed is None else (Note("done", {"id": update.delayed}),)
        self.done += 1

        def undo(error: TidingsError) -> None:
            if commit.delta:
                self._undone += 1
                self._subscriptions.untell(commit, self._engine.absorb(-commit.delta, now=now))
                self._subscriptions.lose(self._engine.failures)
            self._answer(update, error)

        if not commit.delta:
            done = Done(chronicle.seq, now, 0, 0)
            if notes:
                chronicle.note(notes[0], lambda: self._answer(update, done), undo)
            elif len(chronicle.scribe):  # it may have seen what is not durable yet
                chronicle.scribe.step(lambda: self._answer(update, done), undo)
            else:
                self._answer(update, done)
            return
        sequence = chronicle.seq + 1
        added = sum(1 for _, weight in commit.delta.items() if weight > 0)
        done = Done(sequence, now, added, len(commit.delta) - added)

        def release() -> None:
            self._answer(update, done)
            self._subscriptions.tell(sequence, now, commit)

        if update.publisher is not None:
            notes += (published_by(update.publisher),)
        chronicle.commit(commit.delta, now, notes, release, undo)
