"""First answers that are found in a fork: found once, exact, told in order; and nothing is left of those that fail."""

import asyncio
import os
import pickle
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.making import ALL, Client, Clock, Gate, crashed, delete, full_disk, in_memory, insert, opened, settled
from oracles.leftovers import state_of
from tidings.broker.broker import Broker
from tidings.broker.forks import Forks
from tidings.broker.policy import Policy
from tidings.broker.queries import Queries
from tidings.broker.subscriptions.outbox import Bounds
from tidings.broker.subscriptions.subscriber import Parcel, Subscriber
from tidings.engine.plans.newcomer import Beginning, Newcomer
from tidings.model.errors import TidingsError
from waiting import asynchronous, until

DISTINCT = "SELECT DISTINCT ?o { ?s <p> ?o }"
TEXTS = (
    ALL,
    DISTINCT,
    "SELECT ?o { <s1> <p> ?o } ORDER BY DESC(?o) LIMIT 1",
    "SELECT ?o { <s2> <p> ?o } ORDER BY DESC(?o) LIMIT 1",
    "SELECT (COUNT(*) AS ?n) (SUM(?o) AS ?t) { ?s <p> ?o }",
    "SELECT ?s (MAX(?o) AS ?m) { ?s <p> ?o } GROUP BY ?s",
    "SELECT * { <s1> <p> ?o { SELECT (COUNT(*) AS ?n) { ?s <p> ?x } } }",
    "SELECT ?a ?b { ?a <p>/^<p> ?b }",
    "ASK { <s1> <p> ?o }",
    "CONSTRUCT { ?s <made> ?o } { ?s <p> ?o }",
    "DESCRIBE ?s { ?s <p> ?o }",
)
updates = st.lists(
    st.builds(
        str.format,
        st.sampled_from(
            (
                "INSERT DATA {{ <s{0}> <p> {1} }}",
                "DELETE DATA {{ <s{0}> <p> {1} }}",
                "DELETE {{ ?s <p> ?o }} INSERT {{ ?s <p> {1} }} WHERE {{ ?s <p> ?o FILTER(?o != {1}) }}",
                "DELETE WHERE {{ <s{0}> <p> ?o }}",
            )
        ),
        st.integers(1, 2),
        st.integers(1, 3),
    ),
    max_size=4,
)


@pytest.fixture(autouse=True)
def _takes_long() -> Iterator[None]:
    """No first answer is found within a slice of the loop."""
    with mock.patch.object(Queries, "first_answer", return_value=None):
        yield


class Copies:
    """Forks in this process: the work is done when it is launched, and its outcome is there when the test says so."""

    def __init__(self) -> None:
        self.done = 0
        self.slowly = False
        self._ended = asyncio.Event()

    @contextmanager
    def instead_of_forks(self) -> Iterator[None]:
        copies = self

        def launch(forks: Forks, work: Callable[[], Any], *, seconds: float | None) -> bytes:
            copies.done += 1
            try:
                return pickle.dumps((True, work()))
            except TidingsError as error:
                return pickle.dumps((False, error))

        async def outcome(forks: Forks, document: bytes, *, seconds: float | None) -> Any:
            if copies.slowly:
                await copies._ended.wait()
            done, found = pickle.loads(document)
            if not done:
                raise found
            return found

        with mock.patch.object(Forks, "launch", launch), mock.patch.object(Forks, "outcome", outcome):
            yield

    def begin(self) -> None:
        """From here on, outcomes wait."""
        self.slowly = True
        self._ended.clear()

    def end(self) -> None:
        self.slowly = False
        self._ended.set()


def policy(*, most: int = 1_000_000) -> Policy:
    return Policy(workers=8, bounds=Bounds(subscriptions=most))


def on_disk(path: Path) -> Broker:
    return opened(Clock(), path, workers=8)


async def answered(client: Client, count: int) -> None:
    await until(lambda: len(client.known) == count or client.errors)
    assert not client.errors


async def play(broker: Broker, history: list[str], *clients: Client) -> None:
    for text in history:
        await broker.update(text)
        for client in clients:
            client.check()


