"""Subscriptions as event streams (HTML Living Standard, section 9.2), for browsers, curl and the like.

    GET /subscribe?query=…      ->      id: <spuid>#<sequence>
                                        data: {"notification": …}, as over WebSocket

A client that reconnects sends the id that it saw last as `Last-Event-ID`, as every EventSource does by itself, and so
resumes its subscription.
"""

import asyncio
import re
from collections import deque
from collections.abc import AsyncGenerator
from typing import assert_never

import orjson
from starlette.requests import Request
from starlette.responses import Response

from tidings.broker.broker import Broker
from tidings.broker.errors import ShuttingDown, TooExpensive
from tidings.broker.subscriptions.outbox import LOST, REVOKED, TOO_EXPENSIVE, TOO_SLOW
from tidings.broker.subscriptions.resumption import TAKEN_OVER
from tidings.broker.subscriptions.subscriber import Answered, Origin, Parcel, Refused, Subscriber
from tidings.gates.answers import body_of, encode_body, first_answer, head_of
from tidings.gates.asking import Asker, Guard, Leave
from tidings.gates.errors import SubscriptionLost, TakenOver, TooSlow
from tidings.gates.http.limits import share_of
from tidings.gates.http.routing import while_present
from tidings.gates.http.security.identification import asker_of, deed_of, shown_by
from tidings.gates.http.streaming.streams import StreamResponse, Streams
from tidings.model.access import Rights
from tidings.model.errors import BadRequest, MayNotSubscribe, NotFound, TidingsError
from tidings.protocol.echo import Echo
from tidings.protocol.messages import Graphs, Resume, Subscribe
from tidings.protocol.notifications import SPLICE
from tidings.protocol.sparql_http import Parameters

MEDIA_TYPE = "text/event-stream"
_GOING_AWAY = 1001
_REASONS: dict[int, type[TidingsError]] = {
    TOO_SLOW: TooSlow,
    LOST: SubscriptionLost,
    TAKEN_OVER: TakenOver,
    REVOKED: MayNotSubscribe,
    TOO_EXPENSIVE: TooExpensive,
    _GOING_AWAY: ShuttingDown,
}
_EVENT_ID = re.compile(r"(.+)#(-?[0-9]{1,19})")
_RETRY = b"retry: 1000\n"
_HEARTBEAT = b":\n\n"


def read_request(request: Request, base: str) -> Subscribe | Resume:
    """What a client asks for: a new subscription, or to go on with an old one. Raises BadRequest."""
    parameters = Parameters(request.scope["query_string"])
    graphs = Graphs(tuple(parameters.all("default-graph-uri")), tuple(parameters.all("named-graph-uri")))
    graphs.dataset(base)  # raises BadRequest before anything is begun
    text, echo = parameters.one("query"), Echo(parameters.one("alias"))
    anew = None if text is None else Subscribe(text, graphs, echo)
    last = request.headers.get("last-event-id") or parameters.one("last-event-id")
    if last:
        return Resume(*_event_id(last), anew, echo)
    if anew is None:
        raise BadRequest("the parameter query is missing")
    return anew


def _event_id(text: str) -> tuple[str, int]:
    match = _EVENT_ID.fullmatch(text)
    if match is None:
        raise BadRequest(f"Last-Event-ID is {text!r}, which is not the id of an event of this broker")
    return match[1], int(match[2])


class EventStreams:
    """Answers `GET /subscribe`. An event stream has one subscription, and is a session of its own."""

    def __init__(
        self, broker: Broker, streams: Streams, guard: Guard, *, base: str, high_water: int, ping: float
    ) -> None:
        self._broker = broker
        self._streams = streams
        self._guard = guard
        self._base = base
        self._high_water = high_water
        self._ping = ping

    async def subscribe(self, request: Request) -> Response:
        asked = read_request(request, self._base)
        self._streams.admit()
        if request.method == "HEAD":
            return Response(headers={"content-type": MEDIA_TYPE})
        asker = asker_of(request.scope)
        stream = EventStream(
            self._broker,
            self._streams,
            asker,
            share_of(request.scope),
            None if request.client is None else request.client.host,
            base=self._base,
            high_water=self._high_water,
            ping=self._ping,
        )
        try:
            stream.leave = self._guard.attend(shown_by(request.scope), asker, stream.changed)
            await while_present(request, stream.begin(asked))
            if self._guard.asks:
                self._guard.judge(asker, deed_of(request.scope))
        except BaseException:
            stream.gone()
            raise
        return stream.response


