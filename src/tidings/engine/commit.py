"""The effects of an update as values: its delta, the notifications, and the plans that failed or fell behind."""

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
    """The change of one subscription's answer by one commit."""

    subscription: Subscription
    sequence: int
    changes: ZSet[Row]


class Failure(Struct, frozen=True):
    """A plan that failed. Its subscriptions have ended, because their answers are not known."""

    subscriptions: tuple[Subscription, ...]
    error: Exception


class Commit(Struct, frozen=True):
    """What one update did: its delta, the notifications, the plans that failed, and those that are behind now."""

    delta: ZSet[Quad]
    notifications: list[Notification]
    failures: tuple[Failure, ...] = ()
    behind: tuple[Straggler, ...] = ()


NOTHING = Commit(ZSet(), [])
"""A commit without any effect."""


def notifications_of(told: Iterable[tuple[Routed, dict[Row, Changes]]]) -> list[Notification]:
    """A notification for each subscription whose member has a changed answer."""
    notifications: list[Notification] = []
    for spu, changed in told:
        for member, changes in changed.items():
            change = ZSet.owning(changes)
            for each in values_of(spu.members[member]):
                each.sequence += 1
                notifications.append(Notification(each, each.sequence, change))
    return notifications
