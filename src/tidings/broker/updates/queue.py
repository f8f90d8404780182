"""Updates, one after the other, in the order in which they came.

    submit --> execute on the loop, for a slice of time --> commit --> durable --> answer
                  \\--> what takes longer: in a fork, while the others wait --/

An update that takes its time is worked out on a copy of the store, and only its delta is applied here, so pings,
queries and first answers go on meanwhile. Whoever finds the queue full is asked to come back.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import assert_never

from tidings.broker.approximate.matching import Matching
from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.errors import ShuttingDown, TooManyRequests
from tidings.broker.forks import Forks
from tidings.broker.latency import Latency
from tidings.broker.pending import PendingAnswer, PendingUpdate
from tidings.broker.spawn import Spawn
from tidings.broker.subscriptions.notifier import Notifier
from tidings.broker.subscriptions.stragglers import Stragglers
from tidings.broker.updates.accepted import (
    NOT_DONE,
    OF_WHAT_IS_THERE,
    BoundUpdate,
    DelayedUpdate,
    Done,
    GraphUpdate,
    Outcome,
    Prepared,
    Reply,
    TextUpdate,
    Update,
    prepare,
    reply_to,
)
from tidings.broker.updates.elsewhere import TOGETHER, Asked, Elsewhere
from tidings.engine.commit import Commit
from tidings.engine.engine import Engine
from tidings.engine.updates.operations import PreparedUpdate
from tidings.log.entry import Note, published_by
from tidings.model.errors import EndpointAway, RequestTooComplex, TidingsError, TimeLimitExceeded, internal_error
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.protocol.entries import within
from tidings.sparql.algebra import Dataset, Operation
from tidings.sparql.evaluate.context import Limits
from tidings.sparql.prepared import Parameters

LONG_TEXT = 1 << 17
"""Updates of more characters are read in a fork: here, that would take longer than the loop may be held. Most of them
are data, which is read at 3 MB a second."""

_HELD = 0.002
"""Seconds between two looks at whether the queue is held."""

_INTERNAL_ERROR = "internal error while executing an update"

log = logging.getLogger("tidings")


def check_length(text: str) -> None:
    """For what is read on the loop. Raises RequestTooComplex."""
    if len(text) > LONG_TEXT:
        said = f"an update that is prepared may have {LONG_TEXT:,} characters, and this one has {len(text):,}"
        raise RequestTooComplex(said, measured=len(text), limit=LONG_TEXT)


class UpdateQueue:
    """The updates that were accepted, and the work on them. `clock` counts seconds."""

    def __init__(
        self,
        engine: Engine,
        commit_log: CommitLog,
        forks: Forks,
        notifier: Notifier,
        stragglers: Stragglers,
        spawn: Spawn,
        matching: Matching,
        *,
        most: int,
        slice_seconds: float,
        seconds: float | None,
        rows: int | None,
        clock: Callable[[], float],
    ) -> None:
        self._engine = engine
        self._commit_log = commit_log
        self._forks = forks
        self._notifier = notifier
        self._stragglers = stragglers
        self._spawn = spawn
        self._matching = matching
        self.most = most
        self._clock = clock
        self.slice = Limits(seconds=slice_seconds, rows=rows, clock=clock)
        self.whole = Limits(seconds=seconds, rows=rows, clock=clock)
        """What an update may take in all."""
        self._waiting: deque[Update] = deque()
        self._forked: Update | None = None
        """The one that is being worked out in a fork."""
        self._holds = 0
        self._taken_back = 0
        """Commits taken back: what was worked out on top of them has to be worked out again."""
        self.accepted = 0
        """Updates that wait for their turn, for the disk, or are being worked on."""
        self.done = 0
        self.failed = 0
        self.refused = 0
        self.bound = 0
        """Updates that came as the values of a prepared one."""
        self.aside = 0
        """Updates that were worked out in a fork."""
        self.latency = Latency()
        """From accepting an update to answering it, whatever the answer."""
        self.ending = False
        self.elsewhere: Elsewhere | None = None
        """Who works out updates, if the graph is not in memory."""

    def submit(self, update: Update) -> None:
        """Take in an update; its `reply` is called once, sooner or later."""
        if self.ending or self.accepted >= self.most:
            self.refused += 1
            update.reply(
                ShuttingDown("the broker is stopping")
                if self.ending
                else TooManyRequests(f"{self.most} updates are waiting, the limit of max_queue; try again soon")
            )
            return
        self.enqueue(update)

    async def outcome(self, make: Callable[[Reply], Update]) -> Done:
        """For those who wait: submit an update; what it has done. Raises why it has not."""
        answer: asyncio.Future[Done] = asyncio.get_running_loop().create_future()
        self.submit(make(reply_to(answer)))
        return await answer

    def enqueue(self, update: Update) -> None:
        """As `submit`, for an update that was promised long ago."""
        self.accepted += 1
        update.since = self._clock()
        self._waiting.append(update)
        if len(self._waiting) == 1:
            self._pump()

    def hold(self) -> None:
        """Begin no update until `resume` is called."""
        self._holds += 1

    def resume(self) -> None:
        self._holds -= 1
        self._pump()

    def _pump(self) -> None:
        waiting = self._waiting
        if self.elsewhere is not None:
            if waiting and not self._holds:
                self.hold()
                self._spawn(self._round(self.elsewhere))
            return
        while waiting and not self._holds and self._begin(waiting[0]):
            waiting.popleft()

    def _begin(self, update: Update) -> bool:
        """Work on an update; whether that is all there is to do."""
        prepared: Prepared | None = None
        try:
            self._commit_log.check()
            now = self._commit_log.now()
            if self._is_long(update):
                self._fork(update, None)
                return False
            prepared = prepare(update, self._engine)
            if prepared[0].loads:  # documents take their time
                self._fork(update, prepared)
                return False
            commit = self._engine.execute(*prepared, now=now, limits=self.slice, rights=update.rights)
        except TimeLimitExceeded:
            self._fork(update, prepared)
            return False
        except TidingsError as error:
            self._fail(update, error)
        except Exception:  # whatever it is, the publisher has to hear of it, and the next one has to have its turn
            log.exception(_INTERNAL_ERROR)
            self._fail(update, internal_error())
        else:
            self._commit(update, commit, now)
        return True

    def _is_long(self, update: Update) -> bool:
        """Whether it takes longer to read an update than the loop may be held."""
        match update:
            case TextUpdate(text):
                return len(text) > LONG_TEXT
            case BoundUpdate():
                return False
            case DelayedUpdate(delayed):
                return len(delayed.text) > LONG_TEXT
            case GraphUpdate(change):
                there = self._engine.store.graph(change.graph) is not None
                change.existed = there and update.rights.read.has(change.graph)
                return change.size > LONG_TEXT
            case _:
                assert_never(update)

    async def check_text(self, text: str, dataset: Dataset | None) -> None:
        """Raises whatever is wrong with an update that is to be carried out later; a long one is read in a fork."""
        if len(text) <= LONG_TEXT:
            self._engine.prepare(text, dataset)
        else:
            await self._forks.run(partial(self._check, text, dataset), seconds=self.whole.seconds)

    def _check(self, text: str, dataset: Dataset | None) -> None:
        self._engine.prepare(text, dataset)

    # -- what takes longer --------------------------------------------------------------------------------------

    def _fork(self, update: Update, prepared: Prepared | None) -> None:
        self.hold()
        self.aside += 1
        self._forked = update
        self._spawn(self._execute_in_fork(update, prepared))

    async def _execute_in_fork(self, update: Update, prepared: Prepared | None) -> None:
        has_turn = True
        try:
            begun = time.perf_counter()
            delta = await self._delta(update, prepared)
            has_turn = self._waiting[0] is update
            if not has_turn:
                return  # others that were before it have theirs again
            self._engine.timing.update += time.perf_counter() - begun
            now = self._commit_log.now()
            commit = self._engine.absorb(delta, now=now)
        except TidingsError as error:
            self._fail(update, error)
        except Exception:
            log.exception(_INTERNAL_ERROR)
            self._fail(update, internal_error())
        else:
            self._commit(update, commit, now)
        finally:
            self._forked = None
            if has_turn:
                self._waiting.remove(update)
            self.resume()

    async def _delta(self, update: Update, prepared: Prepared | None) -> ZSet[Quad]:
        while True:
            taken_back = self._taken_back
            fork = self._forks.launch(partial(self._work_out, update, prepared), seconds=self.whole.seconds)
            delta = await self._forks.outcome(fork, seconds=self.whole.seconds)
            for _ in self._engine.store.stage(delta):  # to read a large one took long enough, and so does each step
                await asyncio.sleep(0)
            while self._holds > 1:  # others than this update hold the queue as well
                await asyncio.sleep(_HELD)
            if taken_back == self._taken_back or self._waiting[0] is not update:
                return delta

    def _work_out(self, update: Update, prepared: Prepared | None) -> ZSet[Quad]:
        """In the fork: the delta of an update."""
        now = self._commit_log.time
        request = prepared or prepare(update, self._engine)
        return self._engine.work_out(*request, now=now, limits=self.whole, rights=update.rights)

    # -- what is worked out elsewhere ---------------------------------------------------------------------------

    async def _round(self, elsewhere: Elsewhere) -> None:
        """Some of those that wait, together."""
        taken_back, updates = self._taken_back, list(islice(self._waiting, TOGETHER))
        asked: list[Asked] = []
        try:
            for update in updates:
                try:
                    asked.append(await self._asked(update))
                except TidingsError as error:
                    if not asked:
                        self._conclude(update, error)
                    break
            begun = time.perf_counter()
            found = await elsewhere.work_out(asked, self._commit_log.now()) if asked else []
            self._engine.timing.update += time.perf_counter() - begun
            while found and self._holds > 1 and self.accepted:  # who is refused meanwhile is not waited for
                await asyncio.sleep(_HELD)
            for update, outcome in zip(updates, found, strict=False):
                if taken_back != self._taken_back or not self._conclude(update, outcome):
                    break
        except Exception:
            log.exception(_INTERNAL_ERROR)
            self._conclude(updates[0], internal_error())
        finally:
            self.resume()

    async def _asked(self, update: Update) -> Asked:
        self._commit_log.check()
        if self._is_long(update):
            operations, parameters = await self._forks.run(partial(self._read, update), seconds=self.whole.seconds)
            prepared: Prepared = PreparedUpdate(operations), parameters
        else:
            prepared = prepare(update, self._engine)
        return Asked(*prepared, update.rights, update.change if isinstance(update, GraphUpdate) else None)

    def _read(self, update: Update) -> tuple[tuple[Operation, ...], Parameters]:
        """In the fork."""
        request, parameters = prepare(update, self._engine)
        return request.operations, parameters

    def _conclude(self, update: Update, outcome: ZSet[Quad] | TidingsError) -> bool:
        """Whether it was its turn, and what it does is done."""
        if not self._waiting or self._waiting[0] is not update:
            return False
        self._waiting.popleft()
        if isinstance(outcome, TidingsError):
            self._fail(update, outcome)
        else:
            now = self._commit_log.now()
            self._commit(update, self._engine.absorb(outcome, now=now), now)
        return True

    # -- outcomes -----------------------------------------------------------------------------------------------

    def _fail(self, update: Update, error: TidingsError) -> None:
        """An update that cannot be carried out leaves no trace; a delayed one is off the schedule all the same."""
        self.failed += 1
        note: Note | None = None
        if isinstance(update, DelayedUpdate) and not isinstance(error, NOT_DONE):
            note = Note("done", {"id": update.delayed.id, "error": error.code})
        self._tell(update, error, note, rests=isinstance(error, OF_WHAT_IS_THERE))

    def _tell(self, update: Update, outcome: Outcome, note: Note | None, *, rests: bool) -> None:
        """What is no commit, once the note is durable; if it `rests` on what was seen, once nothing can undo that."""
        if note is not None:
            self._commit_log.note(note, PendingAnswer(update, outcome))
        elif rests and self._commit_log.is_busy:
            self._commit_log.wait(PendingAnswer(update, outcome))
        else:
            self.answer(update, outcome)

    def answer(self, update: Update, outcome: Outcome) -> None:
        """Say what became of an update."""
        self.accepted -= 1
        self.latency.count(self._clock() - update.since)
        update.reply(outcome)

    def undone(self, update: Update, error: TidingsError, *, counted: bool) -> None:
        """What an update did, or saw, was taken back. It has its turn again once the store of record is well."""
        self.done -= counted
        if isinstance(error, EndpointAway):
            self.failed -= not counted
            self._waiting.appendleft(update)
        else:
            self.failed += counted
            self.answer(update, error)

    def refuse_waiting(self, seconds: float, error: TidingsError) -> None:
        """Refuse those that have waited for so long."""
        latest = self._clock() - seconds
        late = [each for each in self._waiting if each.since <= latest and each is not self._forked]
        for update in late:
            self._waiting.remove(update)
        for update in late:
            self._fail(update, error)

    def _commit(self, update: Update, commit: Commit, now: int) -> None:
        if commit.failures:
            self._notifier.end_failed(commit.failures)
        self.done += 1
        notes: tuple[Note, ...] = ()
        if isinstance(update, DelayedUpdate):
            notes = (Note("done", {"id": update.delayed.id}),)
        if not commit.delta:
            self._tell(update, Done(self._commit_log.last_commit, now, 0, 0), next(iter(notes), None), rests=True)
            return
        if update.publisher is not None:
            notes += (published_by(update.publisher),)
        entry = self._commit_log.next_entry(commit.delta, now, notes)
        seen = commit.delta if update.rights.read.everything else within(commit.delta, update.rights.read)
        added = sum(1 for _, weight in seen.items() if weight > 0)
        done = Done(entry.commit, now, added, len(seen) - added)
        if commit.behind:
            self._stragglers.begin(commit.behind, entry.commit)
        self._commit_log.commit(PendingUpdate(entry, commit, update, done))
        if self._matching:
            self._matching.advance(commit.delta)

    def take_back(self, commit: Commit, now: int) -> None:
        """A commit cannot be made durable: the store and the answers are as they were."""
        self._taken_back += 1
        self._stragglers.spoil()
        undone = self._engine.absorb(-commit.delta, now=now)
        self._notifier.retract(commit, undone)
        self._notifier.end_failed(undone.failures)
        self._stragglers.begin(undone.behind, self._commit_log.last_commit + 1)
