"""Answers requests that come as messages. It needs no socket: turns of a line come in, publications go out.

A message that changes the graph is acknowledged once the change is durable. If it meets a limit and has no topic for an
answer, it is tried again. For other requests, the client has to ask again if no answer comes.
"""

import logging
from collections.abc import Callable, Coroutine
from typing import Any, assert_never

from tidings.broker.updates.accepted import Outcome
from tidings.gates.answers import delayed_answer, update_answer
from tidings.gates.asking import Asker
from tidings.gates.caller import Bound, Caller
from tidings.gates.errors import BodyTooLarge, RateExceeded
from tidings.gates.mqtt.line import Turn
from tidings.gates.mqtt.mapping import Mapped
from tidings.gates.mqtt.messages import (
    KINDS,
    NO_EXTRAS,
    Extras,
    Kind,
    Message,
    Publication,
    echo_in,
    read_extras,
    read_request,
)
from tidings.gates.mqtt.subscriptions import Subscriptions
from tidings.gates.mqtt.topics import check_name, matches
from tidings.gates.premises import Premises
from tidings.model.errors import BadRequest, LimitExceeded, TidingsError, internal_error
from tidings.model.terms import DEFAULT_GRAPH
from tidings.protocol.answers import Unsubscribed, encode, query_answer
from tidings.protocol.echo import NO_ECHO, Echo
from tidings.protocol.errors import BadMessage, Refusal
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
from tidings.sparql.algebra import Dataset

PAUSE = 0.2
"""Seconds after which a message that met a limit is tried again, if the limit does not say."""

log = logging.getLogger("tidings")