class EventStream:
    """One client: the events that wait for it, and the loop that sends them."""

    def __init__(
        self,
        broker: Broker,
        streams: Streams,
        asker: Asker,
        share: str | None,
        address: str | None,
        *,
        base: str,
        high_water: int,
        ping: float,
    ) -> None:
        self._broker = broker
        self._streams = streams
        self._asker = asker
        self.leave: Leave | None = None
        """To be called at the end, so that the guard no longer reports changes of rights."""
        self._base = base
        self._high_water = high_water
        self._ping = ping
        self._waiting: deque[bytes] = deque()
        self._size = 0
        """How many bytes wait."""
        self._news = asyncio.Event()
        self._ended = False
        self._first: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._session = broker.connect(self, share)
        self._session.origin = Origin("event-stream", address, lambda: self._size)
        self._session.attend(asker.subject)
        self.response = StreamResponse(self._pieces(), MEDIA_TYPE, self.gone)
        streams.add(self)

    async def begin(self, asked: Subscribe | Resume) -> None:
        """Subscribe or resume, and wait for the first event. Raises the error if the broker refuses."""
        first = self._first

        def answered(subscriber: Subscriber, parcel: Parcel, resumed: bool) -> None:
            answer = first_answer(subscriber, parcel, resumed if isinstance(asked, Resume) else None)
            self._put(_RETRY + event(subscriber.spuid, subscriber.sequence, answer))
            if not first.done():
                first.set_result(None)

        def refused(error: TidingsError) -> None:
            if not first.done():
                first.set_exception(error)

        match asked:
            case Subscribe():
                self._subscribe(asked, answered, refused)
            case Resume():
                self._resume(asked, answered, refused)
            case _:
                assert_never(asked)
        await first

    def _subscribe(self, asked: Subscribe, answered: Answered, refused: Refused) -> None:
        dataset, alias = asked.graphs.dataset(self._base), asked.echo.alias
        self._broker.subscribe(
            self._session, asked.sparql, dataset, alias, answered, refused,
            rights=self._asker.rights, owner=self._asker.subject, encode=encode_body,
        )  # fmt: skip

    def _resume(self, asked: Resume, answered: Answered, refused: Refused) -> None:
        try:
            self._broker.resume(
                self._session, asked.spuid, asked.sequence, asked.echo.alias, answered, refused,
                asker=self._asker.subject, rights=self._asker.rights, encode=encode_body,
            )  # fmt: skip
        except NotFound:
            if asked.otherwise is None:
                raise
            self._subscribe(asked.otherwise, answered, refused)

    def changed(self, rights: Rights, reason: str) -> None:
        """The guard calls it when the client's rights change."""
        self._broker.rights_changed(self._asker.subject, rights, reason, self._session)

    # -- for the broker -----------------------------------------------------------------------------------------

    def deliver(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None:
        document = SPLICE % (head_of(subscriber), sequence, body_of(parcel))
        self._put(event(subscriber.spuid, sequence, document))

    def dismiss(self, subscriber: Subscriber, reason: str, code: int) -> None:
        self.close(code, reason)

    def close(self, code: int, reason: str) -> None:
        """Send the reason, and end. Events that wait are dropped: a client that resumes gets them."""
        if self._ended:
            return
        self._ended = True
        error = _REASONS.get(code, TidingsError)(reason)
        if not self._first.done():
            self._first.set_exception(error)
            return
        self._waiting.clear()
        self._waiting.append(b"event: error\ndata: %b\n\n" % orjson.dumps({**error.to_json(), "code": code}))
        self._news.set()
        self.response.hurry()

    def end(self) -> None:
        self.close(_GOING_AWAY, "the broker is stopping")

    def gone(self) -> None:
        self._ended = True
        if self.leave is not None:
            self.leave()
        self._streams.discard(self)
        self._broker.disconnect(self._session)

    # -- for the client -----------------------------------------------------------------------------------------

    def _put(self, piece: bytes) -> None:
        if self._ended:
            return
        self._waiting.append(piece)
        self._size += len(piece)
        self._news.set()
        if self._size > self._high_water and not self._session.full:
            self._broker.filled(self._session)

    async def _pieces(self) -> AsyncGenerator[bytes, None]:
        while self._waiting or not self._ended:
            if self._waiting:
                piece = self._waiting.popleft()
                yield piece  # returns when the client has room for more
                self._taken(len(piece))
            elif await self._is_quiet():
                yield _HEARTBEAT

    def _taken(self, size: int) -> None:
        self._size -= size
        if self._session.full and not self._ended and self._size <= self._high_water // 2:
            self._broker.drained(self._session)

    async def _is_quiet(self) -> bool:
        """Wait for the next event. Returns True if there is none within the time of a heartbeat."""
        self._news.clear()
        try:
            async with asyncio.timeout(self._ping):
                await self._news.wait()
        except TimeoutError:
            return True
        return False


def event(spuid: str, sequence: int, document: bytes) -> bytes:
    """A notification as an event without a name, for which EventSource calls `onmessage`. JSON has no line breaks."""
    return b"id: %b#%d\ndata: %b\n\n" % (spuid.encode(), sequence, document)
