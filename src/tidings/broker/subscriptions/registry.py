"""The registry of all subscriptions, with their clients, present or away.

A subscription outlives its connection by the time of `grace`. It also survives a restart of the broker, because its
beginning and its end are in the log.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from msgspec.structs import replace

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.errors import NotYours, UnknownSubscription
from tidings.broker.ownership import is_anothers, may_manage
from tidings.broker.pending import Ended, PendingUnsubscription
from tidings.broker.subscriptions.external_answers import ExternalAnswers
from tidings.broker.subscriptions.roll import Roll, Sees
from tidings.broker.subscriptions.subscriber import Alias, Session, Spuid, Subscriber
from tidings.engine.engine import Engine
from tidings.engine.explain import Explained
from tidings.engine.leaves import values_of
from tidings.engine.plans.newcomer import Newcomer
from tidings.engine.plans.planning import Apart
from tidings.engine.plans.spu import Spu
from tidings.log.entry import Note
from tidings.model.access import Rights
from tidings.model.errors import TidingsError
from tidings.model.results import Row
from tidings.model.zset import ZSet
from tidings.sparql.algebra import Dataset


class Approximate(Protocol):
    """Matches events with approximate subscriptions."""

    def enter(self, subscriber: Subscriber) -> None: ...
    def leave(self, subscriber: Subscriber) -> None: ...
    def explain(self, subscriber: Subscriber) -> Explained | None: ...


class Context(Protocol):
    """Keeps the quads that concern the subscriptions in memory, if the whole graph is not."""

    def enter(self, subscriber: Subscriber) -> None: ...
    def leave(self, subscriber: Subscriber) -> None: ...
    def move(self, subscriber: Subscriber, rights: Rights) -> None:
        """Fetch what the subscriber sees with other rights. Raises an error if that is impossible."""


class Subscriptions:
    """The registry. `clock` counts seconds. With external answers, the engine only makes plans, and holds no quads."""

    def __init__(
        self,
        engine: Engine,
        commit_log: CommitLog,
        clock: Callable[[], float],
        external: ExternalAnswers | None = None,
    ) -> None:
        self._engine = engine
        self._commit_log = commit_log
        self._clock = clock
        self.external = external
        self._by_spuid: dict[Spuid, Subscriber] = {}
        self.by_handle: dict[int, Subscriber] = {}
        """The subscribers by the number that the engine has given to each subscription."""
        self.roll = Roll()
        self._absent: dict[Subscriber, None] = {}
        self._owned: Counter[str] = Counter()
        self.behind: dict[Spu, int] = {}
        """Plans that are behind, each with the last commit of which its subscribers were notified."""
        self._waiting: dict[Spu, list[asyncio.Future[None]]] = {}
        self.approximate: Approximate | None = None
        self.context: Context | None = None

    def __len__(self) -> int:
        return len(self._by_spuid)

    def __iter__(self) -> Iterator[Subscriber]:
        return iter(self._by_spuid.values())

    def __contains__(self, subscriber: Subscriber) -> bool:
        return subscriber.spuid in self._by_spuid

    def get(self, spuid: str) -> Subscriber | None:
        return self._by_spuid.get(Spuid(spuid))

    def find(self, spuid: str) -> Subscriber:
        """A subscription by its name. Raises UnknownSubscription."""
        subscriber = self._by_spuid.get(Spuid(spuid))
        if subscriber is None:
            raise UnknownSubscription(f"there is no subscription {spuid}; it may have been released")
        return subscriber

    def explain(self, subscriber: Subscriber) -> Explained:
        matched = None if self.approximate is None else self.approximate.explain(subscriber)
        explained = matched or self._engine.explain(subscriber.handle.id)
        return explained if self.external is None else replace(explained, cost=None)

    def dearest(self, sees: Sees) -> Iterator[Subscriber]:
        """The subscriptions that the reader may see, those with the most expensive plans first, grouped by plan."""
        dearest = self._engine.stragglers.costs.dearest()
        for handle in (each for spu in dearest for leaf in spu.members.values() for each in values_of(leaf)):
            subscriber = self.by_handle.get(handle.id)
            if subscriber is not None and sees(subscriber.owner):
                yield subscriber
        known = set(dearest)
        yield from (each for each in self.roll.all(sees) if each.handle.spu not in known)

    def depends_on_chance(self, subscriber: Subscriber) -> bool:
        """Whether the same data may give another answer next time, and it is worked out here."""
        return self.external is None and self._engine.depends_on_chance(subscriber.handle)

    def is_evaluated_every_time(self, subscriber: Subscriber) -> bool:
        """Whether two evaluations of its query may differ, so that only the one of the plan counts."""
        return self._engine.is_evaluated_every_time(subscriber.handle)

    # -- beginning and end --------------------------------------------------------------------------------------

    def enter(
        self, spuid: Spuid, text: str, dataset: Dataset | None, alias: Alias, rights: Rights, owner: str | None = None
    ) -> tuple[Subscriber, Iterable[Row]]:
        """A new subscriber, and its first answer, evaluated lazily."""
        handle, rows = self._engine.enroll(text, dataset, now=self._commit_log.now(), rights=rights)
        return self._entered(Subscriber(spuid, text, dataset, alias, rights, handle, owner)), rows

    def _entered(self, subscriber: Subscriber) -> Subscriber:
        try:
            if self.approximate is not None:
                self.approximate.enter(subscriber)
        except BaseException:
            self._engine.unsubscribe(subscriber.handle.id)
            raise
        self._by_spuid[subscriber.spuid] = subscriber
        if subscriber.owner is not None:
            self._owned[subscriber.owner] += 1
        self.roll.enter(subscriber)
        self.by_handle[subscriber.handle.id] = subscriber
        if self.context is not None:
            self.context.enter(subscriber)
        return subscriber

    def expect(
        self, text: str, dataset: Dataset | None, rights: Rights, *, most: int, apart: Apart | None = None
    ) -> Newcomer:
        """A newcomer, whose first answer a fork will find; up to `most` quads that concern it may change meanwhile."""
        return self._engine.expect(text, dataset, now=self._commit_log.now(), rights=rights, most=most, apart=apart)

    async def plan_apart(self, text: str, dataset: Dataset | None, rights: Rights) -> Apart | None:
        """Parse and plan a large query in a thread. Returns None if the event loop changed what the thread read."""
        planning = self._engine.planning
        try:
            apart = await asyncio.to_thread(planning.apart, text, dataset, rights)
        except (RuntimeError, KeyError):  # the event loop changed a dict while the thread iterated over it
            return None
        planning.take_over(apart)
        return apart

    def discard(self, apart: Apart) -> None:
        """Forget a plan that was made apart, after its use or without."""
        self._engine.planning.discard(apart)

    def give_up(self, newcomer: Newcomer) -> None:
        """Remove a newcomer that has not become a subscriber."""
        self._engine.give_up(newcomer)

    def welcome(
        self, spuid: Spuid, newcomer: Newcomer, alias: Alias, owner: str | None
    ) -> tuple[Subscriber, ZSet[Row]]:
        """As `enter`, for a newcomer. Returns the change since its first answer."""
        handle, changes = self._engine.welcome(newcomer, now=self._commit_log.now())
        query = newcomer.query
        return self._entered(Subscriber(spuid, query.text, query.dataset, alias, query.rights, handle, owner)), changes

    def answer(self, subscriber: Subscriber) -> Iterable[Row]:
        """The present answer of a subscription, evaluated lazily."""
        return subscriber.handle.spu.answer(subscriber.handle.member)

    def move(self, subscriber: Subscriber, rights: Rights) -> Iterable[Row]:
        """Give a subscription other rights. Returns the answer with these, evaluated lazily."""
        now = self._commit_log.now()
        if self.context is not None:
            self.context.move(subscriber, rights)
        rows = self._engine.move(subscriber.handle, subscriber.text, subscriber.dataset, now=now, rights=rights)
        subscriber.rights = rights
        self.roll.move(subscriber)
        if self.approximate is not None:
            self.approximate.enter(subscriber)
        return rows

    def remove(self, subscriber: Subscriber) -> None:
        """Remove a subscription, without a note in the log."""
        self.detach(subscriber)
        self._absent.pop(subscriber, None)
        if self._by_spuid.pop(subscriber.spuid, None) is not None and subscriber.owner is not None:
            self._owned[subscriber.owner] -= 1
            if not self._owned[subscriber.owner]:
                del self._owned[subscriber.owner]
        self.roll.leave(subscriber)
        if self.approximate is not None:
            self.approximate.leave(subscriber)
        if self.by_handle.pop(subscriber.handle.id, None) is not None:
            self._engine.unsubscribe(subscriber.handle.id)
        if self.context is not None:
            self.context.leave(subscriber)
        if self.external is not None:
            self.external.end(subscriber)

    def release(self, subscriber: Subscriber, ended: Ended | None = None) -> None:
        """End a subscription, and write that to the log."""
        self.remove(subscriber)
        self._commit_log.note(Note("unsubscribe", {"spuid": subscriber.spuid}), PendingUnsubscription(ended))

    def find_managed(self, spuid: str, asker: str | None, rights: Rights) -> Subscriber:
        """As `find`, for an asker that wants to see the subscription. Raises UnknownSubscription."""
        subscriber = self.get(spuid)
        if subscriber is None or not may_manage(subscriber.owner, asker, rights):
            raise UnknownSubscription(f"there is no subscription {spuid}; it may have been released")
        return subscriber

    def find_own(self, spuid: str, asker: str | None, rights: Rights) -> Subscriber:
        """As `find`, for an asker that wants to resume or end it. Raises UnknownSubscription, NotYours."""
        subscriber = self.find(spuid)
        if is_anothers(subscriber.owner, asker, rights):
            raise NotYours("the subscription belongs to somebody else")
        return subscriber

    def unsubscribe(self, session: Session | None, spuid: str, ended: Ended, asker: str | None, rights: Rights) -> None:
        """End a subscription of the asker. Raises UnknownSubscription, NotYours."""
        subscriber = self.find_own(spuid, asker, rights)
        if subscriber.owner is None and subscriber.session not in {session, None}:
            raise NotYours("the subscription belongs to another connection")
        self.release(subscriber, ended)

    def owned(self, owner: str) -> int:
        """How many subscriptions a subject has."""
        return self._owned[owner]

    def of_owner(self, owner: str | None) -> list[Subscriber]:
        """The subscriptions of a subject; None stands for those without an owner."""
        return [each for each in self._by_spuid.values() if each.owner == owner]

    # -- plans that are behind ----------------------------------------------------------------------------------

    async def until_caught_up(self, spu: Spu) -> None:
        """Wait until a plan that is behind has caught up. Raises the error if it cannot."""
        caught_up: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(spu, []).append(caught_up)
        await caught_up

    def caught_up(self, spu: Spu, error: TidingsError | None = None) -> None:
        """A plan has caught up, or failed to: wake the tasks that wait for it."""
        for waiting in self._waiting.pop(spu, ()):
            if waiting.done():
                continue
            if error is None:
                waiting.set_result(None)
            else:
                waiting.set_exception(error)

    # -- connections --------------------------------------------------------------------------------------------

    def attach(self, subscriber: Subscriber, session: Session) -> None:
        subscriber.session = session
        session.subscribers[subscriber.spuid] = subscriber
        self._absent.pop(subscriber, None)

    def detach(self, subscriber: Subscriber) -> None:
        session, subscriber.session = subscriber.session, None
        if session is not None:
            session.subscribers.pop(subscriber.spuid, None)
            session.owed.pop(subscriber, None)

    @property
    def absent(self) -> int:
        """Subscriptions whose client is away."""
        return len(self._absent)

    def absence(self, subscriber: Subscriber) -> float | None:
        """How many seconds its client has been away; None if it is connected."""
        return self._clock() - subscriber.left if subscriber in self._absent else None

    def mark_absent(self, subscriber: Subscriber) -> None:
        subscriber.left = self._clock()
        self._absent[subscriber] = None

    def absent_for(self, seconds: float) -> list[Subscriber]:
        """The subscriptions whose client has been away for at least so long."""
        before = self._clock() - seconds
        found: list[Subscriber] = []
        for subscriber in self._absent:  # in the order in which they left
            if subscriber.left > before:
                break
            found.append(subscriber)
        return found
