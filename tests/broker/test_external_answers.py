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
from tidings.model.access import ALL_RIGHTS, Graphs, Rights
from tidings.model.errors import BadRequest, EvaluationError, MayNotSubscribe, SparqlSyntaxError
from tidings.model.zset import ZSet
from tidings.spark.streaming.unit import Member, Notification
from tidings.sparql.algebra import Dataset
from waiting import asynchronous

DEFAULT_ONLY = Rights(read=Graphs(names=frozenset(("",))), subscribe=Graphs(names=frozenset(("",))))
EVERYWHERE = "SELECT * { { ?s <p> ?o } UNION { GRAPH ?g { ?s <p> ?o } } }"


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

    def request(self, spuid: str, text: str, dataset: Dataset | None, graphs: Graphs) -> None:
        asked = dataset or Dataset()
        self.wanted[spuid] = Member(spuid, f"BASE <{BASE}> {text}", asked.default, asked.named, graphs)

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
            self.request(each.spuid, each.text, each.dataset, each.rights.subscribe)
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

    async def rights(self, number: int, rights: Rights) -> None:
        """Who has other rights is told that it is over, and begins anew."""
        await super().rights(number, rights)
        client = self.clients[number]
        client.errors = [error for error in client.errors if not isinstance(error, MayNotSubscribe)]
        ended, client.line.dismissed = client.line.dismissed, {}
        for spuid in ended:
            if not self.away[number] and spuid in client.known:
                client.resume(spuid)

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
async def test_who_may_subscribe_to_some_graphs_only_sees_these_and_who_has_other_rights_is_told_that_it_is_over(
    clock: Clock, tmp_path: Path
) -> None:
    office = Office()
    async with office.open(clock, tmp_path / "data") as broker:
        await broker.update("INSERT DATA { <s> <p> 1 GRAPH <g> { <s> <p> 2 } }")
        client = Client(broker, "anna", DEFAULT_ONLY)
        client.subscribe(EVERYWHERE)
        await office.settled(broker)
        assert len(client.only.answer) == 1
        client.check()
        await broker.update("INSERT DATA { <t> <p> 1 GRAPH <g> { <t> <p> 2 } }")
        await office.settled(broker)
        client.check()
        (spuid,) = office.wanted
        client.rights = ALL_RIGHTS
        await broker.update("INSERT DATA { <u> <p> 1 }")
        broker.rights_changed("anna", ALL_RIGHTS, "granted")
        assert client.line.dismissed == {spuid: "granted"}
        assert office.ended == [spuid]
        await office.settled(broker)  # what was told of it meanwhile is told to nobody
        client.resume(spuid)
        await office.settled(broker)
        assert len(client.only.answer) == 5
        client.check()


@asynchronous
async def test_whose_rights_change_before_a_first_answer_is_told_so_instead_of_it(clock: Clock, tmp_path: Path) -> None:
    office = Office()
    async with office.open(clock, tmp_path / "data") as broker:
        client = Client(broker, "anna")
        client.subscribe(ALL)
        await settled(broker)
        broker.rights_changed("anna", DEFAULT_ONLY, "revoked")
        assert [(type(error), str(error)) for error in client.errors] == [(MayNotSubscribe, "revoked; subscribe again")]
        assert not client.line.dismissed
        await office.settled(broker)
        assert not client.known
        assert not office.wanted


@asynchronous
async def test_a_subscription_to_some_graphs_goes_on_with_these_after_a_restart(clock: Clock, tmp_path: Path) -> None:
    office = Office()
    async with office.open(clock, tmp_path / "data") as broker:
        client = Client(broker, "anna", DEFAULT_ONLY)
        client.subscribe(EVERYWHERE)
        await office.settled(broker)
        await broker.update("INSERT DATA { <s> <p> 1 GRAPH <g> { <s> <p> 2 } }")
        await settled(broker)
    async with office.open(clock, tmp_path / "data") as broker:
        assert [member.graphs for member in office.wanted.values()] == [DEFAULT_ONLY.subscribe]
        client.come_back(broker)
        client.resume(client.only.spuid)
        await office.settled(broker)
        assert client.only.resumed == [True]
        client.check()


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
