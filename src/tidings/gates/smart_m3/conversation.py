"""Answers the requests of one connection in SSAP or JSSAP. It needs no socket:

    await hear(document) -> Request -> Caller        send(document), now or later

Requests of one connection are carried out in order. An update need not wait until the one before it is durable, so many
updates share one write to the log. Any other request waits until those before it are answered.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias, assert_never

from msgspec import Struct

from tidings.broker.subscriptions.subscriber import Parcel, Subscriber
from tidings.broker.updates.accepted import Outcome
from tidings.gates.caller import Caller
from tidings.gates.smart_m3.dialects import Dialect
from tidings.gates.smart_m3.memberships import Memberships
from tidings.gates.smart_m3.messages import (
    Change,
    Command,
    Header,
    Join,
    Leave,
    Query,
    Request,
    Sparql,
    Subscribe,
    Triples,
    Unsubscribe,
)
from tidings.gates.smart_m3.rdf_m3 import change_text, question_text
from tidings.gates.smart_m3.statuses import status_of
from tidings.model.errors import NotAllowed, TidingsError, internal_error
from tidings.protocol.messages import Subscribe as ToBegin

MOST_UNANSWERED = 64
"""Updates of one connection that may be on their way to the disk."""

log = logging.getLogger("tidings")


class Held(Struct, frozen=True):
    """A subscription of a connection: the request that it came from, and how its indications are written."""

    header: Header
    as_triples: bool


Holders: TypeAlias = "dict[str, Conversation]"
"""Who has which subscription, over all connections: a KP unsubscribes over another one."""


class Conversation:
    """One connection, by one caller. `send` takes a document for it, and does not wait."""

    def __init__(
        self,
        caller: Caller,
        dialect: Dialect,
        send: Callable[[bytes], None],
        memberships: Memberships,
        holders: Holders,
        *,
        base: str,
        where: str = "",
    ) -> None:
        self._caller = caller
        self._dialect = dialect
        self._send = send
        self._memberships = memberships
        self._holders = holders
        self._base = base
        self._where = where
        self._held: dict[str, Held] = {}
        self._joined: str | None = None
        """What was shown over this connection."""
        self._unanswered = 0
        self._answered = asyncio.Event()
        self._answered.set()
        self._ended = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def hear(self, document: bytes) -> None:
        """A message of the KP. Whatever is wrong with it, the conversation goes on."""
        header, request = self._dialect.read(document, self._base)
        if isinstance(request, TidingsError):
            await self._settled()
            self._send(self._dialect.refused(header, self._caller.refused(request, "message")))
            return
        try:
            await self._handle(request)
        except TidingsError as error:
            self._send(self._dialect.refused(header, error))
        except Exception:
            log.exception("internal error while handling a message of Smart-M3")
            self._send(self._dialect.refused(header, internal_error()))

    def end(self) -> None:
        """The KP is gone."""
        self._ended = True
        for spuid in list(self._held):
            self._forget(spuid)

    def _forget(self, spuid: str) -> Held | None:
        if self._holders.get(spuid) is self:
            del self._holders[spuid]
        return self._held.pop(spuid, None)

    @property
    def has_subscriptions(self) -> bool:
        return bool(self._held)

    async def _handle(self, request: Request) -> None:
        self._caller.shown = (
            request.credentials or self._joined or self._memberships.shown_by(request.header.node, self._where)
        )
        match request:
            case Change() | Command():
                await self._change(request)
            case _:
                await self._settled()
                await self._ask(request)

    async def _ask(self, request: Join | Leave | Query | Subscribe | Unsubscribe) -> None:
        match request:
            case Join():
                await self._join(request)
            case Leave():
                await self._leave(request)
            case Query(header, question):
                as_triples, text = self._asked(question)
                results = await self._caller.query(text, None, self._dialect.writer(as_triples=as_triples))
                self._send(self._dialect.answered(header, results))
            case Subscribe():
                await self._subscribe(request)
            case Unsubscribe():
                await self._unsubscribe(request)
            case _:
                assert_never(request)

    def _asked(self, question: Triples | Sparql) -> tuple[bool, str]:
        if isinstance(question, Sparql):
            return False, question.text
        return True, question_text(question, self._base)

    # -- who is there -------------------------------------------------------------------------------------------

    async def _join(self, request: Join) -> None:
        try:
            await self._caller.identify()
        except TidingsError as error:
            raise self._caller.refused(error, "join") from error
        if request.credentials is not None:
            self._joined = request.credentials
            self._memberships.join(request.header.node, self._where, request.credentials)
        self._send(self._dialect.confirmed(request.header))

    async def _leave(self, request: Leave) -> None:
        """The end of what this connection has; other connections of the KP close by themselves."""
        for spuid in list(self._held):
            self._forget(spuid)
            await self._caller.unsubscribe(spuid)
        self._memberships.leave(request.header.node, self._where)
        self._joined = None
        self._send(self._dialect.confirmed(request.header))

    # -- updates ------------------------------------------------------------------------------------------------

    async def _change(self, request: Change | Command) -> None:
        """Have it carried out; it is answered once it is durable."""
        header, confirms = request.header, request.confirm
        bnodes: dict[str, str] | None = None
        try:
            asker = await self._caller.identify()
            if isinstance(request, Change):
                text, bnodes = change_text(request, self._base)
            else:
                text = request.text
        except TidingsError as error:
            await self._settled()
            refused = self._caller.refused(error, "update")
            if confirms:
                self._send(self._dialect.refused(header, refused))
            return

        def reply(outcome: Outcome) -> None:
            self._unanswered -= 1
            self._answered.set()
            if not confirms or self._ended:
                return
            if isinstance(outcome, TidingsError):
                self._send(self._dialect.refused(header, outcome))
            elif header.kind == "QUERY":
                self._send(self._dialect.answered(header, self._dialect.no_results))
            else:
                self._send(self._dialect.confirmed(header, None if header.kind == "REMOVE" else bnodes))

        self._unanswered += 1
        self._caller.submit(asker, text, None, reply)
        await self._settled(MOST_UNANSWERED)

    async def _settled(self, most: int = 1) -> None:
        """Until fewer updates than so many wait for their answer."""
        while self._unanswered >= most:
            self._answered.clear()
            await self._answered.wait()

    # -- subscriptions ------------------------------------------------------------------------------------------

    async def _subscribe(self, request: Subscribe) -> None:
        as_triples, text = self._asked(request.question)
        header = request.header

        def begun(subscriber: Subscriber, parcel: Parcel, resumed: bool | None) -> None:
            if self._ended:
                return
            self._held[subscriber.spuid] = Held(header, as_triples)
            self._holders[subscriber.spuid] = self
            self._send(self._first(header, subscriber, parcel, bool(resumed), as_triples))

        if request.resumed is None:
            await self._caller.subscribe(text, None, begun)
        else:
            await self._caller.resume(*request.resumed, begun, otherwise=ToBegin(text))

    def _first(self, header: Header, subscriber: Subscriber, parcel: Parcel, resumed: bool, as_triples: bool) -> bytes:
        dialect = self._dialect
        if resumed:
            changes = dialect.changes(as_triples=as_triples)(parcel)
            return dialect.resumed(header, subscriber.spuid, subscriber.sequence, changes)
        return dialect.subscribed(header, subscriber.spuid, dialect.first(parcel, as_triples=as_triples))

    async def _unsubscribe(self, request: Unsubscribe) -> None:
        """Also over another connection than that of the subscription, which is then told as well."""
        header, spuid = request.header, request.subscription
        other = self._holders.get(spuid, self)
        held = other.held(spuid)
        if other is self or held is None:
            await self._caller.unsubscribe(spuid)
            self._forget(spuid)
        else:
            await self._end_elsewhere(other, held, header, spuid)
        self._send(self._dialect.unsubscribed(header, spuid))

    async def _end_elsewhere(self, other: "Conversation", held: Held, header: Header, spuid: str) -> None:
        asker = await self._caller.identify()
        if asker.subject is not None:
            await self._caller.unsubscribe(spuid)
            other.told_of_the_end(spuid)
        elif held.header.node == header.node:  # the same KP, over another connection of its own
            await other.unsubscribe(spuid)
        else:
            refused = NotAllowed("the subscription belongs to another node")
            raise self._caller.refused(refused, "unsubscribe", asker)

    def held(self, spuid: str) -> Held | None:
        return self._held.get(spuid)

    async def unsubscribe(self, spuid: str) -> None:
        """End a subscription, and say so."""
        await self._caller.unsubscribe(spuid)
        self.told_of_the_end(spuid)

    def told_of_the_end(self, spuid: str) -> None:
        held = self._forget(spuid)
        if held is not None:
            self._send(self._dialect.unsubscribed(held.header, spuid))

    # -- for the connection -------------------------------------------------------------------------------------

    def indicate(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None:
        """A notification. What cannot be written ends its subscription."""
        held = self._held.get(subscriber.spuid)
        if held is None:
            return
        encode = self._dialect.changes(as_triples=held.as_triples)
        try:
            changes = parcel.encodings.get(encode)
            if changes is None:
                changes = parcel.encodings[encode] = encode(parcel)
        except TidingsError as error:
            self.dismiss(subscriber, str(error), status_of(error))
            self._later(self._caller.unsubscribe(subscriber.spuid))
            return
        self._send(self._dialect.indicated(held.header, subscriber.spuid, sequence, changes))

    def dismiss(self, subscriber: Subscriber, reason: str, status: str = "m3:SIB.Error.AccessDenied") -> None:
        """A subscription has ended here."""
        held = self._forget(subscriber.spuid)
        if held is not None:
            self._send(self._dialect.dismissed(held.header, subscriber.spuid, status, reason))

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
