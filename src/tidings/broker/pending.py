"""What waits in the line of the log, as values: each is settled once it is durable, or else undone.

                        settled                                         undone, the last first
PendingUpdate           publisher answered, subscribers notified        the commit is taken back, publisher refused
PendingAnswer           publisher answered                              publisher refused
PendingSeed             subscribers notified                            the commit is taken back
PendingReconciled       subscribers notified                            the commit is taken back
PendingBarrier          whoever waits goes on                           whoever waits hears why not
PendingDelayed          on the schedule, accepted                       refused
PendingCancellation     cancelled                                       back on the schedule, refused
PendingSubscription     first answer sent                               removed, refused
PendingRequest          asked for at the external engine                removed, refused
PendingUnsubscription   client told                                     client told: it comes to the same
PendingNotification     merged notification sent                        the client must come back for a fresh answer
PendingContinuation     client told what it missed                      the client must come back for a fresh answer
PendingResume           looked at what the client missed                refused
PendingRights           told what it may see now, or no longer          the client must come back for a fresh answer
PendingLate             told what a plan has worked out aside           the client must come back for a fresh answer
PendingTick             told what changed by the clock                  the client must come back for a fresh answer
PendingFacts            applied, whoever waits goes on                  whoever waits hears why not
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
    """An update that changed nothing, or failed; it may have seen what is not durable yet."""

    update: Update
    outcome: Outcome


class PendingSeed(Struct, frozen=True):
    """A commit of what a broker begins with."""

    entry: Entry
    commit: Commit


class PendingReconciled(Struct, frozen=True):
    """A commit of what a store of record holds already."""

    entry: Entry
    commit: Commit


class PendingBarrier(Struct, frozen=True):
    """Somebody who waits until everything before is durable."""

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
    """Changes that were added up, with the number they got together."""

    subscriber: Subscriber
    sequence: int
    parcel: Parcel


class PendingContinuation(Struct, frozen=True):
    """What a client missed that has come back."""

    subscriber: Subscriber
    parcel: Parcel
    answered: Answered


class PendingResume(Struct, eq=False):
    """A client that came back: it is told first what is on its way to the disk, and then what it missed."""

    subscriber: Subscriber
    session: Session
    sequence: int
    answered: Answered
    refused: Refused
    encode: Encoder | None
    """How its gate writes a fresh answer, should it need one."""
    asker: str | None
    """Who came: the owner, or somebody who may take it over."""
    rights: Rights
    """What they may do, which may change while they wait."""


class PendingRights(Struct, frozen=True):
    """A subscription that sees other graphs from here on, and by what its answer differs."""

    subscriber: Subscriber
    parcel: Parcel


class PendingLate(Struct, frozen=True):
    """What a plan that was behind has to tell, and how many commits that is about."""

    commit: int
    """The last of them."""
    time: int
    spu: Spu
    late: Late
    subscribers: tuple[Subscriber, ...]
    """All that the plan has, told or not."""


class PendingTick(Struct, frozen=True):
    """What changed without a commit, as time went on."""

    commit: int
    """The last one before it."""
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
