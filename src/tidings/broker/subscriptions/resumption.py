"""Clients that disconnect and resume: each gets what it missed, or a fresh answer.

If a client does not come back within the time of `grace`, its subscriptions end.
"""

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.errors import UnknownSubscription
from tidings.broker.pending import PendingContinuation, PendingResume
from tidings.broker.subscriptions.admission import Admission
from tidings.broker.subscriptions.notifier import Notifier
from tidings.broker.subscriptions.outbox import Outboxes
from tidings.broker.subscriptions.registry import Subscriptions
from tidings.broker.subscriptions.request import SubscriptionRequest
from tidings.broker.subscriptions.subscriber import Alias, Answered, Encoder, Parcel, Refused, Session, Subscriber
from tidings.model.access import ALL_RIGHTS, Rights
from tidings.model.errors import MayNotSubscribe, TidingsError
from tidings.model.zset import ZSet

TAKEN_OVER = 4009
"""Close code: the subscription was resumed over another connection."""


class Resumption:
    """Handles disconnecting and resuming clients. After `grace` seconds, it ends their subscriptions."""

    def __init__(
        self,
        subscriptions: Subscriptions,
        admission: Admission,
        notifier: Notifier,
        outboxes: Outboxes,
        commit_log: CommitLog,
        grace: float,
    ) -> None:
        self._subscriptions = subscriptions
        self._admission = admission
        self._notifier = notifier
        self._outboxes = outboxes
        self._commit_log = commit_log
        self._grace = grace
        self._coming: dict[PendingResume, None] = {}
        """Clients that resume, and wait for earlier values to be settled."""
        self.resumed = 0
        self.refreshed = 0
        self.released = 0

    # -- going away ---------------------------------------------------------------------------------------------

    def disconnect(self, session: Session) -> None:
        """A client has disconnected: keep its subscriptions for the time of `grace`."""
        session.open = False
        for subscriber in list(session.subscribers.values()):
            self._subscriptions.detach(subscriber)
            self.miss(subscriber)

    def miss(self, subscriber: Subscriber) -> None:
        """The client of a subscription is away from now on."""
        self._subscriptions.mark_absent(subscriber)
        self._outboxes.flush(subscriber)

    def release_absent(self) -> None:
        """End the subscriptions whose grace time is over."""
        for subscriber in self._subscriptions.absent_for(self._grace):
            self.released += 1
            self._subscriptions.release(subscriber)

    # -- coming back --------------------------------------------------------------------------------------------

    def begin(
        self,
        session: Session,
        spuid: str,
        sequence: int,
        alias: Alias,
        answered: Answered,
        refused: Refused,
        encode: Encoder | None,
        asker: str | None = None,
        rights: Rights = ALL_RIGHTS,
    ) -> None:
        """Resume a subscription after the notification `sequence`, or with a fresh answer."""
        subscriber = self._subscriptions.find_own(spuid, asker, rights)
        if not rights.subscribe:
            raise MayNotSubscribe("you may not subscribe to any graph")
        subscriber.rename(alias)
        pending = PendingResume(subscriber, session, sequence, answered, refused, encode, asker, rights)
        self._coming[pending] = None
        # Commits that are not durable yet are settled first; then the broker knows what the client has missed.
        self._commit_log.wait(pending)

    def rights_changed(self, owner: str | None, rights: Rights, session: Session | None) -> None:
        """Clients of a subject that are about to resume, on one connection or on all, do so with other rights."""
        for pending in self._coming:
            if pending.asker == owner and (session is None or pending.session is session):
                pending.rights = rights

    def lose(self, pending: PendingResume, error: TidingsError) -> None:
        """Earlier values could not be made durable: refuse the client."""
        self._coming.pop(pending, None)
        pending.refused(error)

    def resume(self, pending: PendingResume) -> None:
        """Everything before is settled: answer the client."""
        subscriber, session = pending.subscriber, pending.session
        self._coming.pop(pending, None)
        if not session.open:
            return
        if subscriber not in self._subscriptions:
            pending.refused(UnknownSubscription("the subscription was released"))
            return
        if subscriber.flushing:  # an anchor of it is not durable yet: wait once more
            self._coming[pending] = None
            self._commit_log.wait(pending)
            return
        self._take_over(subscriber, session)
        if subscriber.pending is not None:
            parcel, subscriber.pending = subscriber.pending, None
            self._outboxes.number(subscriber, parcel)
        missed = subscriber.missed(pending.sequence)
        same = subscriber.owner == pending.asker and subscriber.rights.subscribe == pending.rights.subscribe
        if missed is None or not same:
            self._refresh(pending)
        else:
            self._continue(pending, missed)

    def _take_over(self, subscriber: Subscriber, session: Session) -> None:
        old = subscriber.session
        if old is not None and old is not session:  # the client has noticed the broken connection before the broker
            self._subscriptions.detach(subscriber)
            if not old.subscribers:
                self._outboxes.close(old, TAKEN_OVER, "the subscription was resumed over another connection")
        self._subscriptions.attach(subscriber, session)

    def _continue(self, pending: PendingResume, missed: list[Parcel]) -> None:
        self.resumed += 1
        subscriber = pending.subscriber
        told = self._subscriptions.behind.get(subscriber.handle.spu, self._notifier.last_commit)
        commit = told if subscriber.reached is None else subscriber.reached.commit
        whole = Parcel(commit, self._commit_log.now(), subscriber.handle.variables, ZSet(), merged=0)
        for parcel in missed:
            whole += parcel
        whole.commit = commit
        subscriber.begin_at(pending.sequence)
        self._outboxes.number(subscriber, whole)
        self._outboxes.anchor(PendingContinuation(subscriber, whole, pending.answered))

    def _refresh(self, pending: PendingResume) -> None:
        """Begin a new subscription with a new name, so that its sequences cannot be confused with the old ones. A
        client that takes over the subscription of another subject gets one of its own, with its own rights."""
        self.refreshed += 1
        old = pending.subscriber
        self._subscriptions.release(old)
        request = SubscriptionRequest(
            pending.session,
            old.text,
            old.dataset,
            old.alias,
            pending.rights,
            pending.answered,
            pending.refused,
            pending.asker,
            pending.encode,
        )
        try:
            self._admission.begin(request)
        except TidingsError as error:
            pending.refused(error)
