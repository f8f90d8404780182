"""What takes long to read or to plan is done aside, within the time limit: the loop has its hands free."""

import asyncio
import itertools
from unittest import mock

import pytest

from broker.making import ALL, Client, Clock, in_memory, insert
from tidings.broker import queries as rooms
from tidings.broker.forks import Forks
from tidings.broker.policy import Policy
from tidings.broker.subscriptions import admission
from tidings.broker.updates import queue
from tidings.engine.engine import Engine
from tidings.model.errors import RequestTooComplex, SparqlSyntaxError, TimeLimitExceeded
from tidings.model.results import Result
from waiting import asynchronous, until


def nothing(_: Result) -> tuple[str, list[bytes]]:
    return "text/plain", [b"answer"]


@asynchronous
async def test_an_endless_work_ends_by_its_time_limit_whatever_it_does() -> None:
    def endless() -> None:
        for _ in itertools.count():
            pass

    with pytest.raises(TimeLimitExceeded) as late:
        await Forks(1).run(endless, seconds=0.01)
    assert late.value.seconds == 0.01


@asynchronous
async def test_a_long_query_is_read_in_a_fork(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        with (
            mock.patch.object(rooms, "LONG_QUERY", 100),
            mock.patch.object(Engine, "query", autospec=True, side_effect=Engine.query) as asked,
        ):
            spool = await broker.query(ALL + " " * 100, None, nothing)
            with spool.file as answer:
                assert answer.read() == b"answer"
            assert (asked.call_count, broker.queries.aside, broker.forks.made) == (0, 1, 1)
            (await broker.query(ALL, None, nothing)).file.close()
            assert (asked.call_count, broker.queries.aside) == (1, 1)


@asynchronous
async def test_the_warnings_of_a_long_query_come_from_the_fork(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        with mock.patch.object(rooms, "LONG_QUERY", 10):
            spool = await broker.query("ASK { FILTER (<urn:f>(1)) }", None, nothing)
        spool.file.close()
    assert spool.warnings == ("the function <urn:f> is not known: every call of it is an error",)


@asynchronous
async def test_what_is_wrong_with_a_long_text_is_told(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        with mock.patch.object(rooms, "LONG_QUERY", 1), mock.patch.object(queue, "LONG_TEXT", 1):
            with pytest.raises(SparqlSyntaxError):
                await broker.query("SELECT nothing", None, nothing)
            with pytest.raises(SparqlSyntaxError):
                await broker.delay("INSERT nothing", None, clock.now() + 1)
            with pytest.raises(RequestTooComplex, match="1 characters, and this one has 14"):
                broker.prepare("INSERT nothing")
            delayed = await broker.delay(insert(1), None, clock.now() + 1)
        assert delayed.id in {each.id for each in broker.schedule}
        assert broker.forks.made == 3


@asynchronous
async def test_a_large_subscription_is_planned_in_a_fork_before_it_is_planned_here(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        await broker.update(insert(1))
        with mock.patch.object(admission, "PLANNED_AT_ONCE", 0):
            client = Client(broker)
            client.subscribe(ALL)
            await until(lambda: bool(client.known))
        client.check()
        assert broker.forks.made >= 1
        await broker.update(insert(2))
        client.check()


@asynchronous
async def test_a_subscription_that_takes_too_long_to_plan_is_refused_and_leaves_nothing(clock: Clock) -> None:
    async with in_memory(clock, Policy(planning=0.0)) as broker:
        client = Client(broker)
        with mock.patch.object(admission, "PLANNED_AT_ONCE", 0):
            client.subscribe(ALL)
            await until(lambda: bool(client.errors))
        (error,) = client.errors
        assert isinstance(error, RequestTooComplex)
        assert error.to_json()["limit"] == 0.0
        assert not list(broker.subscribers())


LARGE = (
    "SELECT * { " + " UNION ".join(f"{{ ?s <p{n}> ?o }}" for n in range(200)) + " UNION { ?s <p> ?o } }",
    "SELECT * { ?s <p> ?o " + " ".join(f"OPTIONAL {{ ?s <p{n}> ?o{n} }}" for n in range(100)) + " }",
    "SELECT ?s (COUNT(*) AS ?n) { ?s <p> ?o FILTER ("
    + " || ".join(f"?o > {n}" for n in range(200))
    + ") } GROUP BY ?s",
)


@pytest.mark.uncounted
@pytest.mark.parametrize("text", LARGE, ids=["UNION", "OPTIONAL", "||"])
@asynchronous
async def test_what_is_planned_in_a_thread_is_right_whatever_is_published_meanwhile(clock: Clock, text: str) -> None:
    async with in_memory(clock) as broker:
        clients = [Client(broker) for _ in range(3)]
        for number in itertools.count():
            if number < len(clients):
                clients[number].subscribe(text)
            await broker.update(insert(number) if number % 3 else f"DELETE DATA {{ <s{number - 1}> <p> {number - 1} }}")
            await asyncio.sleep(0.001)  # others have their turns
            assert not [error for client in clients for error in client.errors]
            if number > len(clients) and all(client.known for client in clients):
                break
        await broker.update("INSERT DATA { <s1> <p> 1000 ; <p5> 5 }")
        for client in clients:
            client.check()
        assert len(broker.engine.planning.plans) == 1


@pytest.mark.uncounted
@pytest.mark.parametrize("text", LARGE, ids=["UNION", "OPTIONAL", "||"])
@asynchronous
async def test_nothing_is_left_of_a_large_plan_that_nobody_has_any_more(clock: Clock, text: str) -> None:
    async with in_memory(clock) as broker:
        await broker.update(insert(1))
        stays, leaves = Client(broker), Client(broker)
        stays.subscribe(text)
        leaves.subscribe(text)
        leaves.lose()
        await until(lambda: bool(stays.known))
        stays.unsubscribe(stays.only.spuid)
        await until(lambda: not broker.forks.running and not len(broker.engine.planning.plans))
        assert not len(broker.subscriptions)
