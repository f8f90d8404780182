"""THE STORY of one update: text -> delta -> commit -> route -> SPU -> notifications.

    subscribe(query)  returns a subscription and its first answer
    apply(update)     returns a notification for each subscription whose answer changed: a Z-set of rows

The engine does no input or output, and reads no clock: each call passes the present instant.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from tidings.engine.behind.stragglers import Stragglers
from tidings.engine.clock import Clock
from tidings.engine.commit import Commit, Failure, Notification, notifications_of
from tidings.engine.contexts import Contexts
from tidings.engine.explain import Explained
from tidings.engine.leaves import drop, put, values_of
from tidings.engine.lutt import Key, Lutt, everything_in
from tidings.engine.operators.base import Changes
from tidings.engine.plans.newcomer import Newcomer, SubscriptionQuery
from tidings.engine.plans.planning import Apart, Planning
from tidings.engine.plans.query_template import QueryTemplate
from tidings.engine.plans.spu import Routed, Spu, Subscription, answer_rows, keys_of
from tidings.engine.routing import Routing, Wake
from tidings.engine.store.before import Before
from tidings.engine.store.store import Store
from tidings.engine.timing import Timing
from tidings.engine.updates.executor import Core
from tidings.engine.updates.operations import PreparedUpdate
from tidings.model.access import ALL_RIGHTS, Rights
from tidings.model.errors import NotFound
from tidings.model.results import Result
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.sparql.algebra import Dataset, narrowed
from tidings.sparql.binding import Bindable
from tidings.sparql.evaluate.context import UNLIMITED, Limits, Moment, Overrun, Spent
from tidings.sparql.evaluate.layout import Row
from tidings.sparql.evaluate.query import evaluate
from tidings.sparql.prepared import Parameters


def _no_clock() -> float:
    return 0.0


class Engine:
    """A knowledge graph with subscriptions. With `naive`, every answer is evaluated in full after every commit."""

    def __init__(
        self, core: Core | None = None, *, naive: bool = False, clock: Callable[[], float] | None = None
    ) -> None:
        self.core = Core() if core is None else core
        self._routing = Routing()
        self._sizes = self._routing.sizes
        self.timing = Timing(clock)
        self.subscriptions: dict[int, Subscription] = {}
        self.before = Before(self.core.store)
        self.planning = Planning(self.core, self.before, self._routing, naive=naive)
        self._plans = self.planning.plans
        self.stragglers = Stragglers(self._plans, self.before, self._routing)
        self.contexts: Contexts | None = None
        """The patterns of the quads to keep, if the store has only a part of the graph."""
        self._next = 0

    @property
    def store(self) -> Store:
        return self.core.store

    @property
    def lutt(self) -> Lutt[Wake]:
        return self._routing.lutt

    @property
    def clock(self) -> Clock:
        """The instant for answers that compare with NOW(), and when they change."""
        return self._plans.clock

    @property
    def plans(self) -> int:
        """How many plans there are. Subscriptions that differ only in constants share one."""
        return len(self._sizes)

    # -- subscribing --------------------------------------------------------------------------------------------

    def subscribe(
        self, text: str, dataset: Dataset | None = None, *, now: int, rights: Rights = ALL_RIGHTS
    ) -> tuple[Subscription, list[Row]]:
        """A new subscription and its first answer. Subscribers of the same query over the same graphs share one SPU."""
        subscription, answer = self.enroll(text, dataset, now=now, rights=rights)
        try:
            return subscription, list(answer)
        except BaseException:
            self.unsubscribe(subscription.id)
            raise

    def enroll(
        self, text: str, dataset: Dataset | None = None, *, now: int, rights: Rights = ALL_RIGHTS
    ) -> tuple[Subscription, Iterable[Row]]:
        """As `subscribe`, with a lazy first answer, which must be read before the store changes. Raises PlanIsBehind,
        and Overrun if building the state of its plan takes longer than a slice."""
        template, spu, member, answer = self._admitted(text, dataset, now, rights)
        return self._seat(spu, member, template.variables), answer

    def move(
        self, subscription: Subscription, text: str, dataset: Dataset | None = None, *, now: int, rights: Rights
    ) -> Iterable[Row]:
        """Give a subscription to this query other rights. Returns its answer with these, evaluated lazily."""
        _, spu, member, answer = self._admitted(text, dataset, now, rights)
        if spu is not subscription.spu:
            self._part(subscription)
            subscription.spu, subscription.member = spu, member
            self._join(subscription)
        return answer

    def _admitted(
        self, text: str, dataset: Dataset | None, now: int, rights: Rights
    ) -> tuple[QueryTemplate, Spu, Row, Iterable[Row]]:
        """The plan for a query over the graphs that the rights let it subscribe to, the member, and its answer."""
        self._tell_time(now)
        template, spu, member = self.planning.find(text, dataset, rights)
        self.stragglers.check(spu)
        answer = spu.answer(member) if member in spu.members else self._admit(spu, member)
        return template, spu, member, answer

    def _tell_time(self, now: int) -> None:
        self.core.tell_time(now)
        self.clock.go_on(now)

    def _seat(self, spu: Spu, member: Row, variables: tuple[str, ...]) -> Subscription:
        self._next += 1
        subscription = Subscription(self._next, spu, member, variables)
        self.subscriptions[self._next] = subscription
        self._join(subscription)
        return subscription

    def _join(self, subscription: Subscription) -> None:
        spu, member = subscription.spu, subscription.member
        self._sizes[spu] += 1
        spu.enrolled(member, 1)
        put(spu.members, member, subscription)

    def _admit(self, spu: Spu, member: Row) -> Iterable[Row]:
        """Admit a new member to a plan. Returns its first answer; if that fails, nothing of the member is left."""
        try:
            spu.meter.begin(self.stragglers.slice)
            answer = spu.admit(member)
        except BaseException as error:
            if not spu.members:
                self.planning.leave(spu)
            if isinstance(error, Spent):
                raise Overrun from None
            raise
        finally:
            spu.meter.begin(None)
        self._routing.file(spu, member)
        self.clock.look(spu)
        return answer

    # -- first answers that are found in a fork -----------------------------------------------------------------

    def expect(
        self, text: str, dataset: Dataset | None = None, *, now: int, rights: Rights = ALL_RIGHTS, most: int,
        apart: Apart | None = None,
    ) -> Newcomer:  # fmt: skip
        """A newcomer, whose first answer a fork of this moment finds by `Newcomer.begin`. Until `welcome` or `give_up`,
        it adds up the changes that concern it, at most `most` quads. Its plan may have been made `apart`."""
        self._tell_time(now)
        template, spu, member = self.planning.find(text, dataset, rights)
        make = self._plans.maker(spu)
        plan = apart.plan if apart is not None and apart.make is make else make(UNLIMITED)
        query, since = SubscriptionQuery(text, dataset, rights), self.clock.instant
        newcomer = Newcomer(query, template.variables, member, spu, make, plan, most, since)
        self._plans.hold(spu)
        self._routing.enter(newcomer, every_commit=spu in self._routing.every_commit)
        self._routing.file(newcomer, member)
        if not spu.members:
            self.planning.leave(spu)
        return newcomer

    def give_up(self, newcomer: Newcomer) -> None:
        """Remove a newcomer; do nothing if it was welcomed or given up before."""
        if newcomer in self._routing:
            self._unroute(newcomer)
            self._plans.release(newcomer.shared)

    def _unroute(self, newcomer: Newcomer) -> None:
        self._routing.unfile(newcomer, newcomer.member)
        self._routing.leave(newcomer)

    def welcome(self, newcomer: Newcomer, *, now: int) -> tuple[Subscription, ZSet[Row]]:
        """Make a newcomer a subscription, and return the change since its first answer. If that fails, nothing of it is
        left. The newcomer must have taken everything that the fork found."""
        self._tell_time(now)
        query = newcomer.query
        template, spu, member = self.planning.find(query.text, query.dataset, query.rights)
        self.stragglers.check(spu)
        self._unroute(newcomer)
        is_there = member in spu.members
        try:
            with self.clock.since(newcomer.since):
                changes = newcomer.catch_up(self.before, spu if is_there else None)
            if not is_there:
                newcomer.move_in(spu)
                self._routing.file(spu, member)
                self.clock.look(spu)
            return self._seat(spu, member, template.variables), ZSet.owning(changes)
        except BaseException:
            if not spu.members:
                self.planning.leave(spu)
            raise
        finally:
            self._plans.release(newcomer.shared)

    def unsubscribe(self, number: int) -> None:
        """End a subscription. The state of a member ends with its last subscription, a plan with its last member."""
        subscription = self.subscriptions.pop(number, None)
        if subscription is None:
            raise NotFound(f"there is no subscription {number}")
        self._part(subscription)

    def _part(self, subscription: Subscription) -> None:
        spu, member = subscription.spu, subscription.member
        self._sizes[spu] -= 1
        spu.enrolled(member, -1)
        drop(spu.members, member, subscription)
        if member in spu.members:
            return
        if spu not in self.stragglers:  # the state of a plan that is behind will be replaced as a whole
            spu.dismiss(member)
            self.clock.look(spu)
        self._routing.unfile(spu, member)
        if not spu.members:
            self.stragglers.forget(spu)
            self.planning.leave(spu)

    def keys(self, subscription: Subscription) -> Iterator[Key]:
        """The patterns of all quads that may concern a subscription."""
        spu = subscription.spu
        if spu in self._routing.every_commit:
            yield from everything_in(spu.dataset.readable)
        for route in spu.routes:
            yield from keys_of(spu, route, subscription.member, spu.dataset)

    def concerns(self, quad: Quad) -> bool:
        """Whether a quad may concern any subscription."""
        return self._routing.always_concerns(quad) or bool(self.lutt.find(((quad, 1),)))

    def depends_on_chance(self, subscription: Subscription) -> bool:
        """Whether another evaluation on the same data may give another answer, because of NOW, RAND or the like."""
        return not self._plans.naive and self.is_evaluated_every_time(subscription)

    def explain(self, number: int) -> Explained:
        """The plan of a subscription."""
        subscription = self.subscriptions.get(number)
        if subscription is None:
            raise NotFound(f"there is no subscription {number}")
        spu = subscription.spu
        aside, members, size = self.stragglers, len(spu.members), self._sizes[spu]
        warnings, times, cost = self.planning.warnings.get(spu, ()), aside.times.get(spu, 0), aside.costs.of(spu)
        return Explained(spu.explain(), spu.routes, spu.variables, members, size, warnings, times, cost)

    def is_evaluated_every_time(self, subscription: Subscription) -> bool:
        """Whether only the plan knows the answer, because it depends on chance or on the instant of its evaluation."""
        return subscription.spu in self._routing.every_commit or subscription.spu.is_clocked

    def first_answer(
        self, text: str, dataset: Dataset | None = None, *, now: int, limits: Limits = UNLIMITED,
        rights: Rights = ALL_RIGHTS,
    ) -> list[Row]:  # fmt: skip
        """The first answer that a subscription would get, by full evaluation within limits, without subscribing."""
        deadline = limits.deadline()
        query, parameters = self.planning.understood(text, dataset)
        query = narrowed(query, rights.subscribe)
        moment = self.core.moment.at(now)
        answer = evaluate(query, self.store, moment, limits, parameters=parameters, stable=True, deadline=deadline)
        return list(answer_rows(answer))

    def query(
        self, text: str, dataset: Dataset | None = None, *, now: int, limits: Limits = UNLIMITED,
        rights: Rights = ALL_RIGHTS,
    ) -> Result:  # fmt: skip
        """The answer of a query at an instant, evaluated lazily."""
        return self.core.query(text, dataset, now=now, limits=limits, rights=rights)

    # -- updates ------------------------------------------------------------------------------------------------

    def apply(
        self, text: str, dataset: Dataset | None = None, *, now: int, limits: Limits = UNLIMITED,
        rights: Rights = ALL_RIGHTS,
    ) -> Commit:  # fmt: skip
        """Carry out an update. Returns its delta and the notifications that it causes."""
        return self.execute(*self.prepare(text, dataset), now=now, limits=limits, rights=rights)

    def prepare(self, text: str, dataset: Dataset | None = None) -> tuple[PreparedUpdate, Parameters]:
        """Parse and check an update. Returns it with the constants of its text."""
        clock = self.timing.clock or _no_clock
        start = clock()
        prepared = self.core.prepare_update(text, dataset)
        self.timing.update += clock() - start
        return prepared

    def prepare_template(self, text: str, dataset: Dataset | None = None) -> Bindable[PreparedUpdate]:
        """Parse an update whose variables can be bound to terms, to others each time."""
        return self.core.prepare_template(text, dataset)

    def execute(
        self, request: PreparedUpdate, parameters: Parameters, *, now: int, limits: Limits = UNLIMITED,
        rights: Rights = ALL_RIGHTS,
    ) -> Commit:  # fmt: skip
        """Carry out a prepared update."""
        timing = self.timing
        clock = timing.clock or _no_clock
        start = clock()
        delta = self.core.execute(request, parameters, now=now, limits=limits, rights=rights)
        timing.update += clock() - start
        timing.requests += 1
        return self.advance(delta) if delta else Commit(delta, [])

    def work_out(
        self, request: PreparedUpdate, parameters: Parameters, *, now: int, limits: Limits = UNLIMITED,
        rights: Rights = ALL_RIGHTS,
    ) -> ZSet[Quad]:  # fmt: skip
        """Runs in a fork: the delta of an update, for the original process to absorb. The answers do not advance."""
        self.begin_apart(now)
        return self.core.execute(request, parameters, now=now, limits=limits, rights=rights)

    def begin_apart(self, now: int) -> None:
        """Runs in a fork: make sure that new blank nodes differ from those that the original process makes."""
        self.core.moment = Moment(now)

    def absorb(self, delta: ZSet[Quad], *, now: int) -> Commit:
        """Apply an exact delta that was worked out elsewhere: in a fork, or by a commit that is replayed."""
        self.core.tell_time(now)
        part = delta if self.contexts is None else self.contexts.part(delta)
        self.core.store.apply(part)
        self.timing.requests += 1
        commit = self.advance(part) if part else Commit(delta, [])
        return commit if part is delta else replace(commit, delta=delta)

    def tick(self, now: int) -> Commit:
        """Bring the answers up to date that change by the clock until this instant. There is no delta."""
        self.core.tell_time(now)
        return self.advance(ZSet(), self.clock.strike(now))

    def advance(self, delta: ZSet[Quad], struck: Sequence[Routed] = ()) -> Commit:
        """Bring all answers up to date with a delta that was just applied to the store, or with a tick of the clock."""
        timing = self.timing
        clock = timing.clock or _no_clock
        begun = clock()
        instants, stragglers = self._plans.clock, self.stragglers
        if delta:
            timing.commits += 1
            timing.quads += len(delta)
            instants.go_on(self.core.moment.now)
        self.before.begin(delta)
        touched, concerned = self._routing.find(delta)
        if struck:
            touched.update((spu, {}) for spu in struck)
        timing.hits += concerned
        routed = clock()
        told: list[tuple[Routed, dict[Row, Changes]]] = []
        failures: tuple[Failure, ...] = ()
        is_sliced = stragglers.slice is not None
        step = stragglers.begin(delta, clock) if is_sliced else stragglers.step
        for spu, hits in touched.items():
            try:
                changed = step(spu, hits) if is_sliced else spu.advance(hits)
            except Exception as error:  # noqa: BLE001 -- a plan that fails must not keep others from their changes
                failures += (self._end_failed(spu, error),)
            else:
                if changed:
                    told.append((spu, changed))
        if instants:
            stragglers.look(touched)
        boosted = clock()
        timing.lutt += routed - begun
        timing.booster += boosted - routed
        notifications: list[Notification] = []
        if told:
            notifications = notifications_of(told)
            timing.notify += clock() - boosted
            timing.notifications += len(notifications)
        return Commit(delta, notifications, failures, stragglers.taken() if is_sliced else ())

    def _end_failed(self, spu: Routed, error: Exception) -> Failure:
        """End all subscriptions of a plan that failed."""
        lost: list[Subscription] = []
        for subscribers in spu.members.values():
            lost.extend(values_of(subscribers))
        for subscription in lost:
            self.unsubscribe(subscription.id)
        return Failure(tuple(lost), error)
