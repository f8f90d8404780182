"""Subscriptions as event streams, over a real socket."""

import asyncio
from pathlib import Path

import pytest

from gates.client import rows
from gates.doors import House, indoors, is_error, listening, subscribed
from gates.wire import serving
from plain import calls
from tidings.broker.subscriptions.outbox import LOST
from tidings.gates.http.streaming import event_stream as sse
from waiting import PATIENCE, asynchronous, until

ALL = "SELECT ?s ?o WHERE { ?s <http://e/p> ?o }"


def insert(subject: str, value: int) -> str:
    return f"INSERT DATA {{ <http://e/{subject}> <http://e/p> {value} }}"


@asynchronous
async def test_the_first_event_is_the_whole_answer_and_later_ones_are_what_changed() -> None:
    async with listening() as house:
        await house.update(insert("a", 1))
        async with subscribed(house, ALL, params={"alias": "it"}) as stream:
            assert stream.answer.headers["content-type"] == "text/event-stream; charset=utf-8"
            first = await stream.next()
            assert (first.notification["sequence"], first.notification["alias"]) == (0, "it")
            assert rows(first.notification["addedResults"]) == [("http://e/a", "1")]
            assert "resumed" not in first.notification
            await house.update("DELETE { ?s ?p 1 } INSERT { ?s ?p 2 } WHERE { ?s ?p 1 }")
            second = await stream.next()
            assert rows(second.notification["addedResults"]) == [("http://e/a", "2")]
            assert rows(second.notification["removedResults"]) == [("http://e/a", "1")]


@asynchronous
async def test_events_have_an_id_and_no_name() -> None:
    async with listening() as house, subscribed(house, ALL) as stream:
        first = await stream.next()
        await house.update(insert("a", 1))
        second = await stream.next()
        spuid = first.notification["spuid"]
        assert [first.id, second.id] == [f"{spuid}#0", f"{spuid}#1"]
        assert first.name is None
        assert second.name is None


@asynchronous
async def test_the_dataset_of_the_request_is_the_dataset() -> None:
    async with listening() as house:
        await house.update("INSERT DATA { GRAPH <http://e/g> { <http://e/a> <http://e/p> 1 } }")
        async with subscribed(house, ALL, params={"default-graph-uri": "http://e/g"}) as stream:
            assert rows((await stream.next()).notification["addedResults"]) == [("http://e/a", "1")]


@pytest.mark.parametrize("by_header", [True, False])
@asynchronous
async def test_who_comes_back_gets_what_was_missed(by_header: bool) -> None:
    async with listening() as house:
        async with subscribed(house, ALL) as stream:
            last = (await stream.next()).id
            assert last is not None
        await until(lambda: house.broker.subscriptions.absent == 1)
        await house.update(insert("a", 1))
        await house.update(insert("b", 2))
        where = {"headers": {"last-event-id": last}} if by_header else {"params": {"last-event-id": last}}
        async with subscribed(house, ALL, **where) as stream:
            again = await stream.next()
            assert again.notification["resumed"] is True
            assert sorted(rows(again.notification["addedResults"])) == [("http://e/a", "1"), ("http://e/b", "2")]
            assert again.id == last.replace("#0", "#1")
            assert len(house.broker.subscriptions) == 1


@asynchronous
async def test_who_comes_back_needs_no_query() -> None:
    async with listening() as house:
        async with subscribed(house, ALL) as stream:
            last = (await stream.next()).id
        async with subscribed(house, headers={"last-event-id": str(last)}) as stream:
            assert (await stream.next()).notification["resumed"] is True


@asynchronous
async def test_who_comes_back_too_late_gets_a_fresh_answer_if_there_is_a_query() -> None:
    gone = {"last-event-id": "urn:uuid:nobody#7"}
    async with listening() as house:
        async with subscribed(house, ALL, headers=gone) as stream:
            fresh = (await stream.next()).notification
            assert (fresh["resumed"], fresh["sequence"]) == (False, 0)
            assert fresh["spuid"] != "urn:uuid:nobody"
        async with subscribed(house, headers=gone) as stream:
            assert is_error(stream.answer, 404, "unknown_spuid")


