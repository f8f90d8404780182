"""Subscriptions that are worked out elsewhere: their clients see no difference but latency."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.histories import Scene, Step, histories
from service.jobs import Job
from service.making import ALL, BASE, Client, Clock, asynchronous, crashed, insert, opened, settled
from tidings.log.entry import Entry
from tidings.model.errors import BadRequest, EvaluationError, SparqlSyntaxError
from tidings.pipeline.scaleout.unit import Member, Told
from tidings.service import updates as room
from tidings.service.broker import Broker
from tidings.service.errors import NotToldInTime, UnknownSubscription
from tidings.service.outboxes import LOST
from tidings.service.relaying import Relaying
from tidings.sparql.algebra import Dataset


class Office:
    """A job, what is wanted of it, and all batches that it has told so far."""

    def __init__(self, **settings: Any) -> None:
        self.job = Job(**settings)
        self.wanted: dict[str, Member] = {}
        self.ended: list[str] = []
        self.entries: list[Entry] = []
        self.batches: list[list[Told]] = []

    def check(self, text: str) -> None:
        if "RAND" in text:
            raise BadRequest("no chance")

    def wish(self, spuid: str, text: str, dataset: Dataset | None) -> None:
        graphs = dataset or Dataset()
        self.wanted[spuid] = Member(spuid, f"BASE <{BASE}> {text}", graphs.default, graphs.named)

    def end(self, spuid: str) -> None:
        self.ended.append(spuid)
        self.wanted.pop(spuid, None)

    def open(self, clock: Clock, path: Path, **settings: Any) -> Broker:
        """The broker of a folder, up to date with what was told while it was away."""
        broker = opened(clock, path, self, **settings)
        assert broker.relay is not None
        broker.chronicle.followers.add(self.entries.append)
        self.relaying = Relaying(broker.relay, broker.subscriptions)
        self.relaying.begin(0, len(self.batches) - 1)
        self.wanted.clear()
        for each in broker.subscriptions:
            self.wish(each.spuid, each.text, each.dataset)
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
        for number in range(self.relaying.batch + 1, len(self.batches)):
            self.relaying.tell(number, self.batches[number][:rows])
            if rows is not None:
                return
            self.relaying.finish(number)

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
