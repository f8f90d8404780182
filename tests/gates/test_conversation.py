"""Whole conversations in the Subscribe language without a socket: documents in, documents out, a broker in memory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from broker.making import BASE, Clock, in_memory
from protocol.tables import table, truth
from tidings.broker.broker import Broker
from tidings.broker.subscriptions.subscriber import Parcel, Subscriber
from tidings.gates.answers import body_of, head_of
from tidings.gates.quotas import Quota, Quotas
from tidings.gates.websocket.conversation import Conversation, Traffic
from tidings.model.formats.results.json import term_value
from tidings.protocol.answer_reading import decode_answer
from tidings.protocol.answers import (
    Answer,
    Cancelled,
    DelayedAccepted,
    Notification,
    Prepared,
    QueryAnswer,
    Unsubscribed,
    UpdateDone,
)
from tidings.protocol.echo import Echo
from tidings.protocol.errors import Refusal
from tidings.protocol.instants import After
from tidings.protocol.messages import (
    Cancel,
    DelayedUpdate,
    Graphs,
    Prepare,
    Query,
    Request,
    Resume,
    Subscribe,
    Unsubscribe,
    UnsubscribeByAlias,
    Update,
    UpdatePrepared,
    encode_request,
)
from tidings.protocol.notifications import SPLICE
from waiting import asynchronous

ALL = "SELECT ?o { <s> <p> ?o }"
ONE = table(("o",), ({"o": term_value('"1"')},))
NONE = table(("o",))


class Client:
    """One end of a wire that is a queue; the other end is a conversation."""

    def __init__(self, broker: Broker, *, read_only: bool = False) -> None:
        self._heard: asyncio.Queue[bytes] = asyncio.Queue()
        self._broker = broker
        self.session = broker.connect(self)
        self.traffic = Traffic()
        self.conversation = Conversation(
            broker,
            self.session,
            self._heard.put_nowait,
            self.traffic,
            base=BASE,
            read_only=read_only,
            quotas=Quotas(Quota(), lambda: 0.0),
        )

    def deliver(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None:
        self._heard.put_nowait(SPLICE % (head_of(subscriber), sequence, body_of(parcel)))

    def dismiss(self, subscriber: Subscriber, reason: str, code: int) -> None: ...

    def close(self, code: int, reason: str) -> None:
        raise AssertionError(f"nobody is to be let go here: {code} {reason}")

    def say(self, request: Request | bytes) -> None:
        self.conversation.hear(request if isinstance(request, bytes) else encode_request(request))

    async def next(self) -> Answer:
        answer = decode_answer(await self._heard.get())
        assert answer is not None
        return answer

    async def ask(self, request: Request | bytes) -> Answer:
        self.say(request)
        return await self.next()

    def leave(self) -> None:
        self.conversation.end()
        self._broker.disconnect(self.session)


@asynccontextmanager
async def talking(*, read_only: bool = False) -> AsyncIterator[Client]:
    async with in_memory(Clock()) as broker:
        yield Client(broker, read_only=read_only)


@asynchronous
async def test_a_subscriber_hears_of_the_update_of_another() -> None:
    async with talking() as client:
        first = await client.ask(Subscribe(ALL, echo=Echo("lamps")))
        assert isinstance(first, Notification)
        assert (first.sequence, first.added, first.removed, first.alias) == (0, NONE, NONE, "lamps")
        client.say(Update('INSERT DATA { <s> <p> "1" }', echo=Echo("u1")))
        heard = {type(answer): answer for answer in (await client.next(), await client.next())}
        done, told = heard[UpdateDone], heard[Notification]
        assert isinstance(done, UpdateDone)
        assert (done.sequence, done.added, done.removed, done.alias) == (1, 1, 0, "u1")
        expected = Notification(first.spuid, 1, ONE, NONE, 1, done.time, None, "lamps")
        assert told == expected
        assert await client.ask(Unsubscribe(first.spuid, Echo("bye"))) == Unsubscribed(first.spuid, "bye")


@asynchronous
async def test_one_who_comes_back_goes_on_where_it_was() -> None:
    async with in_memory(Clock(), grace=100.0) as broker:
        client = Client(broker)
        first = await client.ask(Subscribe(ALL, echo=Echo("a")))
        assert isinstance(first, Notification)
        client.leave()
        other = Client(broker)
        assert isinstance(await other.ask(Update('INSERT DATA { <s> <p> "1" }')), UpdateDone)
        again = await other.ask(Resume(first.spuid, 0, echo=Echo("b")))
        assert isinstance(again, Notification)
        assert (again.spuid, again.sequence, again.resumed, again.alias) == (first.spuid, 1, True, "b")
        assert (again.added, again.removed) == (ONE, NONE)


@asynchronous
async def test_one_whose_subscription_is_gone_begins_anew_or_is_refused() -> None:
    async with talking() as client:
        anew = await client.ask(Resume("urn:uuid:gone", 41, Subscribe(ALL, echo=Echo("a")), Echo("a")))
        assert isinstance(anew, Notification)
        assert (anew.sequence, anew.resumed, anew.alias) == (0, False, "a")
        refused = await client.ask(Resume("urn:uuid:gone", 41, echo=Echo("b")))
        assert isinstance(refused, Refusal)
        assert (refused.code, refused.status, refused.alias) == ("unknown_spuid", 404, "b")


@asynchronous
async def test_an_alias_that_names_one_subscription_is_enough_to_end_it() -> None:
    async with talking() as client:
        first = await client.ask(Subscribe(ALL, echo=Echo("twice")))
        assert isinstance(first, Notification)
        ended = await client.ask(UnsubscribeByAlias("twice", Echo("twice")))
        assert ended == Unsubscribed(first.spuid, "twice")
        refused = await client.ask(UnsubscribeByAlias("twice", Echo("twice")))
        assert isinstance(refused, Refusal)
        assert (refused.code, refused.alias) == ("bad_message", "twice")


@asynchronous
async def test_a_query_is_answered_with_its_dataset() -> None:
    async with talking() as client:
        await client.ask(Update('INSERT DATA { GRAPH <g> { <s> <p> "1" } }'))
        assert await client.ask(Query(ALL, echo=Echo("q"))) == QueryAnswer(NONE, "q")
        assert await client.ask(Query(ALL, Graphs(("g",)), Echo("q"))) == QueryAnswer(ONE, "q")
        assert await client.ask(Query("ASK { <s> <p> ?o }", Graphs(("g",)))) == QueryAnswer(truth(True))


@asynchronous
async def test_an_update_is_prepared_once_and_sent_by_name() -> None:
    async with talking() as client:
        prepared = await client.ask(Prepare("INSERT { <s> <p> ?new } WHERE {}", echo=Echo("p")))
        assert isinstance(prepared, Prepared)
        assert (prepared.variables, prepared.alias) == (("new",), "p")
        done = await client.ask(UpdatePrepared(prepared.prepared, {"new": '"1"'}, echo=Echo(7)))
        assert isinstance(done, UpdateDone)
        assert (done.added, done.alias) == (1, 7)
        assert await client.ask(Query(ALL)) == QueryAnswer(ONE)
        refused = await client.ask(UpdatePrepared("another", echo=Echo(8)))
        assert isinstance(refused, Refusal)
        assert (refused.code, refused.alias) == ("unknown_prepared", 8)


@asynchronous
async def test_a_delayed_update_is_accepted_and_called_off() -> None:
    async with talking() as client:
        accepted = await client.ask(DelayedUpdate("CLEAR ALL", After(300.0), echo=Echo("d")))
        assert isinstance(accepted, DelayedAccepted)
        assert (accepted.time, accepted.alias) == (Clock().now() + 300_000_000, "d")
        assert await client.ask(Cancel(accepted.delayed, Echo("c"))) == Cancelled(accepted.delayed, "c")
        refused = await client.ask(Cancel(accepted.delayed, Echo("c")))
        assert isinstance(refused, Refusal)
        assert (refused.code, refused.alias) == ("unknown_delayed", "c")


@pytest.mark.parametrize(
    ("message", "code", "alias"),
    [
        (b'{"query":{"sparql":"SELEKT","alias":"a"}}', "sparql_syntax_error", "a"),
        (b'{"subscribe":{"sparql":"SELEKT","alias":"a"}}', "sparql_syntax_error", "a"),
        (b'{"update":{"sparql":"SELEKT","alias":"a"}}', "sparql_syntax_error", "a"),
        (b'{"prepare":{"sparql":"SELEKT","alias":"a"}}', "sparql_syntax_error", "a"),
        (b'{"query":{"alias":"a"}}', "bad_message", "a"),
        (b'{"query":{"sparql":"ASK {}","alias":"a","default-graph-uri":"a b"}}', "bad_request", "a"),
        (b'{"update":{"sparql":"CLEAR ALL","alias":"a","delay":-1}}', "bad_request", "a"),
        (b"nonsense", "bad_message", None),
    ],
)
def test_an_error_has_the_alias_of_its_message_and_the_conversation_goes_on(
    message: bytes, code: str, alias: str | None
) -> None:
    @asynchronous
    async def converse() -> None:
        async with talking() as client:
            refused = await client.ask(message)
            assert isinstance(refused, Refusal)
            assert (refused.code, refused.alias) == (code, alias)
            assert await client.ask(Query("ASK {}")) == QueryAnswer(truth(True))
            assert client.traffic.messages == 2

    converse()


@asynchronous
async def test_a_syntax_error_says_where_it_is() -> None:
    async with talking() as client:
        refused = await client.ask(Query("SELECT *\n{ ?s"))
        assert isinstance(refused, Refusal)
        assert (refused.data["line"], refused.data["column"]) == (2, 5)


@pytest.mark.parametrize(
    "request_",
    [
        Update("CLEAR ALL", echo=Echo("a")),
        DelayedUpdate("CLEAR ALL", After(1.0), echo=Echo("a")),
        UpdatePrepared("p", echo=Echo("a")),
    ],
    ids=lambda request: type(request).__name__,
)
def test_a_read_only_broker_takes_no_update(request_: Request) -> None:
    @asynchronous
    async def converse() -> None:
        async with talking(read_only=True) as client:
            refused = await client.ask(request_)
            assert refused == Refusal("not_allowed", 403, "this broker is read-only", alias="a")

    converse()


@asynchronous
async def test_an_accident_is_in_the_log_and_the_client_learns_nothing_of_our_insides(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with talking() as client:
        client.conversation._prepared = None  # type: ignore[assignment]
        refused = await client.ask(Prepare("CLEAR ALL", echo=Echo("a")))
    assert refused == Refusal("internal_error", 500, "internal error; the log of the broker has the details", alias="a")
    assert caplog.messages == ["internal error while handling a WebSocket message"]


@asynchronous
async def test_answers_that_nobody_waits_for_any_more_are_given_up() -> None:
    async with talking() as client:
        client.say(Query("ASK {}"))
        client.leave()
        await asyncio.sleep(0)
        assert client._heard.empty()