async def live_through(path: Path | None, text: str, other: str, histories: list[list[str]], *, full: bool) -> None:
    """An old subscriber, and two new ones whose first answers are being found while updates go on."""
    copies = Copies()
    with copies.instead_of_forks():
        async with on_disk(path) if path else in_memory(Clock(), policy()) as broker:
            old, new = Client(broker), Client(broker)
            await play(broker, histories[0])
            old.subscribe(text)
            await answered(old, 1)
            copies.begin()
            new.subscribe(text)
            new.subscribe(other)
            await until(lambda: copies.done == 3)
            await play(broker, histories[1], old)
            assert not new.known
            if full:
                new.fill()
            copies.end()
            await answered(new, 2)
            if full:
                await play(broker, histories[2], old)
                new.drain()
            await settled(broker)
            new.check()
            await play(broker, histories[2], old, new)
            for client in (old, new):
                client.lose()
            await play(broker, histories[1])
            if path is None:
                return
            copy = crashed(path, path.parent / "copy")
    async with opened(Clock(), copy) as again:
        for client in (old, new):
            client.come_back(again)
            for spuid in list(client.known):
                client.resume(spuid)
        await settled(again)
        for client in (old, new):
            client.check()
            assert all(all(known.resumed) for known in client.known.values())


@given(st.sampled_from(TEXTS), st.sampled_from(TEXTS), st.lists(updates, min_size=3, max_size=3), st.booleans())
def test_folded_notifications_are_the_answer_whatever_happens_while_it_is_found(
    text: str, other: str, histories: list[list[str]], full: bool
) -> None:
    asyncio.run(live_through(None, text, other, histories, full=full))


@given(st.sampled_from(TEXTS), st.sampled_from(TEXTS), st.lists(updates, min_size=3, max_size=3), st.booleans())
def test_and_still_are_after_a_crash(text: str, other: str, histories: list[list[str]], full: bool) -> None:
    with TemporaryDirectory() as folder:
        asyncio.run(live_through(Path(folder) / "broker", text, other, histories, full=full))


@contextmanager
def forks_wait_for(gate: Gate) -> Iterator[None]:
    """First answers are found, and not told before the gate opens."""
    begin = Queries.begin

    def slowly(queries: Queries, newcomer: Newcomer) -> Beginning:
        beginning = begin(queries, newcomer)
        gate.pass_through()
        return beginning

    with mock.patch.object(Queries, "begin", slowly):
        yield


def forget(broker: Broker) -> None:
    assert (len(broker.subscriptions), state_of(broker.engine)) == (0, {0})


@asynchronous
@pytest.mark.parametrize("text", TEXTS)
async def test_a_fork_sees_the_moment_it_was_made_in_and_the_rest_is_the_first_change(
    tmp_path: Path, text: str
) -> None:
    gate = Gate(tmp_path / "gate")
    async with in_memory(Clock(), policy()) as broker:
        await play(broker, [insert(1), insert(2), insert(3)])
        client = Client(broker)
        with forks_wait_for(gate):
            client.subscribe(text)
            await until(lambda: broker.forks.running)
        await play(broker, [delete(1), insert(4), insert(5), delete(4), "INSERT DATA { <s1> <p> 7 }"])
        gate.open()
        await answered(client, 1)
        assert client.only.commits in ([3], [3, 8])
        client.check()
        await play(broker, [delete(2), insert(1)], client)
        assert broker.forks.made == 1


@asynchronous
async def test_the_gates_encoding_is_made_in_the_fork(tmp_path: Path) -> None:
    parent = os.getpid()
    told: list[tuple[bytes, int]] = []

    def encode(parcel: Parcel) -> bytes:
        return f"{os.getpid() == parent} {len(parcel.changes)} {parcel.commit}".encode()

    def heard(subscriber: Subscriber, parcel: Parcel, _: bool) -> None:
        told.append((parcel.encodings[encode], subscriber.sequence))

    async with in_memory(Clock(), policy()) as broker:
        await play(broker, [insert(1), insert(2)])
        client = Client(broker)
        broker.subscribe(client.line.session, DISTINCT, None, None, heard, client.errors.append, encode=encode)
        await until(lambda: told or client.errors)
        assert told == [(b"False 2 2", 0)]


@asynchronous
async def test_a_fork_that_is_killed_leaves_nothing_behind(tmp_path: Path) -> None:
    async with in_memory(Clock(), policy()) as broker:
        await play(broker, [insert(1)])
        client = Client(broker)
        with forks_wait_for(Gate(tmp_path / "gate")):
            client.subscribe(DISTINCT)
            await until(lambda: broker.forks.running)
        await play(broker, [insert(2)])
        for child in broker.forks.running:
            os.kill(child, signal.SIGKILL)
        await until(lambda: client.errors)
        assert [error.code for error in client.errors] == ["work_lost"]
        forget(broker)


@asynchronous
@pytest.mark.parametrize("text", TEXTS)
async def test_a_client_that_goes_before_its_first_answer_leaves_nothing_behind(text: str) -> None:
    copies = Copies()
    with copies.instead_of_forks():
        async with in_memory(Clock(), policy()) as broker:
            await play(broker, [insert(1)])
            copies.begin()
            client = Client(broker)
            client.subscribe(text)
            await until(lambda: copies.done)
            await play(broker, [insert(2)])
            client.lose()
            copies.end()
        assert not client.known
        assert not client.errors
        forget(broker)


