"""The queue executes updates one after the other, in the order in which they came.

    submit --> execute on the event loop, for a slice of time --> commit --> durable --> answer
                  \\--> if it takes longer: in a fork, while the others wait --/

A fork works out a long update on its copy of the store, and the broker applies the delta. So pings, queries and first
answers go on meanwhile. When the queue is full, it refuses updates.
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
"""A fork parses updates of more characters. Most of them are data, which the parser reads at 3 MB a second."""

_HELD = 0.002
"""Seconds between two checks whether others hold the queue."""

_INTERNAL_ERROR = "internal error while executing an update"

log = logging.getLogger("tidings")


def check_length(text: str) -> None:
    """Check the length of a text that the event loop parses. Raises RequestTooComplex."""
    if len(text) > LONG_TEXT:
        said = f"an update that is prepared may have {LONG_TEXT:,} characters, and this one has {len(text):,}"
        raise RequestTooComplex(said, measured=len(text), limit=LONG_TEXT)


class UpdateQueue:
    """Accepts updates and executes them. `clock` counts seconds."""

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
        """The limits of an update in a fork."""
        self._waiting: deque[Update] = deque()
        self._forked: Update | None = None
        """The update that a fork is working out."""
        self._holds = 0
        """How many calls of `hold` have had no `resume` yet."""
        self._taken_back = 0
        """How many commits were reversed. A delta that was worked out on top of one has to be worked out again."""
        self.accepted = 0
        """Updates that are not answered yet: they wait for their turn or for the disk, or are being executed."""
        self.done = 0
        self.failed = 0
        self.refused = 0
        self.bound = 0
        """Updates that came as values for a prepared update."""
        self.aside = 0
        """Updates that a fork worked out."""
        self.latency = Latency()
        """From accepting an update to answering it, also with an error."""
        self.ending = False
        self.elsewhere: Elsewhere | None = None
        """Works out updates if the graph is not in memory; otherwise None."""

    def submit(self, update: Update) -> None:
        """Accept an update, or refuse it; its `reply` is called exactly once."""
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
        """Submit an update and wait for its outcome. Raises the error if it fails."""
        answer: asyncio.Future[Done] = asyncio.get_running_loop().create_future()
        self.submit(make(reply_to(answer)))
        return await answer

    def enqueue(self, update: Update) -> None:
        """As `submit`, but accept the update in any case: it is a delayed one that the broker has promised to do."""
        self.accepted += 1
        update.since = self._clock()
        self._waiting.append(update)
        if len(self._waiting) == 1:
            self._pump()

    def hold(self) -> None:
        """Begin no further update until `resume` is called."""
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
        """Execute an update on the event loop. Returns False if a fork has to work it out."""
        prepared: Prepared | None = None
        try:
            self._commit_log.check()
            now = self._commit_log.now()
            if self._is_long(update):
                self._fork(update, None)
                return False
            prepared = prepare(update, self._engine)
            if prepared[0].loads:  # LOAD fetches documents, which takes long
                self._fork(update, prepared)
                return False
            commit = self._engine.execute(*prepared, now=now, limits=self.slice, rights=update.rights)
        except TimeLimitExceeded:
            self._fork(update, prepared)
            return False
        except TidingsError as error:
            self._fail(update, error)
        except Exception:  # whatever it is, answer the publisher, and go on with the next update
            log.exception(_INTERNAL_ERROR)
            self._fail(update, internal_error())
        else:
            self._commit(update, commit, now)
        return True

    def _is_long(self, update: Update) -> bool:
        """Whether parsing an update would block the event loop for too long."""
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
        """Parse an update that is to be carried out later, in a fork if it is long. Raises what is wrong with it."""
        if len(text) <= LONG_TEXT:
            self._engine.prepare(text, dataset)
        else:
            await self._forks.run(partial(self._check, text, dataset), seconds=self.whole.seconds)

    def _check(self, text: str, dataset: Dataset | None) -> None:
        self._engine.prepare(text, dataset)

    # -- in a fork ----------------------------------------------------------------------------------------------

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
                return  # updates before it were undone, and have their turns again
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
            for _ in self._engine.store.stage(delta):  # in small steps, because a large delta would block the loop
                await asyncio.sleep(0)
            while self._holds > 1:  # something else than this update holds the queue, too
                await asyncio.sleep(_HELD)
            if taken_back == self._taken_back or self._waiting[0] is not update:
                return delta

    def _work_out(self, update: Update, prepared: Prepared | None) -> ZSet[Quad]:
        """Runs in the fork: the delta of an update."""
        now = self._commit_log.time
        request = prepared or prepare(update, self._engine)
        return self._engine.work_out(*request, now=now, limits=self.whole, rights=update.rights)

    # -- at the store of record ---------------------------------------------------------------------------------

    async def _round(self, elsewhere: Elsewhere) -> None:
        """Have the first updates of the queue worked out together."""
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
            while found and self._holds > 1 and self.accepted:  # no need to wait if all were refused meanwhile
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
        """Runs in the fork."""
        request, parameters = prepare(update, self._engine)
        return request.operations, parameters

    def _conclude(self, update: Update, outcome: ZSet[Quad] | TidingsError) -> bool:
        """Commit or fail an update whose outcome is known. Returns False if it is no longer the first of the queue."""
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
        """Refuse an update that cannot be carried out. A delayed one leaves the schedule, which the log notes."""
        self.failed += 1
        note: Note | None = None
        if isinstance(update, DelayedUpdate) and not isinstance(error, NOT_DONE):
            note = Note("done", {"id": update.delayed.id, "error": error.code})
        self._tell(update, error, note, rests=isinstance(error, OF_WHAT_IS_THERE))

    def _tell(self, update: Update, outcome: Outcome, note: Note | None, *, rests: bool) -> None:
        """Answer an update without a commit; if its outcome `rests` on what it read, once that is durable."""
        if note is not None:
            self._commit_log.note(note, PendingAnswer(update, outcome))
        elif rests and self._commit_log.is_busy:
            self._commit_log.wait(PendingAnswer(update, outcome))
        else:
            self.answer(update, outcome)

    def answer(self, update: Update, outcome: Outcome) -> None:
        """Answer the publisher with the outcome."""
        self.accepted -= 1
        self.latency.count(self._clock() - update.since)
        update.reply(outcome)

    def undone(self, update: Update, error: TidingsError, *, counted: bool) -> None:
        """What an update did or read was undone. Refuse it, or if the endpoint is away, give it its turn again."""
        self.done -= counted
        if isinstance(error, EndpointAway):
            self.failed -= not counted
            self._waiting.appendleft(update)
        else:
            self.failed += counted
            self.answer(update, error)

    def refuse_waiting(self, seconds: float, error: TidingsError) -> None:
        """Refuse all updates that have waited at least so long."""
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
        """Reverse a commit that cannot be made durable, in the store and in the answers."""
        self._taken_back += 1
        self._stragglers.spoil()
        undone = self._engine.absorb(-commit.delta, now=now)
        self._notifier.retract(commit, undone)
        self._notifier.end_failed(undone.failures)
        self._stragglers.begin(undone.behind, self._commit_log.last_commit + 1)
