"""Random histories of a broker and its store of record, with outages, refusals, full disks, crashes of either, old
backups and changes behind the back of the broker. All end with store = memory = what subscribers were told, summed."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

import pytest

from broker.elsewhere import Elsewhere, Found
from broker.making import BASE, Client, Clock, Replies, crashed, full_disk, opened, quads_of
from endurance import often
from tidings.broker.broker import Broker
from tidings.broker.record.mirror import Mirror
from tidings.broker.updates.accepted import Done
from tidings.engine.store.store import Store
from tidings.model.errors import EndpointAway, EndpointDiffers
from tidings.model.terms import Quad
from waiting import asynchronous, until

INTEGER = "^^<http://www.w3.org/2001/XMLSchema#integer>"
QUERIES = (
    "SELECT ?s ?o { ?s <p> ?o }",
    "ASK { <s1> <p> ?o }",
    "SELECT (COUNT(*) AS ?n) { ?s <p> ?o }",
    "SELECT ?a ?b { ?a <p> ?o . ?b <p> ?o }",
)
TEXTS = (
    "INSERT DATA {{ <s{0}> <p> {1} }}",
    "DELETE DATA {{ <s{0}> <p> {1} }}",
    "DELETE {{ ?s <p> ?o }} INSERT {{ ?s <p> {1} }} WHERE {{ ?s <p> ?o FILTER(?o != {1}) }}",
    "INSERT DATA {{ <s{0}> <p> 1, 2, 3 . <s{1}> <q> {0} }}",
)


class Way:
    """To the store of record; when its broker has crashed, nothing goes it any more."""

    def __init__(self, elsewhere: Elsewhere) -> None:
        self._elsewhere = elsewhere
        self.gone = False

    async def greet(self) -> None:
        await self._open().greet()

    async def take(self, states: Mapping[Quad, bool]) -> None:
        await self._open().take(states)

    async def lacking(self, states: Mapping[Quad, bool]) -> list[Quad]:
        return await self._open().lacking(states)

    async def compare(self, store: Store) -> Found:
        return await self._open().compare(store)

    def _open(self) -> Elsewhere:
        if self.gone:
            raise EndpointAway("the broker is no more")
        return self._elsewhere


class House:
    """A broker in front of a store, a client, and what may happen to them."""

    def __init__(self, random: Random, folder: Path) -> None:
        self._random = random
        self._folder = folder
        self._lives = 0
        self.clock = Clock()
        self.elsewhere = Elsewhere()
        self._backup = set(self.elsewhere.quads)
        self.stack = AsyncExitStack()
        self.client: Client | None = None

    async def begin(self, folder: Path) -> None:
        self.way = Way(self.elsewhere)
        self.broker: Broker = await self.stack.enter_async_context(opened(self.clock, folder))
        self.mirror = Mirror(self.broker, self.way, patience=5.0)
        await self._until_begun()
        self.here = folder
        self.replies = Replies(self.broker)
        if self.client is None:
            self.client = Client(self.broker)
        else:
            self.client.take_up(self.broker)

    async def _until_begun(self) -> None:
        """The store may go away while a broker begins that has nothing to begin with; it comes back."""
        begun = asyncio.create_task(self.mirror.begin())

        def comes_back() -> bool:
            self.elsewhere.away = False
            return begun.done()

        await until(comes_back)
        await begun

    def step(self) -> str:
        return self._random.choice(
            ("update", "update", "update", "subscribe", "breaks", "back", "behind", "backup", "restore", "refuse",
             "full", "patience", "crash")
        )  # fmt: skip

    def quad(self) -> Quad:
        s, o = self._random.randint(1, 2), self._random.randint(1, 3)
        return f"<{BASE}s{s}>", f"<{BASE}p>", f'"{o}"{INTEGER}', ""

    async def take(self, step: str) -> None:
        assert self.client is not None
        elsewhere, random = self.elsewhere, self._random
        match step:
            case "update":
                self.replies.submit(random.choice(TEXTS).format(random.randint(1, 2), random.randint(1, 3)))
            case "subscribe":
                self.client.subscribe(random.choice(QUERIES))
            case "breaks":
                elsewhere.breaks = random.randint(0, 3)
            case "back":
                elsewhere.away = False
            case "behind":
                elsewhere.quads ^= {self.quad()}
            case "backup":
                self._backup = set(elsewhere.quads)
            case "restore":
                elsewhere.quads = set(self._backup)
                elsewhere.away = True  # whoever restores a backup restarts the server
            case "refuse":
                never = self.quad()
                elsewhere.refuses = lambda quad: quad == never
            case "full":
                with full_disk():
                    await self._breathe()
            case "patience":
                self.clock.pass_by(10)
            case "crash":
                await self.crash()
        await self._breathe()

    async def _breathe(self) -> None:
        turns = iter(range(self._random.randint(0, 12)))
        await until(lambda: next(turns, None) is None)

    async def crash(self) -> None:
        """What the disk has goes on in a new process; the old one reaches nobody any more."""
        assert self.client is not None
        self._lives += 1
        folder = crashed(self.here, self._folder / f"life{self._lives}")
        self.way.gone = True
        self.client.lose()
        self.clock.pass_by(100)
        await self.stack.aclose()
        self.elsewhere.away = False
        await self.begin(folder)

    async def end(self) -> None:
        """All is well again, and whoever has to decide decides for the broker."""
        self.elsewhere.breaks, self.elsewhere.away = None, False
        self.elsewhere.refuses = lambda _: False
        await until(
            lambda: self.mirror.outage.trouble is None or isinstance(self.mirror.outage.trouble, EndpointDiffers)
        )
        if self.mirror.outage.trouble is not None:
            await self.broker.reconcile("broker")
            await until(lambda: self.mirror.outage.trouble is None)
        await until(lambda: not self.broker.updates.accepted)
        await self.broker.reconcile("endpoint")
        assert self.elsewhere.quads == quads_of(self.broker)


@asynchronous
@pytest.mark.parametrize("seed", range(often(8)))
async def test_store_and_memory_and_what_was_told_are_one_in_the_end(tmp_path: Path, seed: int) -> None:
    house = House(Random(seed), tmp_path)
    async with house.stack:
        await house.begin(tmp_path / "life0")
        told = ["update"]
        for _ in range(40):
            told.append(house.step())
            await house.take(told[-1])
        await house.end()
        assert house.client is not None
        done = [outcome for _, outcome in house.replies.outcomes if isinstance(outcome, Done)]
        assert [each.commit for each in done] == sorted(each.commit for each in done), told
        if not house.client.line.closed:
            house.client.check()