class Conversation:
    """All clients. `send` takes a publication, and does not wait; `spawn` has work done that ends with the gate."""

    def __init__(
        self,
        premises: Premises,
        subscriptions: Subscriptions,
        mapped: Mapped,
        send: Callable[[Publication], None],
        spawn: Callable[[Coroutine[Any, Any, None]], object],
        *,
        prefix: str,
    ) -> None:
        self._base = premises.base
        self._max_body = premises.max_body
        self._subscriptions = subscriptions
        self._mapped = mapped
        self._send = send
        self._spawn = spawn
        self._kinds: dict[str, Kind] = {f"{prefix}/{kind}": kind for kind in KINDS}
        self._prefix = f"{prefix}/"
        self._replies = f"{prefix}/replies/"
        self.filters = (*self._kinds, *dict.fromkeys(each.filter for each in mapped.updates))
        """The topics that the gate listens to."""

    @property
    def _caller(self) -> Caller:
        return self._subscriptions.caller

    def serve(self, turn: Turn) -> None:
        """Handle a message. Whatever is wrong with it, the others go on."""
        message = turn.message
        kind = self._kinds.get(message.topic)
        extras, echo = NO_EXTRAS, NO_ECHO
        try:
            self._check_size(message)
            if kind is None:
                self._serve_mapped(turn)
                return
            extras = NO_EXTRAS if kind == "events" else read_extras(message.payload)
            echo = echo_in(kind, message.payload)
            request = read_request(kind, message.payload)
            echo = request.echo
            self._handle(turn, request, extras)
        except TidingsError as error:
            self._refuse(message, extras, self._caller.refused(error, kind or "mapped"), echo)
            turn.done()
        except Exception:
            log.exception("internal error while handling an MQTT message")
            self._refuse(message, extras, internal_error(), echo)
            turn.done()

    def _check_size(self, message: Message) -> None:
        if len(message.payload) > self._max_body:
            raise BodyTooLarge(self._max_body)

    # -- answers ------------------------------------------------------------------------------------------------

    def _reply(self, message: Message, extras: Extras, document: bytes) -> None:
        topic = self._reply_topic(message, extras)
        if topic is not None:
            self._send(Publication(topic, document, correlation=message.correlation))

    def _reply_topic(self, message: Message, extras: Extras) -> str | None:
        """The topic for an answer, if it is allowed: not a topic of requests, or of others' notifications."""
        topic = message.reply or extras.reply
        if topic is None or (topic.startswith(self._prefix) and not topic.startswith(self._replies)):
            return None
        try:
            check_name(topic)
        except BadRequest:
            return None
        return None if any(matches(each, topic) for each in self.filters) else topic

    def _refuse(self, message: Message, extras: Extras, error: TidingsError, echo: Echo) -> None:
        if self._reply_topic(message, extras) is None:
            log.info("an MQTT message to %s was refused: %s", message.topic, error)
        self._reply(message, extras, encode(Refusal.of(error, echo)))

    # -- what changes something ---------------------------------------------------------------------------------

    def _serve_mapped(self, turn: Turn) -> None:
        """All updates that the topic means; the last of them is done last."""
        changes = [each.bind(turn.message) for each in self._mapped.of(turn.message.topic)]
        if not changes:
            turn.done()
        for number, change in enumerate(changes, 1):
            self._submit(turn, change, None, NO_EXTRAS, NO_ECHO, last=number == len(changes))

    def _submit(
        self,
        turn: Turn,
        change: str | Bound,
        dataset: Dataset | None,
        extras: Extras,
        echo: Echo,
        publisher: str | None = None,
        *,
        last: bool = True,
    ) -> None:
        message = turn.message
        can_tell = self._reply_topic(message, extras) is not None

        def replied(outcome: Outcome) -> None:
            if isinstance(outcome, LimitExceeded) and not can_tell:
                turn.again(outcome.seconds if isinstance(outcome, RateExceeded) else PAUSE)
                return
            if isinstance(outcome, TidingsError):
                self._refuse(message, extras, outcome, echo)
            else:
                self._reply(message, extras, encode(update_answer(outcome, echo.alias)))
            if last:
                turn.done()

        self._caller.submit(self._asker(), change, dataset, replied, publisher)

    def _asker(self) -> Asker:
        """Raises what is wrong with the identity of the gate."""
        asker = self._caller.recall()
        assert asker is not None  # the gate has no token that would have to be verified
        return asker

    # -- requests -----------------------------------------------------------------------------------------------

    def _handle(self, turn: Turn, request: Request, extras: Extras) -> None:
        match request:
            case Update(sparql, graphs, publisher):
                self._submit(turn, sparql, graphs.dataset(self._base), extras, request.echo, publisher)
            case DelayedUpdate() | Publish():
                self._later(turn, request, extras, accept=False)
            case Subscribe() | Resume() if self._reply_topic(turn.message, extras) is None:
                raise BadMessage("who subscribes says where the answer goes: by a response topic, or the member reply")
            case Query() | Subscribe() | Resume() | Unsubscribe():
                self._later(turn, request, extras, accept=True)
            case UnsubscribeByAlias():
                raise BadMessage("the member spuid is missing")
            case UpdatePrepared() | Prepare() | Cancel():
                raise BadMessage("over MQTT there are no prepared updates; map a topic to one in a profile")
            case _:
                assert_never(request)

    def _later(self, turn: Turn, request: Request, extras: Extras, *, accept: bool) -> None:
        """Answer what takes its time."""
        if accept:
            turn.accept()

        async def answer() -> None:
            message = turn.message
            try:
                await self._answer(request, extras, lambda document: self._reply(message, extras, document))
            except TidingsError as error:
                self._refuse(message, extras, error, request.echo)
            except Exception:
                log.exception("internal error while handling an MQTT message")
                self._refuse(message, extras, internal_error(), request.echo)
            finally:
                turn.done()

        self._spawn(answer())

    async def _answer(self, request: Request, extras: Extras, reply: Callable[[bytes], None]) -> None:
        alias = request.echo.alias
        match request:
            case Query(sparql, graphs):
                results = await self._caller.query(sparql, graphs.dataset(self._base), most=self._max_body)
                reply(query_answer(results, alias))
            case DelayedUpdate(sparql, due, graphs):
                delayed = await self._caller.delay(sparql, due, graphs.dataset(self._base))
                reply(encode(delayed_answer(delayed, alias)))
            case Publish(events):
                reply(encode(await self._caller.publish(events, DEFAULT_GRAPH, alias)))
            case Subscribe():
                await self._subscriptions.subscribe(request, extras, reply)
            case Resume():
                await self._subscriptions.resume(request, extras, reply)
            case Unsubscribe(spuid):
                await self._subscriptions.unsubscribe(spuid)
                reply(encode(Unsubscribed(spuid, alias)))
            case _:
                raise AssertionError(request)
