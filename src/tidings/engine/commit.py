"""What an update did, as values: its delta, who has to be told what, and whose plan failed over it."""

from collections.abc import Iterable

from msgspec import Struct

from tidings.engine.behind.straggler import Straggler
from tidings.engine.leaves import values_of
from tidings.engine.operators.base import Changes
from tidings.engine.plans.spu import Routed, Subscription
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
    """What one update did, who has to be told, whose plan failed over it, and whose is behind from here on."""

    delta: ZSet[Quad]
    notifications: list[Notification]
    failures: tuple[Failure, ...] = ()
    behind: tuple[Straggler, ...] = ()


NOTHING = Commit(ZSet(), [])
"""What nobody has to be told of."""


def notifications_of(told: Iterable[tuple[Routed, dict[Row, Changes]]]) -> list[Notification]:
    """What the subscribers of members are told whose answers have changed."""
    notifications: list[Notification] = []
    for spu, changed in told:
        for member, changes in changed.items():
            change = ZSet.owning(changes)
            for each in values_of(spu.members[member]):
                each.sequence += 1
                notifications.append(Notification(each, each.sequence, change))
    return notifications
