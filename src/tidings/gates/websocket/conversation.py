"""What a client asks for in the Subscribe language, and what it is answered. No socket is needed for it:

hear(document) -> Request -> Broker        send(document), now or later
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import assert_never
from uuid import uuid4

from tidings.broker.broker import Broker
from tidings.broker.subscriptions.subscriber import Parcel, Session, Subscriber
from tidings.broker.updates.accepted import Outcome
from tidings.engine.updates.operations import PreparedUpdate
from tidings.gates.answers import delayed_answer, encode_body, first_answer, update_answer
from tidings.gates.errors import TooManyPrepared, UnknownPrepared
from tidings.gates.http.results import results_document
from tidings.model.errors import NotAllowed, NotFound, TidingsError, internal_error
from tidings.protocol.answers import Cancelled, Prepared, Unsubscribed, encode, query_answer
from tidings.protocol.echo import Echo
from tidings.protocol.errors import BadMessage, Refusal
from tidings.protocol.message_reading import decode, echo_of
from tidings.protocol.messages import (
    Cancel,
    DelayedUpdate,
    Prepare,
    Query,
    Request,
    Resume,
    Subscribe,
    Unsubscribe,
    UnsubscribeByAlias,
    Update,
    UpdatePrepared,
)
from tidings.sparql.binding import Bindable

MOST_PREPARED = 1_000

log = logging.getLogger("tidings")


class Traffic:
    """What is counted, over all conversations."""

    __slots__ = ("errors", "messages")

    def __init__(self) -> None:
        self.messages = 0
        self.errors = 0


class Conversation:
    """One client, by one session. `send` takes a document for it, and does not wait."""

    def __init__(
        self,
        broker: Broker,
        session: Session,
        send: Callable[[bytes], None],
        traffic: Traffic,
        *,
        base: str,
        read_only: bool,
    ) -> None:
        self._broker = broker
        self._session = session
        self._send = send
        self._traffic = traffic
        self._base = base
        self._read_only = read_only
        self._prepared: dict[str, Bindable[PreparedUpdate]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        """Answers that take their time; nobody needs them once the client is gone."""

    def hear(self, document: bytes) -> None:
        """A message of the client. Whatever is wrong with it, the conversation goes on."""
        self._traffic.messages += 1
        echo: Echo | None = None
        try:
            request = decode(document)
            echo = request.echo
            self._handle(request)
        except TidingsError as error:
            self._refuse(error, echo or echo_of(document))
        except Exception:
            log.exception("internal error while handling a WebSocket message")
            self._refuse(internal_error(), echo or echo_of(document))

    def end(self) -> None:
        """The client is gone."""
        for task in self._tasks:
            task.cancel()

    def _handle(self, request: Request) -> None:
        match request:
            case Update() | DelayedUpdate() | UpdatePrepared() if self._read_only:
                raise NotAllowed("this broker is read-only")
            case Update():
                self._update(request)
            case UpdatePrepared():
                self._update_prepared(request)
            case DelayedUpdate():
                self._delay(request)
            case Query():
                self._query(request)
            case Subscribe():
                self._subscribe(request)
            case Resume():
                self._resume(request)
            case Unsubscribe(spuid):
                self._unsubscribe(spuid, request.echo)
            case UnsubscribeByAlias(alias):
                self._unsubscribe(self._spuid_of(alias), request.echo)
            case Prepare():
                self._prepare(request)
            case Cancel():
                self._later(request.echo, lambda: self._cancel(request))
            case _:
                assert_never(request)

    def _refuse(self, error: TidingsError, echo: Echo) -> None:
        self._traffic.errors += 1
        self._send(encode(Refusal.of(error, echo)))

    def _later(self, echo: Echo, work: Callable[[], Awaitable[bytes]]) -> None:
        """Send an answer that takes its time."""

        async def answer() -> None:
            try:
                self._send(await work())
            except TidingsError as error:
                self._refuse(error, echo)
            except Exception:
                log.exception("internal error while handling a WebSocket message")
                self._refuse(internal_error(), echo)

        task = asyncio.get_running_loop().create_task(answer())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- subscriptions ------------------------------------------------------------------------------------------

    def _subscribe(self, request: Subscribe, resumed: bool | None = None) -> None:
        """`resumed` is said to one who wanted to go on with an old subscription."""

        def answered(subscriber: Subscriber, parcel: Parcel, _: bool) -> None:
            self._send(first_answer(subscriber, parcel, resumed))

        def refused(error: TidingsError) -> None:
            self._refuse(error, request.echo)

        dataset, alias = request.graphs.dataset(self._base), request.echo.alias
        self._broker.subscribe(self._session, request.sparql, dataset, alias, answered, refused, encode=encode_body)

    def _resume(self, request: Resume) -> None:
        def answered(subscriber: Subscriber, parcel: Parcel, resumed: bool) -> None:
            self._send(first_answer(subscriber, parcel, resumed))

        def refused(error: TidingsError) -> None:
            self._refuse(error, request.echo)

        try:
            self._broker.resume(
                self._session,
                request.spuid,
                request.sequence,
                request.echo.alias,
                answered,
                refused,
                encode=encode_body,
            )
        except NotFound:
            if request.otherwise is None:
                raise
            self._subscribe(request.otherwise, resumed=False)

    def _unsubscribe(self, spuid: str, echo: Echo) -> None:
        done = encode(Unsubscribed(spuid, echo.alias))
        self._broker.unsubscribe(self._session, spuid, lambda: self._send(done))

    def _spuid_of(self, alias: str | int | float) -> str:
        """The subscription of this connection that has an alias, if there is exactly one."""
        found = [each.spuid for each in self._session.subscribers.values() if each.alias == alias]
        if len(found) != 1:
            raise BadMessage("the member spuid is missing, and the alias does not name exactly one subscription")
        return found[0]

    # -- updates and queries ------------------------------------------------------------------------------------

    def _update(self, request: Update) -> None:
        alias = request.echo.alias

        def reply(outcome: Outcome) -> None:
            self._send(encode(update_answer(outcome, alias)))

        self._broker.submit(request.sparql, request.graphs.dataset(self._base), reply, request.publisher)

    def _update_prepared(self, request: UpdatePrepared) -> None:
        alias = request.echo.alias

        def reply(outcome: Outcome) -> None:
            self._send(encode(update_answer(outcome, alias)))

        template = self._prepared.get(request.prepared)
        if template is None:
            raise UnknownPrepared(f"nothing was prepared as {request.prepared} on this connection")
        self._broker.submit_bound(template, request.bound(self._base), reply, request.publisher)

    def _delay(self, request: DelayedUpdate) -> None:
        at = request.due.instant(self._broker.now())
        dataset = request.graphs.dataset(self._base)

        async def accept() -> bytes:
            delayed = await self._broker.delay(request.sparql, dataset, at, request.publisher)
            return encode(delayed_answer(delayed, request.echo.alias))

        self._later(request.echo, accept)

    async def _cancel(self, request: Cancel) -> bytes:
        delayed = await self._broker.cancel_delayed(request.delayed)
        return encode(Cancelled(delayed.id, request.echo.alias))

    def _query(self, request: Query) -> None:
        dataset = request.graphs.dataset(self._base)

        async def answer() -> bytes:
            spool = await self._broker.query(request.sparql, dataset, results_document)
            with spool.file as file:
                return query_answer(file.read(), request.echo.alias)

        self._later(request.echo, answer)

    def _prepare(self, request: Prepare) -> None:
        if len(self._prepared) >= MOST_PREPARED:
            raise TooManyPrepared(f"{MOST_PREPARED:,} updates are prepared on this connection already")
        dataset = request.graphs.dataset(self._base)
        template = self._broker.prepare(request.sparql, dataset)
        name = uuid4().hex
        self._prepared[name] = template
        self._send(encode(Prepared(name, tuple(template.variables), request.echo.alias)))