@asynchronous
async def test_a_subscription_that_goes_on_elsewhere_ends_the_stream_it_was_on() -> None:
    async with listening() as house, subscribed(house, ALL) as old:
        last = (await old.next()).id
        async with subscribed(house, headers={"last-event-id": str(last)}) as new:
            await new.next()
            end = await old.next()
            assert (end.name, end.data["error"], end.data["code"]) == ("error", "taken_over", 4009)
            assert await old.is_over()
            await house.update(insert("a", 1))
            assert rows((await new.next()).notification["addedResults"]) == [("http://e/a", "1")]


@asynchronous
async def test_a_client_that_leaves_keeps_its_subscription_for_the_grace_time() -> None:
    async with listening() as house:
        async with subscribed(house, ALL) as stream:
            await stream.next()
            assert (len(house.broker.subscriptions), len(house.broker.sessions)) == (1, 1)
        await until(lambda: not house.broker.sessions)
        assert house.broker.subscriptions.absent == 1


@asynchronous
async def test_a_quiet_stream_has_a_heartbeat() -> None:
    async with listening(ping=0.01) as house, subscribed(house, ALL) as stream:
        await stream.next()
        following = asyncio.create_task(stream.next())
        await until(lambda: stream.comments > 2)
        await house.update(insert("a", 1))
        assert (await following).notification["sequence"] == 1


@asynchronous
async def test_errors_come_before_the_stream_and_leave_nothing() -> None:
    async with listening(max_rows=1) as house:
        for parameters, status, code in [
            ({}, 400, "bad_request"),
            ({"query": "SELECT"}, 400, "sparql_syntax_error"),
            ({"query": ALL, "default-graph-uri": "no iri"}, 400, "bad_request"),
            ({"query": ALL, "last-event-id": "nonsense"}, 400, "bad_request"),
        ]:
            async with subscribed(house, params=parameters) as stream:
                assert is_error(stream.answer, status, code)
        await until(lambda: not house.broker.sessions)
        assert not len(house.broker.subscriptions)


@asynchronous
async def test_streams_are_connections_and_not_requests_in_work() -> None:
    async with listening(max_requests=1, max_connections=2) as house:
        async with subscribed(house, ALL) as one, subscribed(house, ALL) as two:
            await one.next()
            await two.next()
            await house.get("/query", params={"query": "ASK {}"})
            async with subscribed(house, ALL) as three:
                assert is_error(three.answer, 429, "too_many_connections")
                assert three.answer.headers["retry-after"] == "1"
        await until(lambda: not house.broker.sessions)
        async with subscribed(house, ALL) as four:
            assert (await four.next()).notification["sequence"] == 0


@asynchronous
async def test_a_stream_is_not_compressed_even_for_those_who_would_take_it() -> None:
    async with listening() as house, subscribed(house, ALL, headers={"accept-encoding": "gzip"}) as stream:
        assert "content-encoding" not in stream.answer.headers
        assert (await stream.next()).notification["sequence"] == 0


@asynchronous
async def test_streams_end_at_once_when_the_broker_stops() -> None:
    async with listening() as house, subscribed(house, ALL) as stream:
        await stream.next()
        house.gate.end()
        end = await stream.next()
        assert (end.name, end.data["error"], end.data["code"]) == ("error", "shutting_down", 1001)
        assert await stream.is_over()


@pytest.mark.server
def test_a_broker_that_is_told_to_stop_does_not_wait_for_streams(tmp_path: Path) -> None:
    with serving(tmp_path) as broker:
        parameters = {"query": ALL}
        with calls.stream("GET", f"{broker.http}/subscribe", params=parameters, timeout=PATIENCE) as stream:
            lines = stream.iter_lines()
            assert next(lines) == "retry: 1000"
            with calls.stream("GET", f"{broker.http}/log?follow=true", timeout=PATIENCE) as feed:
                assert feed.status_code == 200
                assert broker.stop() == 0
                assert not "".join(feed.iter_text()).strip()
            assert "event: error" in list(lines)


