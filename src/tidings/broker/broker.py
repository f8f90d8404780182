"""THE STORY of the broker: one loop, one store, one log.

    update     queue -> engine -> commit log -> (durable) -> publisher answered, subscribers notified
    query      on the loop for a slice of time, then in a fork
    subscribe  tried out, admitted, logged -> (durable) -> first answer; then whatever changes
    delayed    logged -> (durable) -> accepted; in its time, an update like any other

What waits for the disk is a value (pending.py); what becomes of it is in one place (settlement.py). Everything happens
in the thread of the loop, except writing to disk. What would hold the loop up happens in a fork.

Gates use the methods of `Broker`, and nothing behind them.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Hashable, Iterable, Iterator
from contextlib import AsyncExitStack
from itertools import chain
from typing import Any

from tidings.broker.durability.commit_log import CommitLog, Follower
from tidings.broker.durability.snapshots import Snapshots
from tidings.broker.errors import ShuttingDown
from tidings.broker.forks import Forks
from tidings.broker.pending import Ended
from tidings.broker.policy import Disk, Policy
from tidings.broker.queries import Queries, Writer
from tidings.broker.settlement import Settlement
from tidings.broker.spool import Spool
from tidings.broker.status import BrokerStatus, status_of
from tidings.broker.subscriptions.admission import Admission, Encode, Subscribe
from tidings.broker.subscriptions.external_answers import ExternalAnswers, ExternalEngine
from tidings.broker.subscriptions.external_batches import ExternalBatches
from tidings.broker.subscriptions.notifier import Notifier
from tidings.broker.subscriptions.outbox import Outboxes
from tidings.broker.subscriptions.registry import Subscriptions
from tidings.broker.subscriptions.restoration import Restoration
from tidings.broker.subscriptions.resumption import Resumption
from tidings.broker.subscriptions.roll import Roll
from tidings.broker.subscriptions.subscriber import Alias, Answered, ClientLink, Refused, Session, SessionId, Subscriber
from tidings.broker.updates.accepted import BoundUpdate, Done, GraphUpdate, Reply, TextUpdate, reply_to
from tidings.broker.updates.delayed import DelayedUpdates
from tidings.broker.updates.graph_change import GraphChange
from tidings.broker.updates.queue import UpdateQueue
from tidings.broker.updates.schedule import Delayed, Schedule
from tidings.engine.engine import Engine
from tidings.engine.explain import Explained
from tidings.engine.pauses import Pauses
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.engine.updates.operations import PreparedUpdate
from tidings.log.entry import Entry, Note
from tidings.sparql.algebra import Dataset
from tidings.sparql.binding import Bindable

log = logging.getLogger("tidings")


class Broker:
    """A knowledge graph that tells its subscribers what changes. `clock` tells the time in microseconds since 1970,
    `monotonic` counts seconds. Until it is given a disk, everything is forgotten with the process. If there is an
    `external` engine, that works out the answers of subscriptions, and here they are only told."""

    def __init__(
        self,
        engine: Engine,
        policy: Policy | None = None,
        *,
        clock: Callable[[], int],
        monotonic: Callable[[], float],
        external: ExternalEngine | None = None,
    ) -> None:
        self.engine = engine
        self.policy = policy = policy or Policy()
        self.disk: Disk | None = None
        self.snapshots: Snapshots | None = None
        self.sessions: dict[SessionId, Session] = {}
        self.ending = False
        self.seeding = False
        """Whether it was interrupted while what it begins with was loaded."""
        self.commit_log = log = CommitLog(clock, monotonic)
        self.forks = Forks(policy.workers)
        self.external = None if external is None else ExternalAnswers(external, policy.patience, monotonic)
        bounds, limits = policy.bounds, policy.limits(monotonic)
        planner = engine if external is None else Engine(Core(base=engine.core.base))
        planner.core.warnings = engine.core.warnings
        engine.core.warnings.tell = _log_warning
        self.subscriptions = Subscriptions(planner, log, monotonic, self.external)
        self.outboxes = Outboxes(log, bounds)
        self.notifier = Notifier(self.subscriptions, self.outboxes, bounds)
        self.queries = Queries(engine, log, self.forks, **limits)
        self.admission = Admission(
            self.subscriptions,
            self.outboxes,
            log,
            self.queries,
            self.forks,
            most=bounds.subscriptions,
            seconds=policy.seconds,
        )
        self.resumption = Resumption(
            self.subscriptions, self.admission, self.notifier, self.outboxes, log, bounds.grace
        )
        self.updates = UpdateQueue(engine, log, self.forks, self.notifier, self.spawn, most=policy.queue, **limits)
        self.delayed = DelayedUpdates(engine, log, self.updates, policy.delayed, self._set_timer)
        log.begin(
            Settlement(log, self.updates, self.delayed, self.notifier, self.outboxes, self.admission, self.resumption)
        )
        self._restoration = Restoration(self.subscriptions, self.outboxes, self.resumption)
        self._next_session = 0
        self._pauses = Pauses()
        self._tasks = asyncio.TaskGroup()
        self._stack = AsyncExitStack()
        self._timer: asyncio.TimerHandle | None = None

    # -- life ---------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> "Broker":
        await self._stack.enter_async_context(self._tasks)
        self._wake()
        return self

    def freeze(self) -> None:
        """What is there now will stay: keep it out of the garbage collector's way."""
        self._pauses.settle()

    def abort_forks(self) -> None:
        """End whatever still takes its time."""
        self.forks.kill()

    async def __aexit__(self, *failure: object) -> None:
        """Answer what was accepted, write what is left, end what is still running."""
        self.end()
        await self.finish()
        self.forks.kill()
        await self._stack.aclose()
        self.commit_log.group_commit.close()

    def end(self) -> None:
        """Accept nothing more."""
        self.ending = self.updates.ending = True
        if self._timer is not None:
            self._timer.cancel()

    async def finish(self) -> None:
        """Until every update that was accepted has been answered."""
        while self.updates.accepted:
            await asyncio.sleep(0.005)
        await self.commit_log.group_commit.idle()

    def check_log(self) -> None:
        """Raises LogBroken: what is on disk is uncertain, and nothing may be promised any more."""
        self.commit_log.check()

    def _check_open(self) -> None:
        if self.ending:
            raise ShuttingDown("the broker is stopping")

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Have something done that has to end before the broker does."""
        self._tasks.create_task(work)

    # -- time ---------------------------------------------------------------------------------------------------

    def now(self) -> int:
        """What the clock says, in microseconds since 1970."""
        return self.commit_log.clock()

    def run_due(self) -> None:
        """Whatever is due: delayed updates, subscriptions that nobody came back for, a snapshot."""
        self.delayed.carry_out(self.now())
        self.resumption.release_absent()
        self.admission.release_unanswered()
        if self.snapshots is not None and self.snapshots.is_due():
            self.spawn(self.snapshots.write())

    def _wake(self) -> None:
        try:
            self.run_due()
        finally:
            self._set_timer()

    def _set_timer(self) -> None:
        """Look again when the next delayed update is due, or in a second."""
        if self._timer is not None:
            self._timer.cancel()
        if not self.ending:
            pause = self.delayed.pause(self.now())
            self._timer = asyncio.get_running_loop().call_later(pause, self._wake)

    # -- updates and queries ------------------------------------------------------------------------------------

    @property
    def store(self) -> Store:
        """What is known, to be looked at."""
        return self.engine.store

    def submit(self, text: str, dataset: Dataset | None, reply: Reply, publisher: str | None = None) -> None:
        """Take in an update; `reply` is called once it is durable, or has failed. The log says who published it."""
        self.updates.submit(TextUpdate(text, dataset, reply, publisher))

    def prepare(self, text: str, dataset: Dataset | None = None) -> Bindable[PreparedUpdate]:
        """An update to be submitted again and again, its variables bound each time to other terms."""
        return self.engine.prepare_template(text, dataset)

    def submit_bound(
        self,
        template: Bindable[PreparedUpdate],
        bindings: dict[str, str],
        reply: Reply,
        publisher: str | None = None,
    ) -> None:
        """Take in a prepared update with its variables bound. Raises what is wrong with the bindings."""
        self.updates.submit(BoundUpdate(*template.bind(bindings), reply, publisher))

    async def update(self, text: str, dataset: Dataset | None = None, publisher: str | None = None) -> Done:
        """As `submit`, for those who wait. An update is carried out even if its publisher does not wait for it."""
        answer: asyncio.Future[Done] = asyncio.get_running_loop().create_future()
        self.updates.submit(TextUpdate(text, dataset, reply_to(answer), publisher))
        return await answer

    async def change(self, change: GraphChange, publisher: str | None = None) -> Done:
        """As `update`, for a change of one graph."""
        answer: asyncio.Future[Done] = asyncio.get_running_loop().create_future()
        self.updates.submit(GraphUpdate(change, reply_to(answer), publisher))
        return await answer

    async def query(self, text: str, dataset: Dataset | None, write: Writer) -> Spool:
        """The answer to a query, as a document."""
        self._check_open()
        return await self.queries.answer(text, dataset, write)

    async def delay(self, text: str, dataset: Dataset | None, at: int, publisher: str | None = None) -> Delayed:
        """Accept an update for an instant, in microseconds since 1970."""
        self._check_open()
        return await self.delayed.accept(text, dataset, at, publisher)

    async def cancel_delayed(self, number: str) -> Delayed:
        """Take a delayed update off the schedule. Raises UnknownDelayed."""
        return await self.delayed.cancel(number)

    @property
    def schedule(self) -> Schedule:
        """The delayed updates that wait, to be looked at."""
        return self.delayed.schedule

    # -- subscriptions ------------------------------------------------------------------------------------------

    def connect(self, link: ClientLink) -> Session:
        self._next_session += 1
        session = Session(SessionId(self._next_session), link)
        self.sessions[session.id] = session
        return session

    def disconnect(self, session: Session) -> None:
        if self.sessions.pop(session.id, None) is not None:
            self.resumption.disconnect(session)

    def filled(self, session: Session) -> None:
        """A connection takes nothing more for now."""
        self.outboxes.filled(session)

    def drained(self, session: Session) -> None:
        """A connection has room again."""
        self.outboxes.drained(session)

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
        encode: Encode | None = None,
    ) -> None:
        """Begin a subscription. What cannot be answered is refused, and leaves nothing.

        Raises what can be told at once; `refused` is called with what turns out later. `encode` is how the gate writes
        a first answer that is so long that a fork has to do it; without, it is done here."""
        self._check_open()
        self._pauses.count()
        wish = Subscribe(session, text, dataset, alias, rights, answered, refused)
        if not self.admission.begin(wish):
            self.spawn(self.admission.subscribe_later(wish, encode))

    def resume(
        self, session: Session, spuid: str, sequence: int, alias: Alias, answered: Answered, refused: Refused
    ) -> None:
        """Take up a subscription again, after the notification of this number. Raises UnknownSubscription."""
        self._check_open()
        self.resumption.begin(session, spuid, sequence, alias, answered, refused)

    def unsubscribe(self, session: Session | None, spuid: str, ended: Ended) -> None:
        """End a subscription of one's own. Raises UnknownSubscription, NotYours."""
        self.subscriptions.unsubscribe(session, spuid, ended)

    @property
    def roll(self) -> Roll:
        """Who came and who ended, in order: what a reader of all subscriptions goes by."""
        return self.subscriptions.roll

    def subscribers(self) -> Iterator[Subscriber]:
        """All subscriptions, in the order in which they were made."""
        return iter(self.subscriptions)

    def find(self, spuid: str) -> Subscriber:
        """A subscription by its name. Raises UnknownSubscription."""
        return self.subscriptions.find(spuid)

    def explain(self, subscriber: Subscriber) -> Explained:
        """The plan of a subscription."""
        return self.subscriptions.explain(subscriber)

    def absence(self, subscriber: Subscriber) -> float | None:
        """Seconds that the client of a subscription has been away; None if it is there."""
        return self.subscriptions.absence(subscriber)

    def external_batches(self) -> ExternalBatches:
        """Where the batches of the external engine are to be told."""
        assert self.external is not None
        return ExternalBatches(self.external, self.subscriptions, self.notifier)

    # -- commits ------------------------------------------------------------------------------------------------

    @property
    def last_commit(self) -> int:
        return self.commit_log.last_commit

    def follow(self, follower: Follower) -> None:
        """Have somebody told of every commit once it is durable."""
        self.commit_log.followers.add(follower)

    def unfollow(self, follower: Follower) -> None:
        self.commit_log.followers.discard(follower)

    def status(self) -> BrokerStatus:
        """What it holds, and what it has counted."""
        return status_of(self)

    # -- snapshot and log ---------------------------------------------------------------------------------------

    def _notes(self) -> Iterable[Note]:
        unfinished = (Note("seeding", {}),) if self.seeding else ()
        return chain(unfinished, self._restoration.notes(), self.delayed.notes())

    def begin_at(self, commit: int, time: int) -> None:
        """The store was filled from a snapshot after this commit."""
        self.commit_log.last_commit, self.commit_log.time = commit, time
        self.notifier.last_commit = commit

    def attach(self, disk: Disk) -> None:
        """From here on, whatever happens is written down. The store is what the disk says it is."""
        self.disk = disk
        self.commit_log.attach(disk.journal, disk.durability)
        self.snapshots = Snapshots(
            disk.folder,
            disk.journal,
            self.store,
            self._notes,
            self.commit_log,
            self.updates,
            self.forks,
            every=self.policy.snapshot_bytes,
            keep=self.policy.keep_log,
            behind=disk.behind,
        )

    def restore(self, entry: Entry) -> None:
        """Do again what an entry of the log says was done. Nobody is connected yet."""
        self.commit_log.time = max(self.commit_log.time, entry.time)
        if entry.delta:
            commit = self.engine.absorb(entry.delta, now=entry.time)
            self.commit_log.last_commit = entry.commit
            self.notifier.end_failed(commit.failures)
            self.notifier.notify(entry.commit, entry.time, commit)
        for note in entry.notes:
            self.restore_note(note)

    def restore_note(self, note: Note) -> None:
        match note.kind:
            case "delay" | "cancel" | "done":
                self.delayed.restore(note)
            case "seeding":
                self.seeding = True
            case "seeded":
                self.seeding = False
            case "publisher":
                pass  # it says whose commit it was, and is no part of what is true now
            case _:
                self._restoration.restore(note)


def _log_warning(warning: str) -> None:
    log.warning("a request was accepted, but %s", warning)
