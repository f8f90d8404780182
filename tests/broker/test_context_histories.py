"""Random histories of a broker that has only contexts in memory: subscriptions come and go, the endpoint is away, the
broker crashes. The endpoint ends up as a naive evaluation over the whole graph says, and what subscribers
were told adds up to their answers over it."""

from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

import pytest

from broker.contexts import BASE, check, in_context
from broker.making import Client, Clock, Replies, crashed
from endpoint.in_process import InProcess
from endurance import often
from tidings.broker.updates.accepted import Done
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.model.errors import EndpointAway
from tidings.model.terms import Quad
from waiting import asynchronous, until

QUERIES = (
    "SELECT ?s ?o { ?s <p> ?o }",
    "SELECT ?o { <s1> <p> ?o }",
    "ASK { <s1> <p> ?o }",
    "SELECT (COUNT(*) AS ?n) { ?s <p> ?o }",
    "SELECT ?a ?b { ?a <p> ?o . ?b <q> ?o }",
    "SELECT ?s ?o ?g { ?s <p> ?o OPTIONAL { GRAPH ?g { ?s <q> ?o } } }",
    "SELECT ?g ?o { GRAPH ?g { <s2> <p> ?o } }",
    "SELECT ?s { GRAPH <g1> { ?s <p> 1 } FILTER NOT EXISTS { ?s <q> 2 } }",
    "SELECT ?s ?o { ?s <p>/^<p> ?o }",
    "CONSTRUCT { ?s <r> ?o } WHERE { GRAPH <g2> { ?s ?p ?o } }",
    "SELECT ?s ?p ?o { ?s ?p ?o }",
)
TEXTS = (
    "INSERT DATA {{ <s{0}> <p> {1} }}",
    "DELETE DATA {{ <s{0}> <p> {1} }}",
    "INSERT DATA {{ <s{0}> <p> 1, 2, 3 . <s{1}> <q> {0} GRAPH <g1> {{ <s{0}> <q> {1} }} }}",
    "DELETE {{ ?s <p> ?o }} INSERT {{ ?s <p> {1} }} WHERE {{ ?s <p> ?o FILTER(?o != {1}) }}",
    "INSERT {{ GRAPH <g{0}> {{ ?s <p> ?o }} }} WHERE {{ ?s <p> ?o }}",
    "DELETE WHERE {{ GRAPH ?g {{ ?s <p> {1} }} }}",
    "WITH <g{0}> DELETE {{ ?s <p> ?o }} INSERT {{ ?s <q> ?o }} WHERE {{ ?s <p> ?o }}",
    "INSERT {{ ?s <q> ?n }} USING <g1> USING <g2> WHERE {{ ?s <p> ?o BIND(?o + 1 AS ?n) }}",
    "DELETE WHERE {{ <s{0}> <p> ?o }} ; INSERT {{ <s{0}> <p> {1} }} WHERE {{ FILTER NOT EXISTS {{ <s{0}> <p> ?x }} }}",
    "INSERT DATA {{ <s{0}> <q> {1} }} ; DELETE {{ ?s <p> ?o }} WHERE {{ ?s <q> {1} ; <p> ?o }}",
    "COPY <g1> TO <g2>",
    "MOVE SILENT <g2> TO <g1>",
    "CLEAR GRAPH <g{0}>",
    "CREATE GRAPH <g{0}>",
    "CLEAR DEFAULT ; INSERT DATA {{ <s{0}> <p> {1} }}",
    "INSERT DATA {{ <s{0}> <p>",
)  # fmt: skip


