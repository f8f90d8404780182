"""One client of a gate: the methods of the broker that a gate may call for it.

    update, submit, query, subscribe, resume, unsubscribe, publish, delay, rehearse, leave

For all gates alike, `Caller` identifies the client, passes its rights to the broker, enforces its quotas and the
setting `read_only`, counts its requests and writes to the audit log. It raises errors as the client is to get them.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from tidings.broker.queries import Writer
from tidings.broker.subscriptions.request import Encode
from tidings.broker.subscriptions.subscriber import Alias, ClientLink, Origin, Parcel, Subscriber
from tidings.broker.updates.accepted import Done, Outcome, Reply, reply_to
from tidings.broker.updates.rehearsal import Rehearsal
from tidings.broker.updates.schedule import Delayed
from tidings.engine.updates.operations import PreparedUpdate
from tidings.gates.answers import publish_events
from tidings.gates.asking import EVERYBODY, Asker, Deed, Leave, Shown
from tidings.gates.gate import Counts
from tidings.gates.http.results import results_document
from tidings.gates.premises import Premises
from tidings.gates.quotas import Ticket, client_of
from tidings.model.access import Rights
from tidings.model.errors import AnswerTooLarge, NotAllowed, NotFound, TidingsError
from tidings.model.terms import DEFAULT_GRAPH, Term
from tidings.protocol.answers import EventsPublished
from tidings.protocol.instants import Due
from tidings.protocol.messages import Subscribe
from tidings.sparql.algebra import Dataset
from tidings.sparql.prepared import Parameters

MOST_BYTES = 64 << 20
"""The largest answer to a query that a gate sends in one message."""

Begun: TypeAlias = Callable[[Subscriber, Parcel, bool | None], None]
"""Called with the first answer of a subscription, before any change of it, and with whether the subscription was
resumed (None if the client did not ask for that). Must not block."""
Bound: TypeAlias = tuple[PreparedUpdate, Parameters]


class Caller:
    """`link` delivers notifications to the client, `shown` identifies it, and `where` is its address. A client with an
    `origin` appears in the list of connections."""

    def __init__(
        self, premises: Premises, link: ClientLink, counts: Counts, *, shown: Shown = None, where: str = "",
        origin: Origin | None = None,
    ) -> None:  # fmt: skip
        self._premises = premises
        self._broker = premises.broker
        self._guard = premises.guard
        self._quotas = premises.quotas
        self._counts = counts
        self._where = where
        self.shown = shown
        """What the client showed last. The gate sets it when the client shows another token."""
        self.client = client_of(None, where)
        """The client whose quota the requests count against."""
        self.session = self._broker.connect(link, self.client if self._guard.asks else None)
        self.session.origin = origin
        self._present: dict[str | None, Leave] = {}
        """The subjects that have subscriptions here. The guard tells this caller when their rights change."""

    def leave(self) -> None:
        """The client is gone. Its subscriptions wait for it, for as long as the setting `grace` says."""
        for leave in self._present.values():
            leave()
        self._present.clear()
        self._broker.disconnect(self.session)

    def filled(self) -> None:
        """The client takes nothing more for now: the broker adds up its notifications."""
        if not self.session.full:
            self._broker.filled(self.session)

    def drained(self) -> None:
        """The client has room again."""
        if self.session.full:
            self._broker.drained(self.session)

    # -- identification -----------------------------------------------------------------------------------------

    async def identify(self) -> Asker:
        """Identify the client by what it showed last. Raises what is wrong with that."""
        return self.recall() or self._met(await self._guard.identify(self.shown))

    def recall(self) -> Asker | None:
        """The same without waiting; None if the guard does not know the client yet."""
        asker = self._guard.recall(self.shown)
        return None if asker is None else self._met(asker)

    def _met(self, asker: Asker) -> Asker:
        if asker.subject is not None:
            self.client = asker.subject
        return asker

    @asynccontextmanager
    async def _asking(self, what: str) -> AsyncIterator[Asker]:
        """Around a request: identifies the client, counts the request against its quotas, and turns errors into those
        that the client is to get."""
        self._counts.requests += 1
        asker: Asker | None = None
        ticket: Ticket | None = None
        try:
            self._quotas.take(self.client)
            asker = await self.identify()
            ticket = Ticket(self._quotas.requests, self.client)
            yield asker
        except TidingsError as error:
            heard = self.refused(error, what, asker)
            if heard is error:
                raise
            raise heard from error
        finally:
            if ticket is not None:
                ticket.leave()

    def refused(self, error: TidingsError, what: str, asker: Asker | None = None) -> TidingsError:
        """Count a refusal. Returns the error as the client is to get it."""
        self._counts.errors += 1
        self._quotas.note(error)
        return self._guard.judge(asker, Deed(what, self._where), error) or error

    def _record(
        self, asker: Asker, what: str, target: str = "", commit: int | None = None, *, reads: bool = False
    ) -> None:
        if self._guard.asks:
            self._guard.judge(asker, Deed(what, self._where, target, commit, reads))

    def _check_writable(self) -> None:
        if self._premises.read_only:
            raise NotAllowed("this broker is read-only")

    # -- updates and queries ------------------------------------------------------------------------------------

    async def update(self, change: str | Bound, dataset: Dataset | None = None, publisher: str | None = None) -> Done:
        """Carry out an update: a text, or a prepared update with its variables bound."""
        async with self._asking("update") as asker:
            answer: asyncio.Future[Done] = asyncio.get_running_loop().create_future()
            self._submit(asker, change, dataset, reply_to(answer), publisher)
            done = await answer
            self._record(asker, "update", commit=done.commit)
            return done

    def submit(
        self, asker: Asker, change: str | Bound, dataset: Dataset | None, reply: Reply, publisher: str | None = None
    ) -> None:
        """As `update`, but without waiting: `reply` is called with the outcome or the refusal. The broker carries out
        updates in the order of the calls."""
        self._counts.requests += 1

        def replied(outcome: Outcome) -> None:
            if isinstance(outcome, TidingsError):
                outcome = self.refused(outcome, "update", asker)
            else:
                self._record(asker, "update", commit=outcome.commit)
            reply(outcome)

        try:
            self._quotas.take(self.client)
            self._submit(asker, change, dataset, replied, publisher)
        except TidingsError as error:
            replied(error)

    def _submit(
        self, asker: Asker, change: str | Bound, dataset: Dataset | None, reply: Reply,
        said: str | None,
    ) -> None:  # fmt: skip
        self._check_writable()
        ticket, publisher = Ticket(self._quotas.updates, self.client), asker.publisher(said)

        def replied(outcome: Outcome) -> None:
            ticket.leave()
            reply(outcome)

        try:
            if isinstance(change, str):
                self._broker.submit(change, dataset, replied, publisher, asker.rights)
            else:
                self._broker.submit_bound(change, replied, publisher, asker.rights)
        except BaseException:
            ticket.leave()
            raise

    async def delay(self, text: str, due: Due, dataset: Dataset | None = None) -> Delayed:
        """Accept an update for later."""
        async with self._asking("delay") as asker:
            self._check_writable()
            at = due.instant(self._broker.now())
            delayed = await self._broker.delay(
                text, dataset, at, asker.publisher(None), owner=asker.subject, rights=asker.rights
            )
            self._record(asker, "delay", delayed.id)
            return delayed

    async def cancel(self, delayed: str) -> Delayed:
        """Cancel a delayed update of this client."""
        async with self._asking("cancel") as asker:
            self._check_writable()
            cancelled = await self._broker.cancel_delayed(delayed, asker.subject, asker.rights)
            self._record(asker, "cancel", cancelled.id)
            return cancelled

    async def rehearse(self, text: str, dataset: Dataset | None = None) -> Rehearsal:
        """What an update would change. Nothing changes."""
        async with self._asking("rehearse") as asker:
            rehearsal = await self._broker.rehearse(text, dataset, asker.rights, self._share(asker))
            self._record(asker, "rehearse", reads=True)
            return rehearsal

    async def query(
        self, text: str, dataset: Dataset | None = None, write: Writer = results_document, most: int = MOST_BYTES
    ) -> bytes:
        """The answer to a query, as a document."""
        async with self._asking("query") as asker:
            spool = await self._broker.query(text, dataset, write, asker.rights, self._share(asker))
            with spool.file as file:
                if spool.size > most:
                    said = f"the answer has more than {most:,} bytes, which are too many here"
                    raise AnswerTooLarge(f"{said}; ask over HTTP, or for less", most)
                self._record(asker, "query", reads=True)
                return file.read()

    async def publish(self, events: Sequence[Any], graph: Term = DEFAULT_GRAPH, alias: Alias = None) -> EventsPublished:
        """Publish events: the broker matches them with approximate subscriptions, and does not store them."""
        async with self._asking("publish") as asker:
            self._check_writable()
            published = await publish_events(self._broker, events, graph, asker.rights, alias)
            self._record(asker, "publish", graph)
            return published

    def _share(self, asker: Asker) -> str | None:
        return None if asker is EVERYBODY else self.client

    # -- subscriptions ------------------------------------------------------------------------------------------

    async def subscribe(
        self, text: str, dataset: Dataset | None, begun: Begun, alias: Alias = None, encode: Encode | None = None
    ) -> Subscriber:
        """Begin a subscription, and wait until `begun` was called with its first answer. With `encode`, the parcel of a
        long first answer has that encoding instead of rows."""
        async with self._asking("subscribe") as asker:
            return await self._subscribe(asker, text, dataset, begun, alias, None, encode)

    async def resume(
        self, spuid: str, sequence: int, begun: Begun, alias: Alias = None, otherwise: Subscribe | None = None,
        encode: Encode | None = None,
    ) -> Subscriber:  # fmt: skip
        """Resume a subscription after the notification with this sequence. If there is no such subscription, begin
        `otherwise`. `encode` is as for `subscribe`."""
        async with self._asking("subscribe") as asker:
            answer, answered, refused = self._beginning(asker, begun)
            try:
                self._broker.resume(
                    self.session, spuid, sequence, alias, answered, refused,
                    asker=asker.subject, rights=asker.rights, encode=encode,
                )  # fmt: skip
            except NotFound:
                if otherwise is None:
                    raise
                dataset = otherwise.graphs.dataset(self._premises.base)
                return await self._subscribe(asker, otherwise.sparql, dataset, begun, alias, False, encode)
            return await answer

    async def _subscribe(
        self, asker: Asker, text: str, dataset: Dataset | None, begun: Begun, alias: Alias, resumed: bool | None,
        encode: Encode | None,
    ) -> Subscriber:  # fmt: skip
        answer, answered, refused = self._beginning(asker, lambda who, parcel, _: begun(who, parcel, resumed))
        self._broker.subscribe(
            self.session, text, dataset, alias, answered, refused,
            rights=asker.rights, owner=asker.subject, encode=encode,
        )  # fmt: skip
        return await answer

    def _beginning(
        self, asker: Asker, begun: Begun
    ) -> (
        "tuple[asyncio.Future[Subscriber], Callable[[Subscriber, Parcel, bool], None], Callable[[TidingsError], None]]"
    ):
        """A future for the subscription, and the two functions that complete it: with the first answer, or with an
        error."""
        answer: asyncio.Future[Subscriber] = asyncio.get_running_loop().create_future()

        def answered(subscriber: Subscriber, parcel: Parcel, resumed: bool) -> None:
            self._record(asker, "subscribe", subscriber.spuid)
            begun(subscriber, parcel, resumed)
            if not answer.done():
                answer.set_result(subscriber)

        def refused(error: TidingsError) -> None:
            if not answer.done():
                answer.set_exception(error)

        self._attend(asker)
        return answer, answered, refused

    def _attend(self, asker: Asker) -> None:
        if self._guard.asks and asker.subject not in self._present:

            def changed(rights: Rights, reason: str) -> None:
                self._broker.rights_changed(asker.subject, rights, reason, self.session)

            self.session.attend(asker.subject)
            self._present[asker.subject] = self._guard.attend(self.shown, asker, changed)

    async def unsubscribe(self, spuid: str) -> None:
        """End a subscription of this client for good."""
        async with self._asking("unsubscribe") as asker:
            ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._broker.unsubscribe(
                self.session, spuid, lambda: None if ended.done() else ended.set_result(None),
                asker=asker.subject, rights=asker.rights,
            )  # fmt: skip
            await ended
            self._record(asker, "unsubscribe", spuid)
