"""THE STORY of the broker: one loop, one store, one log.

    update     queue -> engine -> commit log -> (durable) -> publisher answered, subscribers told
    query      on the loop for a slice of time, then in a fork
    subscribe  tried out, admitted, logged -> (durable) -> first answer; then whatever changes
    delayed    logged -> (durable) -> accepted; in its time, an update like any other

Everything happens in the thread of the loop, except writing to disk. What would hold the loop up happens in a fork.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Hashable, Iterable
from contextlib import AsyncExitStack
from itertools import chain
from pathlib import Path
from typing import Any

from msgspec import Struct

from tidings.broker.durability.commit_log import Chronicle
from tidings.broker.durability.group_commit import Scribe
from tidings.broker.durability.snapshots import Snapshots
from tidings.broker.errors import ShuttingDown
from tidings.broker.forks import Forks
from tidings.broker.queries import Queries, Writer
from tidings.broker.spool import Spool
from tidings.broker.subscriptions.external_answers import Elsewhere, Relay
from tidings.broker.subscriptions.outbox import Bounds
from tidings.broker.subscriptions.registry import Subscriptions
from tidings.broker.subscriptions.subscriber import Alias, Answered, Parcel, Post, Refused, Session, SessionId
from tidings.broker.updates.delayed import Delays
from tidings.broker.updates.graph_change import Change
from tidings.broker.updates.queue import Done, Outcome, Reply, Update, Updates
from tidings.broker.updates.schedule import Delayed
from tidings.engine.engine import Engine
from tidings.engine.pauses import Pauses
from tidings.engine.updates.executor import Core
from tidings.engine.updates.operations import PreparedUpdate
from tidings.log.entry import Entry, Note
from tidings.log.journal import Durability, Journal
from tidings.model.errors import TidingsError
from tidings.sparql.algebra import Dataset
from tidings.sparql.binding import Bindable

log = logging.getLogger("tidings")

_TICK = 1.0
"""Seconds after which the clock is looked at again, whatever it said: it may have jumped."""


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
    workers: int = 2
    """Forks at a time."""
    snapshot_bytes: int = 64 << 20
    """Log written since the last snapshot that calls for another one."""
    keep_log: int = 0
    """Bytes of log that are kept although a snapshot covers them; 0 keeps all."""
    bounds: Bounds = Bounds()
    patience: float = 60.0
    """Seconds that a first answer may take that is worked out elsewhere."""


class Disk(Struct, frozen=True):
    """Where a broker keeps what must not be lost."""

    folder: Path
    journal: Journal
    durability: Durability = "fsync"
    behind: int = 0
    """Bytes of log that no snapshot covers."""


class Broker:
    """A knowledge graph that tells its subscribers what changes. `clock` tells the time in microseconds since 1970,
    `monotonic` counts seconds. Until it is given a disk, everything is forgotten with the process. If there is an
    `elsewhere`, subscriptions are worked out there, and here they are only told."""

    def __init__(
        self,
        engine: Engine,
        policy: Policy | None = None,
        *,
        clock: Callable[[], int],
        monotonic: Callable[[], float],
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self.engine = engine
        self.policy = policy = policy or Policy()
        self.disk: Disk | None = None
        self.snapshots: Snapshots | None = None
        self.chronicle = Chronicle(clock)
        self.forks = Forks(policy.workers)
        self.relay = None if elsewhere is None else Relay(elsewhere, policy.patience, monotonic)
        planner = engine if elsewhere is None else Engine(Core(base=engine.core.base))
        planner.core.warnings = engine.core.warnings
        engine.core.warnings.tell = _log_warning
        self.subscriptions = Subscriptions(planner, self.chronicle, policy.bounds, monotonic, self.relay)
        limits: dict[str, Any] = {
            "slice_seconds": policy.slice_seconds,
            "seconds": policy.seconds,
            "rows": policy.rows,
        }
        self.queries = Queries(engine.core, self.chronicle, self.forks, **limits)
        self.updates = Updates(
            engine, self.chronicle, self.forks, self.subscriptions, self.spawn, most=policy.queue, **limits
        )
        self.delays = Delays(engine.core, self.chronicle, self.updates, policy.delayed, self._wind)
        self.sessions: dict[SessionId, Session] = {}
        self.ending = False
        self.seeding = False
        """Whether it was interrupted while what it begins with was loaded."""
        self._next_session = 0
        self._pauses = Pauses()
        self._tasks = asyncio.TaskGroup()
        self._stack = AsyncExitStack()
        self._timer: asyncio.TimerHandle | None = None

    # -- life ---------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> "Broker":
        await self._stack.enter_async_context(self._tasks)
        self._tick()
        return self

    def settle(self) -> None:
        """What is there now will stay: keep it out of the garbage collector's way."""
        self._pauses.settle()

    def give_up(self) -> None:
        """End whatever still takes its time."""
        self.forks.kill()

    async def __aexit__(self, *failure: object) -> None:
        """Answer what was accepted, write what is left, end what is still running."""
        self.end()
        await self.finish()
        self.forks.kill()
        await self._stack.aclose()
        self.chronicle.scribe.close()

    def end(self) -> None:
        """Accept nothing more."""
        self.ending = self.updates.ending = True
        if self._timer is not None:
            self._timer.cancel()

    async def finish(self) -> None:
        """Until every update that was accepted has been answered."""
        while self.updates.accepted:
            await asyncio.sleep(0.005)
        await self.chronicle.scribe.idle()

    def _check_open(self) -> None:
        if self.ending:
            raise ShuttingDown("the broker is stopping")

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Have something done that has to end before the broker does."""
        self._tasks.create_task(work)

    def _tick(self) -> None:
        """Whatever is due: delayed updates, subscriptions that nobody came back for, a snapshot."""
        try:
            self.delays.carry_out(self.chronicle.clock())
            self.subscriptions.release_absent()
            self.subscriptions.release_unanswered()
            if self.snapshots is not None and self.snapshots.is_due():
                self.spawn(self.snapshots.write())
        finally:
            self._wind()

    def _wind(self) -> None:
        """Look again when the next delayed update is due, or in a second."""
        if self._timer is not None:
            self._timer.cancel()
        if not self.ending:
            due = self.delays.agenda.next()
            pause = _TICK if due is None else min(_TICK, max(0.0, (due - self.chronicle.clock()) / 1e6))
            self._timer = asyncio.get_running_loop().call_later(pause, self._tick)

    # -- updates and queries ------------------------------------------------------------------------------------

    def submit(self, text: str, dataset: Dataset | None, reply: Reply, publisher: str | None = None) -> None:
        """Take in an update; `reply` is called once it is durable, or has failed. The log says who published it."""
        self.updates.submit(Update(text, dataset, reply, publisher=publisher))

    def submit_bound(
        self,
        template: Bindable[PreparedUpdate],
        bindings: dict[str, str],
        reply: Reply,
        publisher: str | None = None,
    ) -> None:
        """Take in a prepared update with its variables bound. Raises what is wrong with the bindings."""
        self.updates.submit(Update("", None, reply, template.bind(bindings), publisher=publisher))

    async def update(self, text: str, dataset: Dataset | None = None, publisher: str | None = None) -> Done:
        """As `submit`, for those who wait. An update is carried out even if its publisher does not wait for it."""
        answer: asyncio.Future[Done] = asyncio.get_running_loop().create_future()
        self.submit(text, dataset, _replying(answer), publisher)
        return await answer

    async def change(self, change: Change, publisher: str | None = None) -> Done:
        """As `update`, for a change of one graph."""
        answer: asyncio.Future[Done] = asyncio.get_running_loop().create_future()
        self.updates.submit(Update("", None, _replying(answer), change=change, publisher=publisher))
        return await answer

    async def query(self, text: str, dataset: Dataset | None, write: Writer) -> Spool:
        """The answer to a query, as a document."""
        self._check_open()
        return await self.queries.answer(text, dataset, write)

    async def delay(self, text: str, dataset: Dataset | None, at: int, publisher: str | None = None) -> Delayed:
        """Accept an update for an instant, in microseconds since 1970."""
        self._check_open()
        return await self.delays.accept(text, dataset, at, publisher)

    # -- subscriptions ------------------------------------------------------------------------------------------

    def connect(self, post: Post) -> Session:
        self._next_session += 1
        session = Session(SessionId(self._next_session), post)
        self.sessions[session.id] = session
        return session

    def disconnect(self, session: Session) -> None:
        if self.sessions.pop(session.id, None) is not None:
            self.subscriptions.disconnect(session)

    def subscribe(
        self,
        session: Session,
        text: str,
        dataset: Dataset | None,
        alias: Alias,
        answered: Answered,
        refused: Refused,
        *,
        rights: Hashable = None,
        encode: Callable[[Parcel], bytes] | None = None,
    ) -> None:
        """Begin a subscription. Its query is tried out first: what cannot be answered is refused, and leaves nothing.

        Raises what can be told at once; `refused` is called with what turns out later. `encode` is how the gate writes
        a first answer that is so long that a fork has to do it; without, it is done here."""
        self._check_open()
        self._pauses.count()
        if self.relay is not None or self.queries.within_slice(text, dataset):
            self.subscriptions.subscribe(session, text, dataset, alias, rights, answered, refused)
            return

        async def begin_later() -> None:
            try:
                await self.queries.rehearse(text, dataset)
                if session.id not in self.sessions:
                    return
                if encode is None:
                    self.subscriptions.subscribe(session, text, dataset, alias, rights, answered, refused)
                else:
                    await self.subscriptions.subscribe_aside(
                        session, text, dataset, alias, rights, answered, encode, self.forks, self.policy.seconds
                    )
            except TidingsError as error:
                refused(error)

        self.spawn(begin_later())

    def resume(self, session: Session, spuid: str, sequence: int, answered: Answered, refused: Refused) -> None:
        """Take up a subscription again. Raises UnknownSubscription."""
        self._check_open()
        self.subscriptions.resume(session, spuid, sequence, answered, refused)

    # -- snapshot and log ---------------------------------------------------------------------------------------

    def _notes(self) -> Iterable[Note]:
        unfinished = (Note("seeding", {}),) if self.seeding else ()
        return chain(unfinished, self.subscriptions.notes(), self.delays.notes())

    def begin_at(self, seq: int, time: int) -> None:
        """The store was filled from a snapshot after this commit."""
        self.chronicle.seq, self.chronicle.time = seq, time
        self.subscriptions.told = seq

    def attach(self, disk: Disk) -> None:
        """From here on, whatever happens is written down. The store is what the disk says it is."""
        self.disk = disk
        self.chronicle.attach(disk.journal, Scribe(disk.journal, disk.durability))
        self.snapshots = Snapshots(
            disk.folder,
            disk.journal,
            self.engine.core.store,
            self._notes,
            self.chronicle,
            self.updates,
            self.forks,
            every=self.policy.snapshot_bytes,
            keep=self.policy.keep_log,
            behind=disk.behind,
        )

    def restore(self, entry: Entry) -> None:
        """Do again what an entry of the log says was done. Nobody is connected yet."""
        self.chronicle.time = max(self.chronicle.time, entry.time)
        if entry.delta:
            commit = self.engine.absorb(entry.delta, now=entry.time)
            self.chronicle.seq = entry.seq
            self.subscriptions.lose(self.engine.failures)
            self.subscriptions.tell(entry.seq, entry.time, commit)
        for note in entry.notes:
            self.restore_note(note)

    def restore_note(self, note: Note) -> None:
        match note.kind:
            case "delay" | "cancel" | "done":
                self.delays.restore(note)
            case "seeding":
                self.seeding = True
            case "seeded":
                self.seeding = False
            case "publisher":
                pass  # it says whose commit it was, and is no part of what is true now
            case _:
                self.subscriptions.restore(note)


def _log_warning(warning: str) -> None:
    log.warning("a request was accepted, but %s", warning)


def _replying(answer: "asyncio.Future[Done]") -> Reply:
    def reply(outcome: Outcome) -> None:
        if answer.done():
            return
        if isinstance(outcome, Done):
            answer.set_result(outcome)
        else:
            answer.set_exception(outcome)

    return reply