class House:
    """A broker in front of an endpoint, a client, and a graph that all updates are carried out on naively."""

    def __init__(self, random: Random, folder: Path, *, sole_writer: bool) -> None:
        self._random = random
        self._sole_writer = sole_writer
        self._folder = folder
        self._lives = 0
        self.clock = Clock()
        self.connection = InProcess()
        self.naive = Core(base=BASE)
        self.stack = AsyncExitStack()
        self.client: Client | None = None

    async def begin(self, folder: Path) -> None:
        self.here = folder
        self._waiting: dict[int, str] = {}
        self._seen = 0
        self.broker, self.mirror = await self.stack.enter_async_context(
            in_context(self.clock, self.connection, folder, 5, sole_writer=self._sole_writer)
        )
        self.replies = Replies(self.broker)
        if self.client is None:
            self.client = Client(self.broker)
        else:
            self.client.take_up(self.broker)

    def step(self) -> str:
        return self._random.choice(
            ("update", "update", "update", "update", "subscribe", "subscribe", "unsubscribe", "breaks", "back",
             "patience", "quiet", "crash")
        )  # fmt: skip

    async def take(self, step: str) -> None:
        assert self.client is not None
        random, connection = self._random, self.connection
        match step:
            case "update":
                text = random.choice(TEXTS).format(random.randint(1, 2), random.randint(1, 3))
                self._waiting[self.replies.submit(text)] = text
            case "subscribe":
                self.client.subscribe(random.choice(QUERIES))
            case "unsubscribe":
                if self.client.known:
                    self.client.unsubscribe(random.choice(list(self.client.known)))
            case "breaks":
                connection.breaks = random.choice(("before", "after"))
            case "back":
                connection.away = False
            case "patience":
                self.clock.pass_by(10)
            case "quiet":
                await self.quiet()
            case "crash":
                await self.crash()
        turns = iter(range(random.randint(0, 12)))
        await until(lambda: next(turns, None) is None)

    async def quiet(self) -> None:
        """All is well, and nothing is on its way: everything is as it has to be."""
        assert self.client is not None
        self.connection.breaks, self.connection.away = None, False
        await until(lambda: self.mirror.outage.trouble is None)
        await until(lambda: not self.broker.updates.accepted)
        await self.broker.commit_log.idle()
        self._follow()
        assert not self._waiting
        assert self.connection.quads() == set(self.naive.store)
        if not self.client.line.closed:
            check(self.client, self.connection)
        contexts = self.broker.engine.contexts
        assert contexts is not None
        await until(
            lambda: set(self.broker.store) == {quad for quad in self.connection.quads() if contexts.selects(quad)}
        )

    def _follow(self) -> None:
        """Carry out naively what publishers were told is done."""
        for number, outcome in self.replies.outcomes[self._seen :]:
            text = self._waiting.pop(number)
            if isinstance(outcome, Done):
                before = len(self.naive.store)
                delta = self.naive.update(text, now=0)
                added = len(list(delta.added()))
                assert (outcome.added, outcome.removed) == (added, len(list(delta.removed()))), (text, before)
            elif not isinstance(outcome, EndpointAway):
                with pytest.raises(type(outcome)):
                    self.naive.update(text, now=0)
        self._seen = len(self.replies.outcomes)

    async def crash(self) -> None:
        """What the disk has goes on in a new process; of what was not answered, some was done, in order."""
        assert self.client is not None
        self._lives += 1
        folder = crashed(self.here, self._folder / f"life{self._lives}")
        self._follow()
        unanswered = list(self._waiting.values())
        there, self.connection = self.connection, InProcess()
        self.connection.store.bulk_extend(iter(there.store))
        there.away = True
        self.client.lose()
        self.clock.pass_by(100)
        await self.stack.aclose()
        await self.begin(folder)
        await until(lambda: self.mirror.outage.trouble is None)
        found = self.connection.quads()
        assert found in list(_prefixes(set(self.naive.store), unanswered)), unanswered
        self.naive = Core(Store(found), base=BASE)


def _prefixes(quads: set[Quad], texts: list[str]) -> "list[set[Quad]]":
    """The graph after none, one, two … of some updates; those that cannot be carried out change nothing."""
    core = Core(Store(quads), base=BASE)
    found = [set(core.store)]
    for text in texts:
        try:
            core.update(text, now=0)
        except Exception:  # noqa: BLE001 -- whatever it is, its publisher would have heard of it
            continue
        found.append(set(core.store))
    return found


@asynchronous
@pytest.mark.parametrize("seed", range(often(8)))
async def test_the_endpoint_and_what_was_told_are_what_a_naive_evaluation_says(tmp_path: Path, seed: int) -> None:
    house = House(Random(seed), tmp_path, sole_writer=seed % 8 > 4)
    async with house.stack:
        await house.begin(tmp_path / "life0")
        for _ in range(30):
            await house.take(house.step())
        await house.quiet()
