"""Subscriptions that are worked out elsewhere: their clients see no difference but latency."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.histories import Scene, Step, histories
from broker.jobs import Job
from broker.making import ALL, BASE, Client, Clock, crashed, insert, opened, settled
from tidings.broker.broker import Broker
from tidings.broker.errors import NotToldInTime, UnknownSubscription
from tidings.broker.subscriptions.outbox import LOST
from tidings.broker.updates import queue as room
from tidings.log.entry import Entry
from tidings.model.access import Graphs, Rights
from tidings.model.errors import BadRequest, EvaluationError, MayNotSubscribe, SparqlSyntaxError
from tidings.model.zset import ZSet
from tidings.spark.streaming.unit import Member, Notification
from tidings.sparql.algebra import Dataset
from waiting import asynchronous


class Office:
    """A job, what is wanted of it, and all batches that it has told so far."""

    def __init__(self, **settings: Any) -> None:
        self.job = Job(**settings)
        self.wanted: dict[str, Member] = {}
        self.ended: list[str] = []
        self.entries: list[Entry] = []
        self.batches: list[list[Notification]] = []

    def check(self, text: str) -> None:
        if "RAND" in text:
            raise BadRequest("no chance")

    def request(self, spuid: str, text: str, dataset: Dataset | None) -> None:
        graphs = dataset or Dataset()
        self.wanted[spuid] = Member(spuid, f"BASE <{BASE}> {text}", graphs.default, graphs.named)

    def end(self, spuid: str) -> None:
        self.ended.append(spuid)
        self.wanted.pop(spuid, None)

    def open(self, clock: Clock, path: Path, **settings: Any) -> Broker:
        """The broker of a folder, up to date with what was told while it was away."""
        broker = opened(clock, path, self, **settings)
        broker.follow(self.entries.append)
        self.told = broker.external_batches()
        self.told.begin(dict(self.wanted), 0, len(self.batches) - 1)
        self.wanted.clear()
        for each in broker.subscriptions:
            self.request(each.spuid, each.text, each.dataset)
        self.tell()
        return broker

    def work(self) -> bool:
        """Another batch, if there is anything to do."""
        entries, self.entries[:] = list(self.entries), []
        if not entries and self.wanted == self.job.members:
            return False
        self.batches.append(self.job.batch(entries, self.wanted))
        return True

    def tell(self, rows: int | None = None) -> None:
        """Tell whatever was not told in full; of each batch only so many rows."""
        for number in range(self.told.last + 1, len(self.batches)):
            self.told.tell(number, self.batches[number][:rows])
            if rows is not None:
                return
            self.told.finish(number)

    async def settled(self, broker: Broker) -> None:
        """Until everybody was told everything."""
        await settled(broker)
        while self.work():
            self.tell()
            await settled(broker)


class RelayedScene(Scene):
    """A broker, two clients, and a job that works now and then."""

    def __init__(self, clock: Clock, folder: Path, settings: dict[str, Any]) -> None:
        self.office = Office()
        self.clock = clock
        self.settings = settings
        super().__init__(clock, self.opened(folder / "0"), folder, settings)

    def opened(self, path: Path) -> Broker:
        return self.office.open(self.clock, path, **self.settings)

    async def settle(self) -> None:
        await asyncio.gather(*self.tasks)
        await self.office.settled(self.broker)
        self.office.tell()
        await settled(self.broker)
        await super().settle()

    async def work(self, rows: int | None) -> None:
        await settled(self.broker)
        self.office.work()
        self.office.tell(rows)


@given(histories, st.lists(st.tuples(st.integers(0, 40), st.one_of(st.none(), st.integers(0, 3))), max_size=20))
def test_whatever_happens_everybody_is_told_everything_once_and_in_order(
    history: list[Step], work: list[tuple[int, int | None]]
) -> None:
    for place, rows in work:
        history.insert(place, ("work", rows))
    history = [step for step in history if step[0] != "rights"]  # the engine out there knows none

    async def story() -> None:
        with TemporaryDirectory() as folder:
            scene = RelayedScene(Clock(), Path(folder), {"durability": "os", "deliver_patience": 1e9, "retain": 8})
            await scene.broker.__aenter__()
            try:
                await scene.live(history)
            finally:
                scene.disk.close()
                await scene.broker.__aexit__()

    with mock.patch.object(room, "LONG_TEXT", 100):
        asyncio.run(story())


@asynchronous
async def test_a_first_answer_comes_when_it_was_worked_out_and_changes_have_the_numbers_of_an_ordinary_broker(
    clock: Clock, tmp_path: Path
) -> None:
    office = Office()
    async with office.open(clock, tmp_path / "data") as broker:
        client = Client(broker)
        await broker.update(insert(1))
        client.subscribe(ALL)
        await settled(broker)
        assert not client.known
        await office.settled(broker)
        assert (client.only.sequence, len(client.only.answer)) == (0, 1)
        for n in (2, 3):
            await broker.update(insert(n))
        await office.settled(broker)  # two commits in one batch, and two notifications
        assert client.only.commits == [1, 2, 3]
        client.check()


@asynchronous
async def test_what_cannot_be_worked_out_is_refused_at_once_and_leaves_nothing(clock: Clock, tmp_path: Path) -> None:
    office = Office()
    async with office.open(clock, tmp_path / "data") as broker:
        client = Client(broker)
        with pytest.raises(SparqlSyntaxError):
            client.subscribe("SELECT nothing")
        with pytest.raises(BadRequest, match="no chance"):
            client.subscribe("SELECT (RAND() AS ?r) {}")
        await settled(broker)
        assert not len(broker.subscriptions)
        assert not office.wanted


@asynchronous
async def test_who_may_subscribe_to_some_graphs_only_is_refused_and_who_no_longer_may_to_all_is_let_go(
    clock: Clock, tmp_path: Path
) -> None:
    """Whoever works out the answers knows nothing of rights."""
    office = Office()
    default = Graphs(names=frozenset(("",)))
    some = Rights(read=default, subscribe=default)
    async with office.open(clock, tmp_path / "data") as broker:
        with pytest.raises(MayNotSubscribe):
            Client(broker, "anna", some).subscribe(ALL)
        assert not office.wanted
        client = Client(broker, "anna")
        client.subscribe(ALL)
        await settled(broker)
        (spuid,) = office.wanted
        broker.rights_changed("anna", some, "revoked")
        assert client.line.dismissed == {spuid: "revoked"}
        assert office.ended == [spuid]


@asynchronous
async def test_whoever_waits_too_long_for_a_first_answer_is_told_so_and_the_wish_is_ended(
    clock: Clock, tmp_path: Path
) -> None:
    office = Office()
    async with office.open(clock, tmp_path / "data", deliver_patience=5.0) as broker:
        client = Client(broker)
        client.subscribe(ALL)
        await settled(broker)
        (spuid,) = office.wanted
        clock.pass_by(4)
        broker.run_due()
        assert not client.errors
        clock.pass_by(2)
        broker.run_due()
        assert [type(error) for error in client.errors] == [NotToldInTime]
        assert office.ended == [spuid]
        assert not len(broker.subscriptions)


@asynchronous
async def test_a_subscription_that_ends_before_its_first_answer_is_answered_all_the_same(
    clock: Clock, tmp_path: Path
) -> None:
    office = Office()
    async with office.open(clock, tmp_path / "data") as broker:
        client = Client(broker)
        client.subscribe(ALL)
        await settled(broker)
        (spuid,) = office.wanted
        broker.unsubscribe(client.line.session, spuid, lambda: None)
        assert [type(error) for error in client.errors] == [UnknownSubscription]
        assert not office.wanted


@asynchronous
async def test_a_subscription_that_fails_elsewhere_is_refused_or_else_let_go(clock: Clock, tmp_path: Path) -> None:
    office = Office(largest=2)
    async with office.open(clock, tmp_path / "data") as broker:
        told, late = Client(broker), Client(broker)
        told.subscribe(ALL)
        await office.settled(broker)
        for n in (1, 2, 3):
            await broker.update(insert(n))
        await office.settled(broker)
        assert told.line.closed == [LOST]
        late.subscribe(ALL)
        await settled(broker)
        office.batches.append(
            [Notification(spuid, 0, 3, 3, (), [], [], "its query failed: no") for spuid in office.wanted]
        )
        office.tell()
        assert [(type(error), str(error)) for error in late.errors] == [(EvaluationError, "its query failed: no")]
        assert not late.line.closed
        assert not len(broker.subscriptions)


@asynchronous
async def test_what_was_told_while_the_broker_was_away_is_told_when_it_is_back(clock: Clock, tmp_path: Path) -> None:
    office = Office()
    async with office.open(clock, tmp_path / "a") as broker:
        client = Client(broker)
        client.subscribe("SELECT ?s (NOW() AS ?now) { ?s <p> ?o }")
        await office.settled(broker)
        await broker.update(insert(1))
        await settled(broker)
        assert broker.snapshots
        await broker.snapshots.write()
    office.work()
    async with office.open(clock, tmp_path / "a") as broker:
        client.come_back(broker)
        client.resume(client.only.spuid)
        await office.settled(broker)
        assert client.only.resumed == [True]  # also a query that asks for the time: commits are its clock
        assert (client.only.sequence, len(client.only.answer)) == (1, 1)


@asynchronous
async def test_a_job_that_begins_anew_makes_everybody_begin_anew(clock: Clock, tmp_path: Path) -> None:
    office, other = Office(), Office()
    async with office.open(clock, tmp_path / "a") as broker:
        client = Client(broker)
        client.subscribe(ALL)
        await broker.update(insert(1))
        await office.settled(broker)
        assert broker.snapshots
        await broker.snapshots.write()
        crashed(tmp_path / "a", tmp_path / "b")
        await broker.update(insert(2))
        await settled(broker)
        office.job = Job()
        office.job.batch([Entry(2, clock.micros, ZSet((quad, 1) for quad in broker.store))], {})
        office.entries.clear()
        await office.settled(broker)
        assert client.line.closed == [LOST]
        client.lose()
        client.come_back()
        client.resume(client.only.spuid)
        await office.settled(broker)
        assert client.only.resumed == [False]
        client.check()
    for other.wanted in ({}, dict(office.wanted)):  # another folder, or one whose batches are gone
        async with other.open(clock, tmp_path / "b") as broker:
            assert not len(broker.subscriptions)


@asynchronous
async def test_a_broker_that_works_out_subscriptions_itself_does_not_count_on_from_what_was_delivered(
    clock: Clock, tmp_path: Path
) -> None:
    office = Office()
    async with office.open(clock, tmp_path / "a") as broker:
        client = Client(broker)
        client.subscribe(ALL)
        await office.settled(broker)
    async with opened(clock, tmp_path / "a") as broker:
        client.come_back(broker)
        client.resume(client.only.spuid)
        await settled(broker)
        assert client.only.resumed == [False]
    async with office.open(clock, tmp_path / "a") as broker:
        assert client.only.spuid not in {each.spuid for each in broker.subscriptions}
