"""Begins subscriptions: finds the first answer within the limits, and writes the subscription to the log.

    within a slice of time   the event loop evaluates the first answer, which is sent once it is durable
    if it takes longer       a fork evaluates and encodes it, and builds the state of the plan; the broker adds up the
                             changes since then, and sends them as the first notification
    external answers         the broker passes the subscription to the external engine once it is durable

A subscription that cannot be answered is refused, and leaves nothing behind.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from uuid import uuid4

from msgspec import structs

from tidings.broker.approximate.clause import is_approximate, text_of
from tidings.broker.approximate.matching import Matching
from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.errors import NotInContextMode, TooExpensive, TooManySubscriptions, TooMuchChanged
from tidings.broker.forks import Forks
from tidings.broker.ownership import Ownership
from tidings.broker.pending import Pending, PendingBarrier, PendingRequest, PendingSubscription
from tidings.broker.queries import Queries
from tidings.broker.spawn import Spawn
from tidings.broker.spool import check_size
from tidings.broker.subscriptions.external_answers import ExternalAnswers
from tidings.broker.subscriptions.outbox import Bounds
from tidings.broker.subscriptions.registry import Subscriptions
from tidings.broker.subscriptions.request import Context, Encode, Found, SubscriptionRequest, Work
from tidings.broker.subscriptions.stored import Record
from tidings.broker.subscriptions.subscriber import (
    Parcel,
    Session,
    Spuid,
    Subscriber,
)
from tidings.engine.behind.stragglers import PlanIsBehind
from tidings.engine.pauses import Pauses
from tidings.engine.plans.newcomer import Newcomer
from tidings.engine.plans.planning import Apart
from tidings.engine.plans.spu import Spu
from tidings.log.entry import Note
from tidings.model.access import Rights
from tidings.model.errors import MayNotSubscribe, TidingsError, internal_error
from tidings.model.results import Row
from tidings.model.zset import ZSet
from tidings.sparql.evaluate.context import Overrun

log = logging.getLogger("tidings")

PLANNED_AT_ONCE = 100
"""The event loop plans queries of at most so many parts, in some milliseconds. A fork first tries larger ones."""


class Admission:
    """Begins subscriptions. `seconds` limits the time of a first answer; `spawn` starts tasks."""

    def __init__(
        self,
        subscriptions: Subscriptions,
        commit_log: CommitLog,
        queries: Queries,
        forks: Forks,
        ownership: Ownership,
        bounds: Bounds,
        spawn: Spawn,
        pauses: Pauses,
        matching: Matching,
        *,
        seconds: float | None,
    ) -> None:
        self._ownership = ownership
        self._subscriptions = subscriptions
        self._commit_log = commit_log
        self._queries = queries
        self._forks = forks
        self._bounds = bounds
        self._spawn = spawn
        self._pauses = pauses
        self._matching = matching
        self._seconds = seconds
        self._expected: dict[Newcomer, SubscriptionRequest] = {}
        self.context: Context | None = None
        """Fetches what concerns a subscription, if the graph is not in memory."""

    def begin(self, request: SubscriptionRequest) -> None:
        """Begin a subscription at once, or when its first answer is found. Raises what is wrong with the query."""
        if not request.rights.subscribe:
            raise MayNotSubscribe("you may not subscribe to any graph")
        if self.context is not None and (is_approximate(request.text) or text_of(request.text) is not None):
            raise NotInContextMode("approximate subscriptions need the whole graph, and only a part is in memory")
        if is_approximate(request.text):
            request = structs.replace(request, text=self._matching.query_for(request.text))
        if text_of(request.text) is not None and not self._matching.is_ready:
            self._spawn(self._begin_when_ready(request))
            return
        if self._subscriptions.external is not None:
            self._request(request, self._subscriptions.external)
            return
        if self.context is not None:
            self._spawn(self._begin_in_context(request, self.context))
        elif (later := self._begin_here(request)) is not None:
            self._spawn(later)

    def _begin_here(self, request: SubscriptionRequest) -> Work | None:
        """Begin a subscription to what is in memory. Returns the work that is left if it takes longer than a slice."""
        if self._is_large(request):
            return self._subscribe_later(request)
        try:
            return self._begin(request)
        except PlanIsBehind as plan:
            return self._begin_when_caught_up(request, plan.spu)

    def _begin(self, request: SubscriptionRequest) -> Work | None:
        """Raises PlanIsBehind."""
        found = self._queries.first_answer(request.text, request.dataset, request.rights)
        if found is None:
            return self._subscribe_later(request)
        try:
            self._subscribe(request, found)
        except Overrun:  # to build the state of the plan takes longer than to evaluate the answer
            return self._subscribe_later(request)
        return None

    async def _begin_in_context(self, request: SubscriptionRequest, context: Context) -> None:
        """Begin a subscription to a graph that is not in memory: fetch what concerns it first."""
        with _refusing(request):
            if self._is_large(request):
                await self._queries.check_planning(request.text, request.dataset, request.client)
            async with context.kept(request.text, request.dataset, request.rights):
                if request.session.open and (later := self._begin_here(request)) is not None:
                    await later

    async def _begin_when_caught_up(self, request: SubscriptionRequest, spu: Spu) -> None:
        """Begin a subscription whose plan exists already, and is behind: wait until it has caught up."""
        later: Work | None = None
        with _refusing(request):
            async with self._in_time():
                while request.session.open:
                    await self._subscriptions.until_caught_up(spu)
                    with suppress(PlanIsBehind):
                        later = self._begin(request)
                        break
            if later is not None:
                await later

    @asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        """Raises TooExpensive."""
        try:
            async with asyncio.timeout(self._seconds):
                yield
        except TimeoutError:
            raise TooExpensive("others have the same subscription, and it is behind; try again later") from None

    async def _begin_when_ready(self, request: SubscriptionRequest) -> None:
        """Begin the first approximate subscription: load the word vectors before."""
        with _refusing(request):
            await self._matching.get_ready()
            if request.session.open:
                self.begin(request)

    def _is_large(self, request: SubscriptionRequest) -> bool:
        """Whether planning a subscription may block the event loop for too long."""
        parts = self._queries.parts(request.text, request.dataset)
        return parts is None or parts > PLANNED_AT_ONCE

    def _request(self, request: SubscriptionRequest, external: ExternalAnswers) -> None:
        """Begin a subscription that the external engine is to answer."""
        subscriber, _ = self._enter(request)
        external.wait(subscriber, request.answered, request.refused)
        self._note(subscriber, PendingRequest(subscriber))

    def _subscribe(self, request: SubscriptionRequest, found: list[Row]) -> None:
        """Begin a subscription, and send the answer that was found, once it is durable."""
        subscriber, rows = self._enter(request)
        same = subscriber.rights.subscribe == request.rights.subscribe
        if same and not self._subscriptions.is_evaluated_every_time(subscriber):
            rows = found  # `_enter` returns lazy rows: if nothing reads them, the answer is not evaluated twice
        try:
            first = self._first(subscriber, rows)
        except BaseException:
            self.withdraw(subscriber)
            raise
        self._note(subscriber, PendingSubscription(subscriber, first, request.answered, request.refused))

    async def _subscribe_later(self, request: SubscriptionRequest) -> None:
        """As `_subscribe`, with a first answer that a fork evaluates."""
        newcomer: Newcomer | None = None
        apart: Apart | None = None
        try:
            with _refusing(request):
                is_large = self._is_large(request)
                if is_large:
                    await self._queries.check_planning(request.text, request.dataset, request.client)
                async with self._forks.room.taken(request.client):
                    if is_large and request.session.open:
                        rights = self._check(request)
                        apart = await self._subscriptions.plan_apart(request.text, request.dataset, rights)
                    if not request.session.open:
                        return
                    newcomer = self._subscriptions.expect(
                        request.text, request.dataset, self._check(request), most=self._bounds.rows, apart=apart
                    )
                    self._expected[newcomer] = request
                    first, memories = await self._found(newcomer, request.encode)
                await self._take_up(newcomer, memories)
                async with self._in_time():
                    while request.session.open and not self._is_welcome(request, newcomer, first):
                        await self._subscriptions.until_caught_up(newcomer.shared)
        finally:
            if newcomer is not None:
                self._expected.pop(newcomer, None)
                self._subscriptions.give_up(newcomer)
            if apart is not None:
                self._subscriptions.discard(apart)

    async def _found(self, newcomer: Newcomer, encode: Encode | None) -> tuple[Parcel, list[list[bytes]]]:
        """Make a fork now. It finds the first answer, and the state of the plan for the newcomer."""
        first = Parcel(self._commit_log.last_commit, self._commit_log.now(), newcomer.variables, ZSet())
        barrier = PendingBarrier(asyncio.get_running_loop().create_future())
        fork = self._forks.launch(partial(self._find, newcomer, first, encode), seconds=self._seconds)
        try:
            self._commit_log.wait(barrier)
            found = await self._forks.outcome(fork, seconds=self._seconds)
            await barrier.durable  # an answer must not show commits that a crash could still undo
        finally:
            barrier.durable.cancel()
        if encode is None or found.encoded is None:
            first = _answer(first, found.rows)
        else:
            first.encodings[encode] = found.encoded
        return first, found.memories

    def _find(self, newcomer: Newcomer, first: Parcel, encode: Encode | None) -> Found:
        """Runs in the fork."""
        beginning = self._queries.begin(newcomer)
        if encode is None:
            return Found(None, beginning.answer, beginning.memories)
        encoded = encode(_answer(first, beginning.answer))
        check_size(len(encoded), self._queries.most_bytes)
        return Found(encoded, [], beginning.memories)

    async def _take_up(self, newcomer: Newcomer, memories: list[list[bytes]]) -> None:
        """Add the state that the fork has built to the plan, in portions, so that other work goes on in between."""
        for items in newcomer.take(memories):
            self._pauses.count(items)
            await asyncio.sleep(0)

    def _is_welcome(self, request: SubscriptionRequest, newcomer: Newcomer, first: Parcel) -> bool:
        """Begin the subscription. Returns False if its plan is behind."""
        try:
            self._welcome(request, newcomer, first)
        except PlanIsBehind:
            return False
        return True

    def _welcome(self, request: SubscriptionRequest, newcomer: Newcomer, first: Parcel) -> None:
        """Begin the subscription. Once that is durable, the client gets the first answer, and then the change since."""
        rights = self._check(request)
        if newcomer not in self._expected or rights.subscribe != newcomer.query.rights.subscribe:
            raise MayNotSubscribe("your rights changed before there was a first answer; subscribe again")
        if newcomer.is_outdated():
            raise TooMuchChanged(
                f"while the first answer was being found, more than {self._bounds.rows:,} quads that concern it "
                "changed, the limit of outbox_rows, or a literal came back with its language tag spelt otherwise; "
                "try again later"
            )
        subscriber, changes = self._subscriptions.welcome(_new_name(), newcomer, request.alias, request.owner)
        self._subscriptions.attach(subscriber, request.session)
        if changes:
            now = self._commit_log
            subscriber.pending = Parcel(now.last_commit, now.time, newcomer.variables, changes)
        self._note(subscriber, PendingSubscription(subscriber, first, request.answered, request.refused))

    def rights_changed(self, owner: str | None, rights: Rights, session: Session | None) -> None:
        """Give up the newcomers of a subject whose rights have changed, on one connection or on all."""
        for newcomer, request in list(self._expected.items()):
            concerned = request.owner == owner and (session is None or request.session is session)
            if concerned and newcomer.query.rights.subscribe != rights.subscribe:
                del self._expected[newcomer]

    def _enter(self, request: SubscriptionRequest) -> tuple[Subscriber, Iterable[Row]]:
        rights = self._check(request)
        subscriptions = self._subscriptions
        text, dataset = request.text, request.dataset
        subscriber, rows = subscriptions.enter(_new_name(), text, dataset, request.alias, rights, request.owner)
        subscriptions.attach(subscriber, request.session)
        return subscriber, rows

    def _check(self, request: SubscriptionRequest) -> Rights:
        """The rights with which the subscription begins. Raises an error if a limit or the rights forbid it."""
        subscriptions, most = self._subscriptions, self._bounds.subscriptions
        if len(subscriptions) >= most:
            raise TooManySubscriptions(f"there are {most:,} subscriptions, the limit of max_subscriptions")
        own = subscriptions.owned(request.owner) if request.owner is not None else len(request.session.subscribers)
        if own >= self._bounds.client_subscriptions:
            raise TooManySubscriptions(f"you have {own:,} subscriptions, the limit of client_subscriptions")
        rights = self._ownership.still(request.owner, request.rights)  # the request may have waited for a fork
        if not rights.subscribe:
            raise MayNotSubscribe("you may not subscribe to any graph")
        self._commit_log.check()
        if subscriptions.external is not None:
            subscriptions.external.check(request.text)
        return rights

    def _first(self, subscriber: Subscriber, rows: Iterable[Row]) -> Parcel:
        """The first answer as a change from the empty answer."""
        now = self._commit_log
        return _answer(Parcel(now.last_commit, now.time, subscriber.handle.variables, ZSet()), rows)

    def _note(self, subscriber: Subscriber, pending: Pending) -> None:
        note = Note("subscribe", Record.of(subscriber, whole=True).to_json())
        self._commit_log.note(note, pending)

    # -- for the settlement -------------------------------------------------------------------------------------

    def withdraw(self, subscriber: Subscriber) -> None:
        """Remove a subscription that could not begin."""
        self._subscriptions.remove(subscriber)

    def request(self, subscriber: Subscriber) -> None:
        """Pass a durable subscription to the external engine."""
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


@contextmanager
def _refusing(request: SubscriptionRequest) -> Iterator[None]:
    """Refuse the client's request if anything goes wrong."""
    try:
        yield
    except TidingsError as error:
        request.refused(error)
    except Exception:
        log.exception("internal error while a subscription begins")
        request.refused(internal_error())


def _answer(first: Parcel, rows: Iterable[Row]) -> Parcel:
    """A first answer as a change from the empty answer."""
    return Parcel(first.commit, first.time, first.variables, ZSet.owning(dict(Counter(rows))))


def _new_name() -> Spuid:
    return Spuid(f"urn:uuid:{uuid4()}")
