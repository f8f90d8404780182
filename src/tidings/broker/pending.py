"""Values that wait for the log: the broker settles each once it is durable, or undoes it if it cannot be.

                        settled, in order                               undone, the last first
PendingUpdate           publisher answered, subscribers notified        the commit is reversed, publisher refused
PendingAnswer           publisher answered                              publisher refused
PendingSeed             subscribers notified                            the commit is reversed
PendingReconciled       subscribers notified                            the commit is reversed
PendingBarrier          the task that waits goes on                     the task that waits gets the error
PendingDelayed          put on the schedule, publisher answered         publisher refused
PendingCancellation     client answered                                 put back on the schedule, client refused
PendingSubscription     first answer sent                               subscription removed, client refused
PendingRequest          the external engine gets the subscription       subscription removed, client refused
PendingUnsubscription   client answered                                 client answered all the same
PendingNotification     merged notification sent                        the client must resume for a fresh answer
PendingContinuation     missed changes sent to the client               the client must resume for a fresh answer
PendingResume           what the client missed is determined and sent   client refused
PendingRights           rows it may see now, or no longer, are sent     the client must resume for a fresh answer
PendingLate             changes that a fork worked out are sent         the client must resume for a fresh answer
PendingTick             changes caused by the clock are sent            the client must resume for a fresh answer
PendingFacts            facts applied, the task that waits goes on      the task that waits gets the error
"""

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from tidings.broker.subscriptions.subscriber import Answered, Encoder, Parcel, Refused, Session, Subscriber
from tidings.broker.updates.accepted import Done, Outcome, Update
from tidings.broker.updates.schedule import Delayed
from tidings.engine.behind.stragglers import Late
from tidings.engine.commit import Commit
from tidings.engine.plans.spu import Spu
from tidings.log.entry import Entry, Note
from tidings.model.access import Rights

Ended: TypeAlias = Callable[[], None]
"""Called when a subscription has ended, for good."""


class PendingUpdate(Struct, frozen=True):
    """An update that changed something."""

    entry: Entry
    commit: Commit
    update: Update
    done: Done


class PendingAnswer(Struct, frozen=True):
    """An update that changed nothing, or failed. It waits as well, since it may have read commits that are not durable
    yet."""

    update: Update
    outcome: Outcome


class PendingSeed(Struct, frozen=True):
    """A commit of the initial data."""

    entry: Entry
    commit: Commit


class PendingReconciled(Struct, frozen=True):
    """A commit of changes that the store of record has already."""

    entry: Entry
    commit: Commit


class PendingBarrier(Struct, frozen=True):
    """A task that waits until everything before it is durable."""

    durable: "asyncio.Future[None]"


class PendingDelayed(Struct, frozen=True):
    """A delayed update that is being accepted."""

    delayed: Delayed
    accepted: "asyncio.Future[Delayed]"


class PendingCancellation(Struct, frozen=True):
    """A delayed update that is being cancelled."""

    delayed: Delayed
    cancelled: "asyncio.Future[Delayed]"


class PendingSubscription(Struct, frozen=True):
    """A subscription with its first answer."""

    subscriber: Subscriber
    first: Parcel
    answered: Answered
    refused: Refused


class PendingRequest(Struct, frozen=True):
    """A subscription that an external engine is to answer."""

    subscriber: Subscriber


class PendingUnsubscription(Struct, frozen=True):
    """The end of a subscription."""

    ended: Ended | None


class PendingNotification(Struct, frozen=True):
    """Changes that were added up, with their common sequence."""

    subscriber: Subscriber
    sequence: int
    parcel: Parcel


class PendingContinuation(Struct, frozen=True):
    """The changes that a client missed while it was away."""

    subscriber: Subscriber
    parcel: Parcel
    answered: Answered


class PendingResume(Struct, eq=False):
    """A client that resumes a subscription. Everything before it in the line is settled first."""

    subscriber: Subscriber
    session: Session
    sequence: int
    answered: Answered
    refused: Refused
    encode: Encoder | None
    """How the gate encodes a fresh answer, if the client needs one."""
    asker: str | None
    """The client: the owner, or another one that may take the subscription over."""
    rights: Rights
    """The rights of the client, which may change while it waits."""


class PendingRights(Struct, frozen=True):
    """The difference that other rights make to the answer of a subscription."""

    subscriber: Subscriber
    parcel: Parcel


class PendingLate(Struct, frozen=True):
    """The changes of a plan that was behind, over several commits."""

    commit: int
    """The last of these commits."""
    time: int
    spu: Spu
    late: Late
    subscribers: tuple[Subscriber, ...]
    """All subscribers of the plan, with or without a change."""


class PendingTick(Struct, frozen=True):
    """Changes of answers that only the clock caused."""

    commit: int
    """The last commit before them."""
    time: int
    tick: Commit


class PendingFacts(Struct, frozen=True):
    """Facts that are no quads."""

    notes: tuple[Note, ...]
    durable: "asyncio.Future[None]"


PendingCommit: TypeAlias = PendingUpdate | PendingSeed | PendingReconciled
Pending: TypeAlias = (
    PendingUpdate
    | PendingAnswer
    | PendingSeed
    | PendingReconciled
    | PendingBarrier
    | PendingDelayed
    | PendingCancellation
    | PendingSubscription
    | PendingRequest
    | PendingUnsubscription
    | PendingNotification
    | PendingContinuation
    | PendingResume
    | PendingRights
    | PendingLate
    | PendingTick
    | PendingFacts
)
