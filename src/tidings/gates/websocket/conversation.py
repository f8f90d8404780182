"""Answers the requests of one client in the Subscribe language. It needs no socket:

hear(document) -> Request -> Broker        send(document), now or later
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import assert_never
from uuid import uuid4

from tidings.broker.broker import Broker
from tidings.broker.errors import TooManyRequests
from tidings.broker.subscriptions.subscriber import Parcel, Refused, Session, Subscriber
from tidings.broker.updates.accepted import Done, Outcome, Reply
from tidings.engine.updates.operations import PreparedUpdate
from tidings.gates.answers import delayed_answer, encode_body, first_answer, publish_events, update_answer
from tidings.gates.asking import EVERYBODY, OPEN, Asker, Guard
from tidings.gates.errors import TooManyPrepared, UnknownPrepared
from tidings.gates.http.results import results_document
from tidings.gates.quotas import Quotas, Ticket, client_of
from tidings.gates.websocket.attendance import Attendance
from tidings.model.errors import AnswerTooLarge, NotAllowed, NotFound, TidingsError, internal_error
from tidings.model.terms import DEFAULT_GRAPH
from tidings.protocol.answers import Cancelled, Prepared, Unsubscribed, encode, query_answer
from tidings.protocol.echo import Alias, Echo
from tidings.protocol.errors import BadMessage, Refusal
from tidings.protocol.message_reading import decode, echo_of
from tidings.protocol.messages import (
    Cancel,
    DelayedUpdate,
    Prepare,
    Publish,
    Query,
    Request,
    Resume,
    Subscribe,
    Unsubscribe,
    UnsubscribeByAlias,
    Update,
    UpdatePrepared,
)
from tidings.protocol.sparql_http import graph
from tidings.sparql.binding import Bindable

MOST_PREPARED = 1_000
MOST_BYTES = 64 << 20
"""The largest answer to a query: it is sent as one message."""
MOST_WAITING = 1_000
"""How many messages of a connection may wait until the guard has identified their sender, and how many unsubscribe
requests may wait until the subscription that they end has begun."""

log = logging.getLogger("tidings")


class Traffic:
    """Counts messages and errors of all conversations."""

    __slots__ = ("errors", "messages")

    def __init__(self) -> None:
        self.messages = 0
        self.errors = 0


class Conversation:
    """The conversation with one client. `send` takes a document for the client, and does not block."""

    def __init__(
        self,
        broker: Broker,
        session: Session,
        send: Callable[[bytes], None],
        traffic: Traffic,
        *,
        base: str,
        read_only: bool,
        quotas: Quotas,
        guard: Guard = OPEN,
        authorization: str | None = None,
        where: str = "",
    ) -> None:
        self._broker = broker
        self._session = session
        self._send = send
        self._traffic = traffic
        self._base = base
        self._read_only = read_only
        self._quotas = quotas
        self._client = client_of(None, where)
        """The client whose quotas messages count against: the sender of the last message."""
        self._beginning: dict[Ticket, Alias] = {}
        """The tickets and aliases of subscriptions that have no first answer yet."""
        self._hasty: list[tuple[UnsubscribeByAlias, Asker]] = []
        """Unsubscribe requests for these: each waits until the subscription with its alias has begun or is refused."""
        self._attendance = Attendance(broker, session, guard, authorization, where)
        self._line: deque[Request] = deque()
        """Messages that wait, in order, until the guard has identified the sender of the first one."""
        self._prepared: dict[str, Bindable[PreparedUpdate]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        """Answers that are being worked out; they are cancelled when the client leaves."""

    def hear(self, document: bytes) -> None:
        """Handle a message of the client. An error is answered, and does not end the conversation."""
        self._traffic.messages += 1
        echo: Echo | None = None
        try:
            self._quotas.take(self._client)
            request = decode(document)
            echo = request.echo
            if self._line:
                self._queue(request)
                return
            asker = self._attendance.recall(request)
            if asker is None:
                self._queue(request)
            else:
                self._serve(request, asker)
        except TidingsError as error:
            self._refuse(error, echo or echo_of(document))
        except Exception:
            log.exception("internal error while handling a WebSocket message")
            self._refuse(internal_error(), echo or echo_of(document))

    def end(self) -> None:
        """The client is gone."""
        for task in self._tasks:
            task.cancel()
        for ticket in self._beginning:
            ticket.leave()
        self._hasty.clear()
        self._attendance.end()

    # -- who asks -----------------------------------------------------------------------------------------------

    def _queue(self, request: Request) -> None:
        """Have a message wait until the guard has identified its sender. Later messages wait behind it, so that all are
        handled in order."""
        if len(self._line) >= MOST_WAITING:
            raise TooManyRequests(f"{MOST_WAITING:,} messages wait on this connection; send fewer at a time")
        self._line.append(request)
        if len(self._line) == 1:
            task = asyncio.get_running_loop().create_task(self._advance())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _advance(self) -> None:
        while self._line:
            request = self._line[0]
            try:
                self._serve(request, await self._attendance.identify(request))
            except TidingsError as error:
                self._refuse(error, request.echo)
            except Exception:
                log.exception("internal error while handling a WebSocket message")
                self._refuse(internal_error(), request.echo)
            finally:
                self._line.popleft()

    def _serve(self, request: Request, asker: Asker) -> None:
        if asker.subject is not None:
            self._client = asker.subject
        try:
            self._handle(request, asker)
        except TidingsError as error:
            self._refuse(error, request.echo, asker, _name(request))

    def _handle(self, request: Request, asker: Asker) -> None:
        match request:
            case Update() | DelayedUpdate() | UpdatePrepared() | Publish() if self._read_only:
                raise NotAllowed("this broker is read-only")
            case Update():
                self._update(request, asker)
            case UpdatePrepared():
                self._update_prepared(request, asker)
            case DelayedUpdate():
                self._delay(request, asker)
            case Query():
                self._query(request, asker)
            case Subscribe():
                self._subscribe(request, asker)
            case Resume():
                self._resume(request, asker)
            case Unsubscribe(spuid):
                self._unsubscribe(spuid, request.echo, asker)
            case UnsubscribeByAlias():
                self._unsubscribe_by_alias(request, asker)
            case Prepare():
                self._prepare(request)
            case Publish():
                self._later(request, asker, lambda: self._publish(request, asker))
            case Cancel():
                self._later(request, asker, lambda: self._cancel(request, asker))
            case _:
                assert_never(request)

    def _refuse(self, error: TidingsError, echo: Echo, asker: Asker | None = None, what: str = "message") -> None:
        self._traffic.errors += 1
        self._quotas.note(error)
        self._send(encode(Refusal.of(self._attendance.judged(error, asker, what), echo)))

    def _later(self, request: Request, asker: Asker, work: Callable[[], Awaitable[bytes]]) -> None:
        """Work out an answer in a task of its own, and send it when it is complete."""
        ticket = Ticket(self._quotas.requests, self._client)

        async def answer() -> None:
            try:
                self._send(await work())
            except TidingsError as error:
                self._refuse(error, request.echo, asker, _name(request))
            except Exception:
                log.exception("internal error while handling a WebSocket message")
                self._refuse(internal_error(), request.echo)

        task = asyncio.get_running_loop().create_task(answer())
        task.add_done_callback(lambda _: ticket.leave())  # also if it is cancelled before it has begun
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- subscriptions ------------------------------------------------------------------------------------------

    def _subscribe(self, request: Subscribe, asker: Asker, resumed: bool | None = None) -> None:
        """`resumed` is False if the client asked to resume a subscription that is gone, and gets a new one instead."""
        dataset, alias = request.graphs.dataset(self._base), request.echo.alias
        with self._beginning_of(request, asker) as (answered, refused):
            self._broker.subscribe(
                self._session, request.sparql, dataset, alias,
                lambda subscriber, parcel, _: answered(subscriber, parcel, resumed), refused,
                rights=asker.rights, owner=asker.subject, encode=encode_body,
            )  # fmt: skip

    def _resume(self, request: Resume, asker: Asker) -> None:
        try:
            with self._beginning_of(request, asker) as (answered, refused):
                self._broker.resume(
                    self._session, request.spuid, request.sequence, request.echo.alias, answered, refused,
                    asker=asker.subject, rights=asker.rights, encode=encode_body,
                )  # fmt: skip
        except NotFound:
            if request.otherwise is None:
                raise
            self._subscribe(request.otherwise, asker, resumed=False)

    @contextmanager
    def _beginning_of(
        self, request: Request, asker: Asker
    ) -> Iterator[tuple[Callable[[Subscriber, Parcel, bool | None], None], Refused]]:
        """The two functions that the broker calls with the first answer, or with an error. Until then, the request
        counts against the client's quota."""
        ticket = Ticket(self._quotas.requests, self._client)
        alias = self._beginning[ticket] = request.echo.alias

        def begun() -> None:
            ticket.leave()
            self._beginning.pop(ticket, None)

        def answered(subscriber: Subscriber, parcel: Parcel, resumed: bool | None) -> None:
            begun()
            self._attendance.record(asker, "subscribe", subscriber.spuid)
            self._send(first_answer(subscriber, parcel, resumed))
            self._end_hasty(alias)

        def refused(error: TidingsError) -> None:
            begun()
            self._refuse(error, request.echo, asker, "subscribe")
            self._end_hasty(alias)

        self._attendance.attend(asker)
        try:
            yield answered, refused
        except BaseException:
            begun()
            raise

    def _unsubscribe(self, spuid: str, echo: Echo, asker: Asker) -> None:
        done = encode(Unsubscribed(spuid, echo.alias))
        self._broker.unsubscribe(
            self._session, spuid, lambda: self._send(done), asker=asker.subject, rights=asker.rights
        )
        self._attendance.record(asker, "unsubscribe", spuid)

    def _unsubscribe_by_alias(self, request: UnsubscribeByAlias, asker: Asker) -> None:
        """End the subscription of this connection that has an alias, if there is exactly one, or soon will be."""
        alias = request.alias
        found = [each.spuid for each in self._session.subscribers.values() if each.alias == alias]
        if len(found) == 1:
            self._unsubscribe(found[0], request.echo, asker)
        elif found or alias not in self._beginning.values():
            raise BadMessage("the member spuid is missing, and the alias does not name exactly one subscription")
        elif len(self._hasty) >= MOST_WAITING:
            raise TooManyRequests(f"{MOST_WAITING:,} messages wait on this connection; send fewer at a time")
        else:
            self._hasty.append((request, asker))

    def _end_hasty(self, alias: Alias) -> None:
        """Handle the unsubscribe requests that waited for the subscription with this alias."""
        waited = [each for each in self._hasty if each[0].alias == alias]
        self._hasty = [each for each in self._hasty if each[0].alias != alias]
        for request, asker in waited:
            self._serve(request, asker)

    # -- updates and queries ------------------------------------------------------------------------------------

    def _update(self, request: Update, asker: Asker) -> None:
        dataset, publisher = request.graphs.dataset(self._base), asker.publisher(request.publisher)
        self._broker.submit(request.sparql, dataset, self._reply(request, asker), publisher, asker.rights)

    def _reply(self, request: Update | UpdatePrepared, asker: Asker) -> Reply:
        """A function that answers the client with the outcome of its update. Raises TooManyRequests."""
        alias, client, updates = request.echo.alias, self._client, self._quotas.updates
        updates.enter(client)

        def reply(outcome: Outcome) -> None:
            updates.leave(client)
            if isinstance(outcome, TidingsError):
                self._quotas.note(outcome)
            if asker is not EVERYBODY:
                if isinstance(outcome, Done):
                    self._attendance.record(asker, "update", commit=outcome.commit)
                else:
                    outcome = self._attendance.judged(outcome, asker, "update")
            self._send(encode(update_answer(outcome, alias)))

        return reply

    def _update_prepared(self, request: UpdatePrepared, asker: Asker) -> None:
        template = self._prepared.get(request.prepared)
        if template is None:
            raise UnknownPrepared(f"nothing was prepared as {request.prepared} on this connection")
        bound, publisher = template.bind(request.bound(self._base)), asker.publisher(request.publisher)
        self._broker.submit_bound(bound, self._reply(request, asker), publisher, asker.rights)

    def _delay(self, request: DelayedUpdate, asker: Asker) -> None:
        at = request.due.instant(self._broker.now())
        dataset = request.graphs.dataset(self._base)

        async def accept() -> bytes:
            delayed = await self._broker.delay(
                request.sparql, dataset, at, asker.publisher(request.publisher),
                owner=asker.subject, rights=asker.rights,
            )  # fmt: skip
            self._attendance.record(asker, "delay", delayed.id)
            return encode(delayed_answer(delayed, request.echo.alias))

        self._later(request, asker, accept)

    async def _publish(self, request: Publish, asker: Asker) -> bytes:
        place = DEFAULT_GRAPH if request.graph is None else graph(request.graph, "graph", self._base)
        answer = await publish_events(self._broker, request.events, place, asker.rights, request.echo.alias)
        self._attendance.record(asker, "publish", place)
        return encode(answer)

    async def _cancel(self, request: Cancel, asker: Asker) -> bytes:
        delayed = await self._broker.cancel_delayed(request.delayed, asker.subject, asker.rights)
        self._attendance.record(asker, "cancel", delayed.id)
        return encode(Cancelled(delayed.id, request.echo.alias))

    def _query(self, request: Query, asker: Asker) -> None:
        dataset = request.graphs.dataset(self._base)
        share = None if asker is EVERYBODY else self._client

        async def answer() -> bytes:
            spool = await self._broker.query(request.sparql, dataset, results_document, asker.rights, share)
            with spool.file as file:
                if spool.size > MOST_BYTES:
                    said = f"the answer has more than {MOST_BYTES:,} bytes, which are too many for a message"
                    raise AnswerTooLarge(f"{said}; ask over HTTP, or for less", MOST_BYTES)
                self._attendance.record(asker, "query", reads=True)
                return query_answer(file.read(), request.echo.alias)

        self._later(request, asker, answer)

    def _prepare(self, request: Prepare) -> None:
        if len(self._prepared) >= MOST_PREPARED:
            raise TooManyPrepared(f"{MOST_PREPARED:,} updates are prepared on this connection already")
        dataset = request.graphs.dataset(self._base)
        template = self._broker.prepare(request.sparql, dataset)
        name = uuid4().hex
        self._prepared[name] = template
        self._send(encode(Prepared(name, tuple(template.variables), request.echo.alias)))


def _name(request: Request) -> str:
    """The kind of a request as one word, for the audit log."""
    return type(request).__name__.lower()
