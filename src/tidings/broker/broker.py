"""THE STORY of the broker: one loop, one store, one log.

    update     queue -> engine -> commit log -> (durable) -> publisher answered, subscribers notified
    query      on the loop for a slice of time, then in a fork
    subscribe  first answer found, logged -> (durable) -> told; then whatever changes
    delayed    logged -> (durable) -> accepted; in its time, an update like any other

Everything that waits for the disk is a value of pending.py, and settlement.py says what happens to it then. All code
runs in the thread of the event loop, except writing to disk. Work that would block the loop for long runs in a fork.

Gates use only the methods of `Broker`.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import AsyncExitStack
from functools import partial
from time import thread_time
from typing import Any

from tidings.broker.alarm import Alarm
from tidings.broker.approximate.matching import Matching
from tidings.broker.asking.in_memory import Asking, InMemory
from tidings.broker.checking import check
from tidings.broker.durability.commit_log import CommitLog, Follower
from tidings.broker.durability.facts import Facts
from tidings.broker.durability.snapshots import Snapshots
from tidings.broker.errors import NoEndpoint, ShuttingDown
from tidings.broker.forks import Forks
from tidings.broker.ownership import Ownership, RightsOf, everything, may_manage
from tidings.broker.pending import Ended
from tidings.broker.policy import Disk, Policy
from tidings.broker.queries import Queries, Writer
from tidings.broker.record.held import held_by
from tidings.broker.record.intents import Intents
from tidings.broker.record.seam import Reconciled, Record, Side
from tidings.broker.settlement import Settlement
from tidings.broker.spool import Spool
from tidings.broker.status import BrokerStatus, status_of
from tidings.broker.subscriptions.admission import Admission
from tidings.broker.subscriptions.external_answers import ExternalAnswers, ExternalEngine
from tidings.broker.subscriptions.external_batches import ExternalBatches
from tidings.broker.subscriptions.notifier import Notifier
from tidings.broker.subscriptions.outbox import Outboxes
from tidings.broker.subscriptions.registry import Subscriptions
from tidings.broker.subscriptions.request import Encode, SubscriptionRequest
from tidings.broker.subscriptions.restoration import Restoration
from tidings.broker.subscriptions.resumption import Resumption
from tidings.broker.subscriptions.rights_changes import RightsChanges
from tidings.broker.subscriptions.roll import Roll, Sees
from tidings.broker.subscriptions.stragglers import Stragglers
from tidings.broker.subscriptions.subscriber import Alias, Answered, ClientLink, Refused, Session, SessionId, Subscriber
from tidings.broker.updates.accepted import BoundUpdate, Done, GraphUpdate, Reply, TextUpdate
from tidings.broker.updates.delayed import DelayedUpdates
from tidings.broker.updates.graph_change import GraphChange
from tidings.broker.updates.queue import UpdateQueue, check_length
from tidings.broker.updates.rehearsal import Rehearsal
from tidings.broker.updates.schedule import Delayed, Schedule
from tidings.broker.updates.seeding import Seeding
from tidings.broker.updates.ticks import Ticks
from tidings.engine.engine import Engine
from tidings.engine.explain import Explained
from tidings.engine.pauses import Pauses
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.engine.updates.operations import PreparedUpdate
from tidings.model.access import ALL_RIGHTS, Rights
from tidings.model.terms import Term
from tidings.protocol.sparql_http import Kind
from tidings.sparql.algebra import Dataset
from tidings.sparql.binding import Bindable
from tidings.sparql.prepared import Parameters

_log_warning = partial(logging.getLogger("tidings").warning, "a request was accepted, but %s")


class Broker:
    """A knowledge graph that notifies its subscribers of changes. `clock` tells the time in microseconds since 1970,
    `monotonic` counts seconds. Without `attach`, the broker keeps everything in memory only. If there is an `external`
    engine, it works out the answers of subscriptions, and the broker only sends them.

    With each request, a gate passes the rights of its sender and its subject (`owner`, `asker`). `rights_of` tells the
    rights that a subject has later. With security off, every client has all rights, and nothing has an owner."""

    def __init__(
        self, engine: Engine, policy: Policy | None = None, *, clock: Callable[[], int],
        monotonic: Callable[[], float], external: ExternalEngine | None = None, rights_of: RightsOf = everything,
    ) -> None:  # fmt: skip
        self.engine = engine
        self.ownership = ownership = Ownership(rights_of)
        self.policy = policy = policy or Policy()
        self.disk: Disk | None = None
        self.record: Record | None = None
        """The endpoint that is the store of record; None if the broker's own store is."""
        self.snapshots: Snapshots | None = None
        self.sessions: dict[SessionId, Session] = {}
        self.ending = False
        self.now = clock
        self.commit_log = log = CommitLog(clock, monotonic)
        self.forks = Forks(policy.workers, policy.memory)
        self.external = None if external is None else ExternalAnswers(external, policy.patience, monotonic)
        bounds, limits = policy.bounds, policy.limits(monotonic)
        planner = engine if external is None else Engine(Core(base=engine.core.base, most_parts=engine.core.most_parts))
        planner.core.warnings = engine.core.warnings
        engine.core.warnings.tell = _log_warning
        self.subscriptions = subscriptions = Subscriptions(planner, log, monotonic, self.external)
        self.outboxes = outboxes = Outboxes(log, bounds)
        self.notifier = notifier = Notifier(subscriptions, outboxes, bounds)
        self.queries = Queries(engine, log, self.forks, planning=policy.planning, answer=policy.answer, **limits)
        self._pauses = Pauses()
        self.stragglers = Stragglers(engine, subscriptions, log, self.forks, notifier, self.spawn, policy, monotonic)
        self.matching = Matching(engine, subscriptions, notifier, log, policy.words, policy.slice(thread_time))
        self.admission = Admission(
            subscriptions, log, self.queries, self.forks, ownership, bounds, self.spawn, self._pauses,
            self.matching, seconds=policy.seconds,
        )  # fmt: skip
        self.resumption = Resumption(subscriptions, self.admission, notifier, outboxes, log, bounds.grace)
        self.updates = UpdateQueue(
            engine, log, self.forks, notifier, self.stragglers, self.spawn, self.matching, most=policy.queue, **limits
        )
        self.asking: Asking = InMemory(engine, self.queries, self.forks, self.updates.whole, clock)
        self.ticks = Ticks(engine, log, notifier, self.stragglers)
        self._alarm = alarm = Alarm(self.run_due, lambda: self.ticks.pause(clock(), self.delayed.pause(clock())))
        self.delayed = DelayedUpdates(engine, log, self.updates, ownership, policy.delayed, alarm.set)
        self.changes = RightsChanges(subscriptions, notifier, outboxes, self.queries, log, self.updates, self.spawn)
        self.seeding = Seeding()
        self.facts = facts = Facts(log)
        self.intents = Intents(log)
        facts.keep(Seeding.KINDS, self.seeding)
        facts.keep(Intents.KINDS, self.intents)
        self.held = held_by(subscriptions, engine, facts)
        facts.keep(Restoration.KINDS, Restoration(subscriptions, outboxes, self.resumption, self.changes))
        facts.keep(DelayedUpdates.KINDS, self.delayed)
        facts.keep(Matching.KINDS, self.matching)
        settlement = Settlement(
            log, self.updates, self.delayed, notifier, outboxes, self.admission, self.resumption,
            self.changes, self.stragglers, self.ticks, facts,
        )  # fmt: skip
        log.begin(settlement)
        self._next_session = 0
        self._tasks, self._stack = asyncio.TaskGroup(), AsyncExitStack()

    # -- life ---------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> "Broker":
        await self._stack.enter_async_context(self._tasks)
        self.engine.stragglers.slice = self.policy.work  # from here on; a replay, with no client waiting, has no slices
        self.ticks.begin(self._alarm.set)
        self._alarm.ring()
        return self

    def freeze(self) -> None:
        """Exempt all objects that exist now from garbage collection: they will stay."""
        self._pauses.settle()

    def abort_forks(self) -> None:
        """End all queries that run in forks."""
        self.queries.abort()

    async def __aexit__(self, *failure: object) -> None:
        """Answer all accepted updates, write the rest of the log, and end all forks and tasks."""
        self.end()
        await self.finish()
        self.forks.kill()
        await self._stack.aclose()
        self.commit_log.group_commit.close()

    def end(self) -> None:
        """Accept nothing more."""
        self.ending = self.updates.ending = True
        self._alarm.end()

    async def finish(self) -> None:
        """Wait until every accepted update has been answered."""
        while self.updates.accepted:
            await asyncio.sleep(0.005)
        await self.commit_log.idle()

    def check_log(self) -> None:
        """Raises LogBroken if a failed write left the content of the log uncertain: no update is accepted then."""
        self.commit_log.check()

    def _check_open(self) -> None:
        if self.ending:
            raise ShuttingDown("the broker is stopping")

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Start a task that must end before the broker does."""
        self._tasks.create_task(work)

    # -- time ---------------------------------------------------------------------------------------------------

    def run_due(self) -> None:
        """Carry out whatever is due: delayed updates, changes by the clock, ends of absent subscriptions, snapshots."""
        self.delayed.carry_out(self.now())
        self.ticks.carry_out(self.now())
        self.resumption.release_absent()
        self.admission.release_unanswered()
        if self.snapshots is not None and self.snapshots.is_due():
            self.spawn(self.snapshots.write())

    # -- updates and queries ------------------------------------------------------------------------------------

    @property
    def store(self) -> Store:
        return self.engine.store

    async def has_graph(self, name: Term, rights: Rights = ALL_RIGHTS) -> bool:
        """Whether there is a graph of this name, as far as the asker may know."""
        return rights.read.has(name) and await self.asking.has_graph(name)

    def submit(
        self, text: str, dataset: Dataset | None, reply: Reply, publisher: str | None = None,
        rights: Rights = ALL_RIGHTS,
    ) -> None:  # fmt: skip
        """Accept an update; `reply` is called once it is durable, or has failed. The log has its `publisher`."""
        self.updates.submit(TextUpdate(text, dataset, reply, publisher, rights=rights))

    def prepare(self, text: str, dataset: Dataset | None = None) -> Bindable[PreparedUpdate]:
        """Prepare an update that a client will submit repeatedly, each time with other terms for its variables."""
        check_length(text)
        return self.engine.prepare_template(text, dataset)

    def submit_bound(
        self, bound: tuple[PreparedUpdate, Parameters], reply: Reply, publisher: str | None = None,
        rights: Rights = ALL_RIGHTS,
    ) -> None:  # fmt: skip
        """Accept a prepared update whose variables are bound."""
        self.updates.bound += 1
        self.updates.submit(BoundUpdate(*bound, reply, publisher, rights=rights))

    async def update(
        self, text: str, dataset: Dataset | None = None, publisher: str | None = None, rights: Rights = ALL_RIGHTS
    ) -> Done:
        """As `submit`, but wait for the outcome. If the caller stops waiting, the update is still carried out."""
        return await self.updates.outcome(lambda reply: TextUpdate(text, dataset, reply, publisher, rights=rights))

    async def rehearse(self, text: str, dataset: Dataset | None, rights: Rights, client: str | None) -> Rehearsal:
        """What an update would change. Nothing changes."""
        self._check_open()
        return await self.asking.rehearse(text, dataset, rights, client)

    async def change(self, change: GraphChange, publisher: str | None = None, rights: Rights = ALL_RIGHTS) -> Done:
        """As `update`, for a change of one graph."""
        return await self.updates.outcome(lambda reply: GraphUpdate(change, reply, publisher, rights=rights))

    async def query(
        self, text: str, dataset: Dataset | None, write: Writer, rights: Rights = ALL_RIGHTS,
        client: str | None = None, at: int | None = None,
    ) -> Spool:  # fmt: skip
        """The answer to a query as a document, now or after the commit `at`. A fork counts as a share of `client`."""
        self._check_open()
        return await self.asking.answer(text, dataset, write, rights, client, at)

    async def check(self, kind: Kind, text: str, dataset: Dataset | None, client: str | None) -> tuple[str, ...]:
        """Parse a request without carrying it out. Returns warnings; raises what is wrong with the text."""
        return await check(self.engine.core, self.matching, self.forks, kind, text, dataset, client)

    async def delay(
        self, text: str, dataset: Dataset | None, at: int, publisher: str | None = None, *, owner: str | None = None,
        rights: Rights = ALL_RIGHTS,
    ) -> Delayed:  # fmt: skip
        """Accept an update that is to be carried out at the instant `at`, in microseconds since 1970."""
        self._check_open()
        return await self.delayed.accept(text, dataset, at, publisher, owner, rights)

    async def cancel_delayed(self, number: str, asker: str | None = None, rights: Rights = ALL_RIGHTS) -> Delayed:
        """Cancel a delayed update of the asker. Raises UnknownDelayed, NotYours."""
        return await self.delayed.cancel(number, asker, rights)

    @property
    def schedule(self) -> Schedule:
        """The delayed updates that wait, for reading only."""
        return self.delayed.schedule

    # -- subscriptions ------------------------------------------------------------------------------------------

    def connect(self, link: ClientLink, client: str | None = None) -> Session:
        self._next_session += 1
        session = Session(SessionId(self._next_session), link, client, self.now())
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
        self, session: Session, text: str, dataset: Dataset | None, alias: Alias, answered: Answered, refused: Refused,
        *, rights: Rights = ALL_RIGHTS, owner: str | None = None, encode: Encode | None = None,
    ) -> None:  # fmt: skip
        """Begin a subscription: `answered` is called with its first answer, or `refused` with an error. Errors that are
        found at once are raised instead. With `encode`, a fork encodes a first answer that takes long."""
        self._check_open()
        self._pauses.count()
        request = SubscriptionRequest(session, text, dataset, alias, rights, answered, refused, owner, encode)
        self.admission.begin(request)

    def resume(
        self, session: Session, spuid: str, sequence: int, alias: Alias, answered: Answered, refused: Refused, *,
        asker: str | None = None, rights: Rights = ALL_RIGHTS, encode: Encode | None = None,
    ) -> None:  # fmt: skip
        """Resume a subscription of the asker after this notification. Raises UnknownSubscription, NotYours."""
        self._check_open()
        self.resumption.begin(session, spuid, sequence, alias, answered, refused, encode, asker, rights)

    def unsubscribe(
        self, session: Session | None, spuid: str, ended: Ended, *, asker: str | None = None,
        rights: Rights = ALL_RIGHTS,
    ) -> None:  # fmt: skip
        """End a subscription of the asker. Raises UnknownSubscription, NotYours."""
        self.subscriptions.unsubscribe(session, spuid, ended, asker, rights)

    def rights_changed(self, owner: str | None, rights: Rights, reason: str, session: Session | None = None) -> None:
        """A subject has other rights from now on, on one connection or on all. Notify its subscriptions of rows that
        they may see now, or no longer, or end them. Later requests of the subject must bring the new rights."""
        self.admission.rights_changed(owner, rights, session)
        self.resumption.rights_changed(owner, rights, session)
        there: Iterable[Subscriber] = session.subscribers.values() if session else self.subscriptions.of_owner(owner)
        self.changes.begin([each for each in there if each.owner == owner], rights, reason, session)

    @property
    def roll(self) -> Roll:
        """The subscriptions that began and ended, in order. `may_manage` tells which of them a reader may see."""
        return self.subscriptions.roll

    def subscribers(self, asker: str | None = None, rights: Rights = ALL_RIGHTS) -> Iterator[Subscriber]:
        """All subscriptions that the asker may manage, in the order in which they were made."""
        return (each for each in self.subscriptions if may_manage(each.owner, asker, rights))

    def find(self, spuid: str, asker: str | None = None, rights: Rights = ALL_RIGHTS) -> Subscriber:
        """A subscription by its name. Raises UnknownSubscription, also if the asker may not know of it."""
        return self.subscriptions.find_managed(spuid, asker, rights)

    def explain(self, subscriber: Subscriber, rights: Rights = ALL_RIGHTS) -> Explained:
        """The plan of a subscription. Only administrators learn how many subscriptions share it."""
        explained = self.subscriptions.explain(subscriber)
        return explained if rights.administer else explained.alone()

    def dearest(self, sees: Sees) -> Iterator[Subscriber]:
        """The subscriptions that the reader may see, those with the most expensive plans first."""
        return self.subscriptions.dearest(sees)

    def absence(self, subscriber: Subscriber) -> float | None:
        """How many seconds the client of a subscription has been away; None if it is connected."""
        return self.subscriptions.absence(subscriber)

    def external_batches(self) -> ExternalBatches:
        """Takes the batches of the external engine."""
        assert self.external is not None
        return ExternalBatches(self.external, self.subscriptions, self.notifier)

    # -- commits ------------------------------------------------------------------------------------------------

    @property
    def last_commit(self) -> int:
        return self.commit_log.last_commit

    def follow(self, follower: Follower, rights: Rights = ALL_RIGHTS) -> None:
        """Call `follower` with every commit once it is durable, restricted to the quads that the rights allow it."""
        self.commit_log.followers[follower] = rights.read

    def unfollow(self, follower: Follower) -> None:
        self.commit_log.followers.pop(follower, None)

    def status(self, rights: Rights = ALL_RIGHTS) -> BrokerStatus:
        """The size of the graphs that the rights allow to read, and all counters."""
        return status_of(self, rights)

    @property
    def age(self) -> float:
        """Seconds since the store of record last agreed with the broker's answers; mostly 0."""
        return 0.0 if self.record is None else self.record.status().age

    async def reconcile(self, right: Side, *, dry: bool = False) -> Reconciled:
        """Turn changes that others made in the store of record into a commit, or undo them there. Raises NoEndpoint."""
        self._check_open()
        if self.record is None:
            raise NoEndpoint("there is no endpoint behind this broker: nobody but itself changes what it holds")
        return await self.record.reconcile(right, dry=dry)

    # -- snapshot and log ---------------------------------------------------------------------------------------

    def attach(self, disk: Disk) -> None:
        """From here on, write everything to the log. The store must be in the state that the log has."""
        self.disk = disk
        self.commit_log.attach(disk.journal, disk.durability)
        self.snapshots = Snapshots(
            disk.folder, disk.journal, self.store, self.facts.notes, self.commit_log, self.updates, self.forks,
            every=self.policy.snapshot_bytes, keep=self.policy.keep_log, behind=disk.behind,
        )  # fmt: skip
