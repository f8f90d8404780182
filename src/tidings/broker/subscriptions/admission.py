"""How a subscription begins: its first answer found within the limits, its beginning written to the log.

    within a slice of time   found on the loop, and sent once it is durable
    what takes longer        a fork finds and encodes it, and changes wait; a plan with a state is tried out before
    external answers         asked for once the subscription is durable

What cannot be answered is refused, and leaves nothing.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeAlias
from uuid import uuid4

from msgspec import Struct

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.errors import TooManySubscriptions
from tidings.broker.forks import Forks
from tidings.broker.ownership import Ownership
from tidings.broker.pending import Pending, PendingBarrier, PendingRequest, PendingSubscription
from tidings.broker.queries import Queries
from tidings.broker.subscriptions.outbox import Outboxes
from tidings.broker.subscriptions.registry import Subscriptions
from tidings.broker.subscriptions.stored import Record
from tidings.broker.subscriptions.subscriber import Alias, Answered, Parcel, Refused, Session, Spuid, Subscriber
from tidings.log.entry import Note
from tidings.model.access import Rights
from tidings.model.errors import MayNotSubscribe, TidingsError
from tidings.model.results import Row
from tidings.model.zset import ZSet
from tidings.sparql.algebra import Dataset

PLANNED_AT_ONCE = 100
"""Parts of a query that are planned without a trial: that takes some milliseconds."""

Encode: TypeAlias = Callable[[Parcel], bytes]
"""How a gate writes a first answer that is so long that a fork has to do it."""


class Subscribe(Struct, frozen=True):
    """What a client asks for."""

    session: Session
    text: str
    dataset: Dataset | None
    alias: Alias
    rights: Rights
    answered: Answered
    refused: Refused
    owner: str | None = None


class Admission:
    """Begins subscriptions; a broker holds `most` of them."""

    def __init__(
        self,
        subscriptions: Subscriptions,
        outboxes: Outboxes,
        commit_log: CommitLog,
        queries: Queries,
        forks: Forks,
        ownership: Ownership,
        *,
        most: int,
        seconds: float | None,
    ) -> None:
        self._ownership = ownership
        self._subscriptions = subscriptions
        self._outboxes = outboxes
        self._commit_log = commit_log
        self._queries = queries
        self._forks = forks
        self._most = most
        self._seconds = seconds

    def begin(self, wish: Subscribe) -> bool:
        """Begin a subscription, if its first answer can be found within a slice of time; False if it cannot.

        Raises whatever is wrong with the query."""
        if not wish.rights.subscribe:
            raise MayNotSubscribe("you may not subscribe to any graph")
        if self._subscriptions.external is not None:
            self.subscribe(wish)
            return True
        if self._is_large(wish):
            return False
        found = self._queries.first_answer(wish.text, wish.dataset, wish.rights)
        if found is None:
            return False
        self.subscribe(wish, found)
        return True

    def _is_large(self, wish: Subscribe) -> bool:
        """Whether it may take longer to plan a subscription than the loop may be held."""
        parts = self._queries.parts(wish.text, wish.dataset)
        return parts is None or parts > PLANNED_AT_ONCE

    def subscribe(self, wish: Subscribe, found: list[Row] | None = None) -> None:
        """Begin a subscription; it is sent the whole answer, perhaps `found` before, once that is durable."""
        subscriber, rows = self._enter(wish)
        external = self._subscriptions.external
        if external is not None:
            external.wait(subscriber, wish.answered, wish.refused)
            self._note(subscriber, PendingRequest(subscriber))
            return
        same = subscriber.rights.subscribe == wish.rights.subscribe
        if found is not None and same and not self._subscriptions.is_evaluated_every_time(subscriber):
            rows = found  # those of the plan are never read, and so not found a second time
        try:
            first = self._first(subscriber, rows)
        except BaseException:
            self.withdraw(subscriber)
            raise
        self._note(subscriber, PendingSubscription(subscriber, first, wish.answered, wish.refused))

    async def subscribe_later(self, wish: Subscribe, encode: Encode | None) -> None:
        """As `subscribe`, for a first answer that takes its time."""
        try:
            if self._is_large(wish):
                await self._queries.check_planning(wish.text, wish.dataset)
            if encode is None or self._queries.keeps_state(wish.text, wish.dataset):
                await self._queries.rehearse(wish.text, wish.dataset, wish.rights)
            if encode is None:
                if wish.session.open:
                    self.subscribe(wish)
                return
            async with self._forks.room:
                if wish.session.open:
                    await self._subscribe_in_fork(wish, encode)
        except TidingsError as error:
            wish.refused(error)

    async def _subscribe_in_fork(self, wish: Subscribe, encode: Encode) -> None:
        """A fork, made now, finds and encodes the first answer; changes wait until it has been sent.

        Raises what keeps it from being so, and nothing of the subscription is left then."""
        keeps_state = self._queries.keeps_state(wish.text, wish.dataset)
        subscriber, rows = self._enter(wish)
        rights = subscriber.rights
        whole = partial(self._queries.whole_answer, wish.text, wish.dataset, rights)
        find = partial(iter, rows) if keeps_state else whole
        subscriber.flushing = True
        barrier = PendingBarrier(asyncio.get_running_loop().create_future())
        try:
            log = self._commit_log
            parcel = Parcel(log.last_commit, log.now(), subscriber.handle.variables, ZSet())
            fork = self._forks.launch(partial(self._encoded, encode, subscriber, find), seconds=self._seconds)
            self._note(subscriber, barrier)
            parcel.encodings[encode] = await self._forks.outcome(fork, seconds=self._seconds)
            await barrier.durable
        except BaseException:
            self.withdraw(subscriber)
            raise
        if subscriber in self._subscriptions:
            if subscriber.rights is not rights:
                self._subscriptions.release(subscriber)
                raise MayNotSubscribe("your rights changed before there was a first answer; subscribe again")
            wish.answered(subscriber, parcel, False)
            subscriber.flushing = False
            self._outboxes.flush(subscriber)

    def _encoded(self, encode: Encode, subscriber: Subscriber, find: Callable[[], Iterable[Row]]) -> bytes:
        return encode(self._first(subscriber, find()))

    def _enter(self, wish: Subscribe) -> tuple[Subscriber, Iterable[Row]]:
        subscriptions = self._subscriptions
        if len(subscriptions) >= self._most:
            raise TooManySubscriptions(f"there are {self._most:,} subscriptions, the limit of max_subscriptions")
        rights = self._ownership.still(wish.owner, wish.rights)  # the wish may have waited for a fork
        if not rights.subscribe:
            raise MayNotSubscribe("you may not subscribe to any graph")
        self._commit_log.check()
        if subscriptions.external is not None:
            subscriptions.external.check(wish.text)
            if not rights.subscribe.everything:
                raise MayNotSubscribe("the engine that works out answers here knows no rights to some graphs only")
        spuid = Spuid(f"urn:uuid:{uuid4()}")
        subscriber, rows = subscriptions.enter(spuid, wish.text, wish.dataset, wish.alias, rights, wish.owner)
        subscriptions.attach(subscriber, wish.session)
        return subscriber, rows

    def _first(self, subscriber: Subscriber, rows: Iterable[Row]) -> Parcel:
        """The first answer as a change from nothing."""
        whole = ZSet.owning(dict(Counter(rows)))
        return Parcel(self._commit_log.last_commit, self._commit_log.time, subscriber.handle.variables, whole)

    def _note(self, subscriber: Subscriber, pending: Pending) -> None:
        note = Note("subscribe", Record.of(subscriber, whole=False).to_json())
        self._commit_log.note(note, pending)

    # -- for the settlement -------------------------------------------------------------------------------------

    def withdraw(self, subscriber: Subscriber) -> None:
        """A subscription that could not begin: nothing of it is left."""
        self._subscriptions.remove(subscriber)

    def request(self, subscriber: Subscriber) -> None:
        """Ask the external engine for the answers of a subscription that is durable."""
        assert self._subscriptions.external is not None
        self._subscriptions.external.request(subscriber)

    def withdraw_request(self, subscriber: Subscriber, error: TidingsError) -> None:
        """As `withdraw`, for a subscription that an external engine was to answer."""
        assert self._subscriptions.external is not None
        self._subscriptions.external.refuse(subscriber, error)
        self.withdraw(subscriber)

    def release_unanswered(self) -> None:
        """End the subscriptions that have waited for a first answer for too long."""
        if self._subscriptions.external is not None:
            for subscriber in self._subscriptions.external.refuse_overdue():
                self._subscriptions.release(subscriber)
