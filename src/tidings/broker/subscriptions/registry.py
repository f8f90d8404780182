"""All subscriptions: who has which, and whose client is away.

A subscription outlives its connection for a grace time, and the broker: its beginning and its end are in the log.
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
    """Who matches events for the subscriptions that are approximate."""

    def enter(self, subscriber: Subscriber) -> None: ...
    def leave(self, subscriber: Subscriber) -> None: ...
    def explain(self, subscriber: Subscriber) -> Explained | None: ...


class Context(Protocol):
    """Who sees to it that what concerns the subscriptions is in memory, where the graph is not."""

    def enter(self, subscriber: Subscriber) -> None: ...
    def leave(self, subscriber: Subscriber) -> None: ...
    def move(self, subscriber: Subscriber, rights: Rights) -> None:
        """Raises what keeps it from seeing other graphs."""


class Subscriptions:
    """The registry. `clock` counts seconds. With external answers, the engine only makes plans: it holds no quads."""

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
        """By the number that the engine has given to the subscription."""
        self.roll = Roll()
        self._absent: dict[Subscriber, None] = {}
        self._owned: Counter[str] = Counter()
        self.behind: dict[Spu, int] = {}
        """Plans that are behind, and the last commit of which their subscribers were told."""
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
        """Those that can be seen, the ones first whose plans have cost most; those of one plan are together."""
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
        """Whether no evaluation of its query is like the other, and the one that counts is that of its plan."""
        return self._engine.is_evaluated_every_time(subscriber.handle)

    # -- beginning and end --------------------------------------------------------------------------------------

    def enter(
        self, spuid: Spuid, text: str, dataset: Dataset | None, alias: Alias, rights: Rights, owner: str | None = None
    ) -> tuple[Subscriber, Iterable[Row]]:
        """A new subscriber, and its first answer, which is found as it is read."""
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
        """Somebody whose first answer is to be found in a fork; up to `most` quads may change meanwhile."""
        return self._engine.expect(text, dataset, now=self._commit_log.now(), rights=rights, most=most, apart=apart)

    async def plan_apart(self, text: str, dataset: Dataset | None, rights: Rights) -> Apart | None:
        """Read and plan a large query while everything else goes on; None if that got in its way."""
        planning = self._engine.planning
        try:
            apart = await asyncio.to_thread(planning.apart, text, dataset, rights)
        except (RuntimeError, KeyError):  # what it looked at was changed under its hands
            return None
        planning.take_over(apart)
        return apart

    def discard(self, apart: Apart) -> None:
        """What was planned apart has been used, or never will be."""
        self._engine.planning.discard(apart)

    def give_up(self, newcomer: Newcomer) -> None:
        """Leave nothing of a newcomer that has not become a subscriber."""
        self._engine.give_up(newcomer)

    def welcome(
        self, spuid: Spuid, newcomer: Newcomer, alias: Alias, owner: str | None
    ) -> tuple[Subscriber, ZSet[Row]]:
        """As `enter`, for a newcomer; and the change since its first answer."""
        handle, changes = self._engine.welcome(newcomer, now=self._commit_log.now())
        wish = newcomer.wish
        return self._entered(Subscriber(spuid, wish.text, wish.dataset, alias, wish.rights, handle, owner)), changes

    def answer(self, subscriber: Subscriber) -> Iterable[Row]:
        """Its present answer, found as it is read."""
        return subscriber.handle.spu.answer(subscriber.handle.member)

    def move(self, subscriber: Subscriber, rights: Rights) -> Iterable[Row]:
        """Go on under other rights; the answer with these, found as it is read."""
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
        """Leave nothing of a subscription; the log is not told."""
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
        """End a subscription, whoever has it."""
        self.remove(subscriber)
        self._commit_log.note(Note("unsubscribe", {"spuid": subscriber.spuid}), PendingUnsubscription(ended))

    def find_managed(self, spuid: str, asker: str | None, rights: Rights) -> Subscriber:
        """As `find`, for whoever wants to see what a subscription is. Raises UnknownSubscription."""
        subscriber = self.get(spuid)
        if subscriber is None or not may_manage(subscriber.owner, asker, rights):
            raise UnknownSubscription(f"there is no subscription {spuid}; it may have been released")
        return subscriber

    def find_own(self, spuid: str, asker: str | None, rights: Rights) -> Subscriber:
        """As `find`, for whoever wants to go on with a subscription or end it. Raises UnknownSubscription, NotYours."""
        subscriber = self.find(spuid)
        if is_anothers(subscriber.owner, asker, rights):
            raise NotYours("the subscription belongs to somebody else")
        return subscriber

    def unsubscribe(self, session: Session | None, spuid: str, ended: Ended, asker: str | None, rights: Rights) -> None:
        """End a subscription of one's own. Raises UnknownSubscription, NotYours."""
        subscriber = self.find_own(spuid, asker, rights)
        if subscriber.owner is None and subscriber.session not in {session, None}:
            raise NotYours("the subscription belongs to another connection")
        self.release(subscriber, ended)

    def owned(self, owner: str) -> int:
        """How many subscriptions a subject has."""
        return self._owned[owner]

    def of_owner(self, owner: str | None) -> list[Subscriber]:
        """The subscriptions that a subject has; None for those that are nobody's."""
        return [each for each in self._by_spuid.values() if each.owner == owner]

    # -- plans that are behind ----------------------------------------------------------------------------------

    async def until_caught_up(self, spu: Spu) -> None:
        """Until a plan that is behind is so no more. Raises what keeps it from that."""
        caught_up: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(spu, []).append(caught_up)
        await caught_up

    def caught_up(self, spu: Spu, error: TidingsError | None = None) -> None:
        """A plan is not behind any more, or will not be followed."""
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
        """Seconds that its client has been away; None if it is there."""
        return self._clock() - subscriber.left if subscriber in self._absent else None

    def mark_absent(self, subscriber: Subscriber) -> None:
        subscriber.left = self._clock()
        self._absent[subscriber] = None

    def absent_for(self, seconds: float) -> list[Subscriber]:
        """Those whose client has been away for so long."""
        before = self._clock() - seconds
        found: list[Subscriber] = []
        for subscriber in self._absent:  # in the order in which they left
            if subscriber.left > before:
                break
            found.append(subscriber)
        return found
