"""THE STORY of the broker: one loop, one store, one log.

    update     queue -> engine -> commit log -> (durable) -> publisher answered, subscribers notified
    query      on the loop for a slice of time, then in a fork
    subscribe  first answer found, logged -> (durable) -> told; then whatever changes
    delayed    logged -> (durable) -> accepted; in its time, an update like any other

What waits for the disk is a value (pending.py); what becomes of it is in one place (settlement.py). Everything happens
in the thread of the loop, except writing to disk. What would hold the loop up happens in a fork.

Gates use the methods of `Broker`, and nothing behind them.
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
from tidings.broker.subscriptions.restoration import Restoration
from tidings.broker.subscriptions.resumption import Resumption
from tidings.broker.subscriptions.rights_changes import RightsChanges
from tidings.broker.subscriptions.roll import Roll, Sees
from tidings.broker.subscriptions.stragglers import Stragglers
from tidings.broker.subscriptions.subscriber import Alias, Answered, ClientLink, Refused, Session, SessionId, Subscriber
from tidings.broker.subscriptions.wish import Encode, Subscribe
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
    """A knowledge graph that tells its subscribers what changes. `clock` tells the time in microseconds since 1970,
    `monotonic` counts seconds. Until it is given a disk, everything is forgotten with the process. If there is an
    `external` engine, that works out the answers of subscriptions, and here they are only told.

    Whoever passes a request on says what its sender may do (`rights`) and who that is (`owner`, `asker`); `rights_of`
    says it when the time of a request comes later. Without, everybody may do everything, and nothing has an owner."""

    def __init__(
        self, engine: Engine, policy: Policy | None = None, *, clock: Callable[[], int],
        monotonic: Callable[[], float], external: ExternalEngine | None = None, rights_of: RightsOf = everything,
    ) -> None:  # fmt: skip
        self.engine = engine
        self.ownership = ownership = Ownership(rights_of)
        self.policy = policy = policy or Policy()
        self.disk: Disk | None = None
        self.record: Record | None = None
        """The store of record behind it; without, there is none but its own."""
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
        self.engine.stragglers.slice = self.policy.work  # while the log is replayed, nobody is held up
        self.ticks.begin(self._alarm.set)
        self._alarm.ring()
        return self

    def freeze(self) -> None:
        """What is there now will stay: keep it out of the garbage collector's way."""
        self._pauses.settle()

    def abort_forks(self) -> None:
        """End whatever still takes its time."""
        self.queries.abort()

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
        self._alarm.end()

    async def finish(self) -> None:
        """Until every update that was accepted has been answered."""
        while self.updates.accepted:
            await asyncio.sleep(0.005)
        await self.commit_log.idle()

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

    def run_due(self) -> None:
        """Whatever is due: delayed updates, what time changes, subscriptions that nobody came back for, a snapshot."""
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
        """Take in an update; `reply` is called once it is durable, or has failed. The log says who published it."""
        self.updates.submit(TextUpdate(text, dataset, reply, publisher, rights=rights))

    def prepare(self, text: str, dataset: Dataset | None = None) -> Bindable[PreparedUpdate]:
        """An update to be submitted again and again, its variables bound each time to other terms."""
        check_length(text)
        return self.engine.prepare_template(text, dataset)

    def submit_bound(
        self, bound: tuple[PreparedUpdate, Parameters], reply: Reply, publisher: str | None = None,
        rights: Rights = ALL_RIGHTS,
    ) -> None:  # fmt: skip
        """Take in a prepared update whose variables were bound."""
        self.updates.bound += 1
        self.updates.submit(BoundUpdate(*bound, reply, publisher, rights=rights))

    async def update(
        self, text: str, dataset: Dataset | None = None, publisher: str | None = None, rights: Rights = ALL_RIGHTS
    ) -> Done:
        """As `submit`, for those who wait. An update is carried out even if its publisher does not wait for it."""
        return await self.updates.outcome(lambda reply: TextUpdate(text, dataset, reply, publisher, rights=rights))

    async def rehearse(self, text: str, dataset: Dataset | None, rights: Rights, client: str | None) -> Rehearsal:
        """What an update would do; nothing is done."""
        self._check_open()
        return await self.asking.rehearse(text, dataset, rights, client)

    async def change(self, change: GraphChange, publisher: str | None = None, rights: Rights = ALL_RIGHTS) -> Done:
        """As `update`, for a change of one graph."""
        return await self.updates.outcome(lambda reply: GraphUpdate(change, reply, publisher, rights=rights))

    async def query(
        self, text: str, dataset: Dataset | None, write: Writer, rights: Rights = ALL_RIGHTS,
        client: str | None = None, at: int | None = None,
    ) -> Spool:  # fmt: skip
        """The answer to a query, as a document, now or after the commit `at`. What takes long is `client`'s share."""
        self._check_open()
        return await self.asking.answer(text, dataset, write, rights, client, at)

    async def check(self, kind: Kind, text: str, dataset: Dataset | None, client: str | None) -> tuple[str, ...]:
        """Read a request, and do nothing with it; what is doubtful about it. Raises what is wrong with it."""
        return await check(self.engine.core, self.matching, self.forks, kind, text, dataset, client)

    async def delay(
        self, text: str, dataset: Dataset | None, at: int, publisher: str | None = None, *, owner: str | None = None,
        rights: Rights = ALL_RIGHTS,
    ) -> Delayed:  # fmt: skip
        """Accept an update for an instant, in microseconds since 1970."""
        self._check_open()
        return await self.delayed.accept(text, dataset, at, publisher, owner, rights)

    async def cancel_delayed(self, number: str, asker: str | None = None, rights: Rights = ALL_RIGHTS) -> Delayed:
        """Take a delayed update of one's own off the schedule. Raises UnknownDelayed, NotYours."""
        return await self.delayed.cancel(number, asker, rights)

    @property
    def schedule(self) -> Schedule:
        """The delayed updates that wait, to be looked at."""
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
        """Begin a subscription. Raises what speaks against it at once; `refused` is called with what turns out later,
        and nothing is left. `encode` is how a fork writes a first answer that is long; without, it is done here."""
        self._check_open()
        self._pauses.count()
        self.admission.begin(Subscribe(session, text, dataset, alias, rights, answered, refused, owner, encode))

    def resume(
        self, session: Session, spuid: str, sequence: int, alias: Alias, answered: Answered, refused: Refused, *,
        asker: str | None = None, rights: Rights = ALL_RIGHTS, encode: Encode | None = None,
    ) -> None:  # fmt: skip
        """Go on with a subscription of one's own after this notification. Raises UnknownSubscription, NotYours."""
        self._check_open()
        self.resumption.begin(session, spuid, sequence, alias, answered, refused, encode, asker, rights)

    def unsubscribe(
        self, session: Session | None, spuid: str, ended: Ended, *, asker: str | None = None,
        rights: Rights = ALL_RIGHTS,
    ) -> None:  # fmt: skip
        """End a subscription of one's own. Raises UnknownSubscription, NotYours."""
        self.subscriptions.unsubscribe(session, spuid, ended, asker, rights)

    def rights_changed(self, owner: str | None, rights: Rights, reason: str, session: Session | None = None) -> None:
        """A subject has other rights from here on, on one connection or on all: its subscriptions are told what they
        may see now, or that they have ended. What it asks for from here on has to come with the new rights."""
        self.admission.rights_changed(owner, rights, session)
        self.resumption.rights_changed(owner, rights, session)
        there: Iterable[Subscriber] = session.subscribers.values() if session else self.subscriptions.of_owner(owner)
        self.changes.begin([each for each in there if each.owner == owner], rights, reason, session)

    @property
    def roll(self) -> Roll:
        """Who came and who ended, in order. Whom a reader may see is said by `may_manage`."""
        return self.subscriptions.roll

    def subscribers(self, asker: str | None = None, rights: Rights = ALL_RIGHTS) -> Iterator[Subscriber]:
        """All subscriptions that the asker may manage, in the order in which they were made."""
        return (each for each in self.subscriptions if may_manage(each.owner, asker, rights))

    def find(self, spuid: str, asker: str | None = None, rights: Rights = ALL_RIGHTS) -> Subscriber:
        """A subscription by its name. Raises UnknownSubscription, also if the asker may not know of it."""
        return self.subscriptions.find_managed(spuid, asker, rights)

    def explain(self, subscriber: Subscriber, rights: Rights = ALL_RIGHTS) -> Explained:
        """The plan of a subscription; with how many it is shared is for administrators."""
        explained = self.subscriptions.explain(subscriber)
        return explained if rights.administer else explained.alone()

    def dearest(self, sees: Sees) -> Iterator[Subscriber]:
        """Subscriptions that can be seen, beginning with those whose plans have cost most."""
        return self.subscriptions.dearest(sees)

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

    def follow(self, follower: Follower, rights: Rights = ALL_RIGHTS) -> None:
        """Have somebody told of every commit once it is durable, and of those of its quads that they may read."""
        self.commit_log.followers[follower] = rights.read

    def unfollow(self, follower: Follower) -> None:
        self.commit_log.followers.pop(follower, None)

    def status(self, rights: Rights = ALL_RIGHTS) -> BrokerStatus:
        """What it holds, as far as that may be read, and what it has counted."""
        return status_of(self, rights)

    @property
    def age(self) -> float:
        """Seconds since the store of record was last known to agree with what is answered here; mostly 0."""
        return 0.0 if self.record is None else self.record.status().age

    async def reconcile(self, right: Side, *, dry: bool = False) -> Reconciled:
        """Make what others changed in the store of record a commit, or undo it there. Raises NoEndpoint."""
        self._check_open()
        if self.record is None:
            raise NoEndpoint("there is no endpoint behind this broker: nobody but itself changes what it holds")
        return await self.record.reconcile(right, dry=dry)

    # -- snapshot and log ---------------------------------------------------------------------------------------

    def attach(self, disk: Disk) -> None:
        """From here on, whatever happens is written down. The store is what the disk says it is."""
        self.disk = disk
        self.commit_log.attach(disk.journal, disk.durability)
        self.snapshots = Snapshots(
            disk.folder, disk.journal, self.store, self.facts.notes, self.commit_log, self.updates, self.forks,
            every=self.policy.snapshot_bytes, keep=self.policy.keep_log, behind=disk.behind,
        )  # fmt: skip
