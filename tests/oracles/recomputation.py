"""What a subscription must always equal: its query, evaluated in full on the store as it is now.

A `Follower` does what a subscriber does: it starts from the first answer and folds in whatever it is told.
"""

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from strategies.access import only
from strategies.histories import Steps, net_delta
from strategies.subscriptions import about_another
from tidings.engine.behind.straggler import Straggler
from tidings.engine.commit import Notification
from tidings.engine.engine import Engine
from tidings.engine.plans.lift import canonical, ordered_slices
from tidings.engine.plans.spu import answer_rows
from tidings.engine.store.store import Store
from tidings.model.access import ALL_RIGHTS, Rights
from tidings.model.results import Row
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.sparql import algebra
from tidings.sparql.algebra import Dataset, Query
from tidings.sparql.evaluate.context import UNLIMITED, Moment
from tidings.sparql.evaluate.query import evaluate
from tidings.sparql.parser import parse_query

Answer = Counter[Row]


def recomputed(
    text: str, store: Store, *, now: int = 0, base: str | None = None, dataset: Dataset | None = None
) -> Answer:
    """The answer of a query as subscriptions understand it, where the recommendation leaves a choice.

    LIMIT without an order takes the first rows by their values, and blank nodes that a query makes are named after
    their solutions; both whatever the variables are called.
    """
    return Counter(answer_rows(evaluate(_understood(text, base, dataset), store, Moment(now), stable=True)))


@lru_cache(1024)
def _understood(text: str, base: str | None, dataset: Dataset | None) -> Query:
    query = parse_query(text, base, dataset)
    return canonical(algebra.with_pattern(query, ordered_slices(query.pattern)))[0]


class Follower:
    """A subscriber who knows nothing but its first answer and the notifications since."""

    def __init__(
        self, engine: Engine, text: str, dataset: Dataset | None = None, *, now: int = 0, rights: Rights = ALL_RIGHTS
    ) -> None:
        self.engine = engine
        self.text = text
        self.dataset = dataset
        self.rights = rights
        self.subscription, first = engine.subscribe(text, dataset, now=now, rights=rights)
        self.answer: Answer = Counter(first)
        if not engine.is_evaluated_every_time(self.subscription):
            assert Counter(engine.first_answer(text, dataset, now=now, rights=rights)) == self.answer, text
        self.told = 0

    def move(self, rights: Rights, *, now: int = 0) -> None:
        """Go on with other rights: the answer is what these let it see."""
        self.rights = rights
        rows = self.engine.move(self.subscription, self.text, self.dataset, now=now, rights=rights)
        self.answer = Counter(list(rows))

    def hear(self, notifications: Iterable[Notification]) -> None:
        """Fold in what is meant for this subscriber: never nothing, never out of turn, never more than one a commit."""
        mine = [each for each in notifications if each.subscription is self.subscription]
        assert len(mine) <= 1, self.text
        for notification in mine:
            self.told += 1
            assert notification.sequence == self.told, self.text
            assert notification.changes, self.text
            for row, weight in notification.changes.items():
                self.answer[row] += weight
                assert self.answer[row] >= 0, f"{self.text}\n  took away what was not there: {row}"
        self.answer = +self.answer

    def check(self, *, now: int = 0) -> None:
        """The folded answer is that of a full evaluation, on a store that has only what it may subscribe to."""
        base, store = self.engine.core.base, self.engine.core.store
        if self.rights is not ALL_RIGHTS:
            store = only(store, self.rights.subscribe)
        expected = recomputed(self.text, store, now=now, base=base, dataset=self.dataset)
        assert self.answer == expected, (
            f"{self.text}\n  too much: {self.answer - expected}\n  missing: {expected - self.answer}"
        )


def commit(engine: Engine, delta: ZSet[Quad], followers: Iterable[Follower] = ()) -> list[Notification]:
    """Have a store take up a delta, and everybody told of it."""
    if not delta:
        return []
    engine.core.store.apply(delta)
    notifications = engine.advance(delta).notifications
    for follower in followers:
        follower.hear(notifications)
    return notifications


def bring_up_to_date(engine: Engine, straggler: Straggler, followers: list[Follower]) -> None:
    """What a broker does with a fork, in one go."""
    found = straggler.begin()
    caught_up = straggler.work_out(found, engine.store, engine.before, UNLIMITED)
    plan = straggler.fresh()
    for _ in straggler.take(plan, found, caught_up):
        pass
    for late in engine.stragglers.rejoin(straggler, plan, found, caught_up):
        for follower in followers:
            follower.hear(late.notifications)


def check_through(texts: Iterable[str], before: list[Steps], history: list[Steps]) -> None:
    """Subscribe to queries, and to the same about something else, where something has happened: every answer is right
    after every step of what happens then."""
    engine = Engine()
    for steps in before[1:]:
        commit(engine, net_delta(engine.core.store, steps))
    followers = [Follower(engine, text) for each in texts for text in dict.fromkeys((each, about_another(each)))]
    for steps in history:
        commit(engine, net_delta(engine.core.store, steps), followers)
        for follower in followers:
            follower.check()


def plan_followed(text: str, updates: Iterable[str]) -> str:
    """The plan of a query, explained, after its subscriber was told exactly what each update has changed."""
    engine = Engine()
    first, *rest = updates
    engine.apply(first, now=0)
    follower = Follower(engine, text)
    for update in rest:
        follower.hear(engine.apply(update, now=0).notifications)
        follower.check()
    return engine.explain(follower.subscription.id).to_text()
