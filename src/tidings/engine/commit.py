"""What an update did, as values: its delta, who has to be told what, and whose plan failed over it."""

from msgspec import Struct

from tidings.engine.plans.spu import Subscription
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.sparql.evaluate.layout import Row


class Notification(Struct, frozen=True):
    """What one subscriber is told of one commit."""

    subscription: Subscription
    sequence: int
    changes: ZSet[Row]


class Failure(Struct, frozen=True):
    """A plan that could not be brought up to date: its subscriptions have been ended, their answers are not known."""

    subscriptions: tuple[Subscription, ...]
    error: Exception


class Commit(Struct, frozen=True):
    """What one update did, who has to be told, and whose plan failed over it."""

    delta: ZSet[Quad]
    notifications: list[Notification]
    failures: tuple[Failure, ...] = ()