@asynchronous
@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (Policy(rows=1), "row_limit_exceeded"),
        (Policy(seconds=0.7), "time_limit_exceeded"),
        (Policy(seconds=None, bounds=Bounds(rows=1)), "too_much_changed"),
    ],
)
async def test_whoever_is_refused_leaves_nothing_behind(limits: Policy, code: str) -> None:
    copies = Copies()
    with copies.instead_of_forks():
        async with in_memory(Clock(step=1.0), limits) as broker:
            await play(broker, [insert(1), insert(2)])
            copies.begin()
            client = Client(broker)
            client.subscribe(DISTINCT)
            await until(lambda: copies.done)
            await play(broker, [insert(3), insert(4)])
            copies.end()
            await until(lambda: client.errors)
            assert [error.code for error in client.errors] == [code]
            forget(broker)


@asynchronous
async def test_a_defect_is_an_internal_error_and_the_broker_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    copies = Copies()
    with copies.instead_of_forks():
        async with in_memory(Clock(), policy()) as broker:
            await play(broker, [insert(1)])
            client = Client(broker)
            with mock.patch.object(Newcomer, "catch_up", side_effect=ZeroDivisionError):
                client.subscribe(DISTINCT)
                await until(lambda: client.errors)
            assert [error.code for error in client.errors] == ["internal_error"]
            assert "ZeroDivisionError" in caplog.text
            forget(broker)
            client.errors.clear()
            client.subscribe(DISTINCT)
            await answered(client, 1)


@asynchronous
@pytest.mark.parametrize("text", TEXTS)
async def test_what_rests_on_a_commit_that_is_undone_is_refused(tmp_path: Path, text: str) -> None:
    copies = Copies()
    with copies.instead_of_forks():
        async with on_disk(tmp_path) as broker:
            await play(broker, [insert(1)])
            client = Client(broker)
            copies.begin()
            with full_disk():
                client.subscribe(text)
                broker.submit(insert(2), None, lambda _: None)  # in the store, before anything else has its turn
                await until(lambda: copies.done)
                await settled(broker)
            await play(broker, [insert(3)])
            copies.end()
            await until(lambda: client.errors)
            assert [error.status for error in client.errors] == [507]
            forget(broker)


@asynchronous
@pytest.mark.parametrize("text", TEXTS)
async def test_a_subscription_that_cannot_be_written_down_is_refused(tmp_path: Path, text: str) -> None:
    copies = Copies()
    with copies.instead_of_forks():
        async with on_disk(tmp_path) as broker:
            await play(broker, [insert(1)])
            client = Client(broker)
            copies.begin()
            client.subscribe(text)
            await until(lambda: copies.done)
            await play(broker, [insert(2)])
            with full_disk():
                copies.end()
                await until(lambda: client.errors)
            assert [error.status for error in client.errors] == [507]
            forget(broker)
    async with opened(Clock(), tmp_path) as again:
        assert len(again.subscriptions) == 0


@asynchronous
async def test_one_subscription_too_many_is_refused_even_if_it_was_not_when_it_was_asked_for() -> None:
    copies = Copies()
    with copies.instead_of_forks():
        async with in_memory(Clock(), policy(most=1)) as broker:
            await play(broker, [insert(1)])
            client = Client(broker)
            copies.begin()
            client.subscribe(DISTINCT)
            client.subscribe(ALL)
            await until(lambda: copies.done == 2)
            copies.end()
            await until(lambda: client.errors)
            assert [error.code for error in client.errors] == ["too_many_subscriptions"]
            await until(lambda: client.known)
            client.check()


@asynchronous
@pytest.mark.parametrize("text", [ALL, DISTINCT, "SELECT (COUNT(*) AS ?n) { ?s <p> ?o }"])
async def test_a_fresh_answer_for_one_who_comes_back_too_late_is_found_aside_as_well(text: str) -> None:
    copies = Copies()
    with copies.instead_of_forks():
        async with in_memory(Clock(), Policy(bounds=Bounds(retain=1))) as broker:
            client = Client(broker)
            client.subscribe(text)
            await answered(client, 1)
            client.lose()
            await play(broker, ["INSERT DATA { <s1> <p> 1 }", "CLEAR ALL"] * 3)
            client.come_back()
            copies.begin()
            client.resume(client.only.spuid, 0)
            await until(lambda: copies.done == 2)
            await play(broker, [insert(1), insert(2)])
            copies.end()
            await until(lambda: client.only.resumed or client.errors)
            assert client.only.resumed == [False]
            client.check()
            await play(broker, [delete(1)], client)