@asynchronous
async def test_a_stream_whose_subscription_fails_says_so() -> None:
    async with listening() as house, subscribed(house, ALL) as stream:
        await stream.next()
        (session,) = house.broker.sessions.values()
        session.link.close(LOST, "it failed")
        end = await stream.next()
        assert (end.data["error"], end.data["error_description"], end.data["code"]) == (
            "subscription_lost", "it failed", LOST,
        )  # fmt: skip
        assert await stream.is_over()


@asynchronous
async def test_head_begins_nothing() -> None:
    async with indoors() as house:
        answer = await house.http.head("/subscribe", params={"query": ALL})
        assert answer.headers["content-type"] == "text/event-stream"
        assert not len(house.broker.subscriptions)


# -- slow clients, without a socket ------------------------------------------------------------------------------


class Pipe:
    """An ASGI client that takes a piece only when it is told to."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.room = asyncio.Semaphore(1)  # for the headers
        self.taken: list[bytes] = []
        self.left = asyncio.Event()

    async def send(self, message: dict[str, object]) -> None:
        await self.room.acquire()
        if body := message.get("body"):
            assert isinstance(body, bytes)
            self.taken.append(body)

    async def receive(self) -> dict[str, object]:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def subscribe(self) -> None:
        scope = {
            "type": "http", "method": "GET", "path": "/subscribe", "raw_path": b"/subscribe", "headers": [],
            "query_string": b"query=" + ALL.replace(" ", "+").encode(), "root_path": "", "scheme": "http",
            "http_version": "1.1", "server": ("tidings.test", 80), "client": ("127.0.0.1", 1),
        }  # fmt: skip
        app = self.house.http._transport.app  # type: ignore[attr-defined]
        await app(scope, self.receive, self.send)


@asynchronous
async def test_what_a_slow_client_does_not_take_is_added_up() -> None:
    async with indoors(outbox=2000) as house:
        pipe = Pipe(house)
        stream = asyncio.create_task(pipe.subscribe())
        await until(lambda: len(house.broker.subscriptions) == 1 and pipe.room.locked())
        for number in range(100):
            await house.update(insert(f"s{number}", number))
        (session,) = house.broker.sessions.values()
        assert session.full
        for _ in range(1000):
            pipe.room.release()
        await until(lambda: not session.full and b"s99" in b"".join(pipe.taken))
        assert house.broker.outboxes.merged > 50
        document = b"".join(pipe.taken)
        assert document.count(b"data: ") < 50
        assert all(document.count(b"<http://e/s%d>" % n) or document.count(b'/s%d"' % n) == 1 for n in range(100))
        pipe.left.set()
        async with asyncio.timeout(PATIENCE):
            await stream
        assert not house.broker.sessions


@asynchronous
async def test_a_client_that_takes_nothing_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidings.gates.http.streaming.streams.STALLED_AFTER", 0.05)
    async with indoors() as house:
        pipe = Pipe(house)
        async with asyncio.timeout(PATIENCE):
            await pipe.subscribe()
        assert not house.broker.sessions
        assert house.broker.subscriptions.absent == 1


@asynchronous
async def test_with_the_policy_disconnect_a_slow_client_is_told_to_come_back() -> None:
    async with indoors(outbox=500, slow="disconnect") as house:
        pipe = Pipe(house)
        stream = asyncio.create_task(pipe.subscribe())
        await until(lambda: len(house.broker.subscriptions) == 1 and pipe.room.locked())
        for number in range(10):
            await house.update(insert(f"s{number}", number))
        for _ in range(10):
            pipe.room.release()
        async with asyncio.timeout(PATIENCE):
            await stream
        assert b'"error":"too_slow"' in pipe.taken[-1]
        assert house.broker.subscriptions.absent == 1


def test_every_close_code_has_a_reason() -> None:
    assert {1001, 1011, 4003, 4008, 4009, 4013} == set(sse._REASONS)
