"""The broker is killed again and again, in the middle of everything: nothing that was promised is lost.

Publishers note what was acknowledged. Subscribers fold what they are told, and come back with the number they saw
last. After every kill the broker starts from its folder, on new ports, and everybody reconnects.
"""

import asyncio
import random
import signal
from collections import Counter
from pathlib import Path

import pytest

from endurance import often
from gates.client import Client, Message, Row, connected, rows
from gates.wire import Broker, serving
from plain import calls
from waiting import PATIENCE, asynchronous, until

KILLS = often(6)
ARGUMENTS = (
    "--retain", "100000", "--grace", "600", "--segment-size", "40K", "--snapshot-every", "60K", "--log-level", "error",
)  # fmt: skip
TRIPLES = "SELECT ?s ?p ?o WHERE { ?s ?p ?o }"
SUBSCRIPTIONS = {
    "all": TRIPLES,
    "counts": "SELECT ?s (COUNT(?o) AS ?n) WHERE { ?s <count> ?o } GROUP BY ?s",
    "latest": "SELECT ?s ?v WHERE { ?s <value> ?v OPTIONAL { ?s <broken> ?b } FILTER(!BOUND(?b)) }",
}


class Publisher:
    """Sends one update after the other, and notes which of them were acknowledged."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.sent = 0
        self.acknowledged: set[int] = set()

    async def publish(self, broker: Broker) -> None:
        """Until the broker dies, or this is cancelled."""
        async with connected(broker) as socket:
            while True:
                await self._publish_one(socket)

    async def _publish_one(self, socket: Client) -> None:
        self.sent += 1
        number = self.sent
        answer = await socket.ask(
            f"""{{"update": {{"sparql": "DELETE {{ <{self.name}> <value> ?v }}
            INSERT {{ <{self.name}> <value> {number} ; <count> {number} }}
            WHERE {{ OPTIONAL {{ <{self.name}> <value> ?v }} }}"}}}}""".replace("\n", " ")
        )
        assert "response" in answer, answer
        self.acknowledged.add(number)


class Reader:
    """Folds the notifications of one subscription, over as many connections as it takes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.spuid = ""
        self.sequence = -1
        self.answer: Counter[Row] = Counter()
        self.resumed = 0
        self.commit = 0

    async def read(self, broker: Broker) -> None:
        """Until the broker dies; a connection that it closes before, because the machine is busy, is made again."""
        while True:
            try:
                await self._read(broker)
            except OSError:
                if broker.process.poll() is not None:
                    raise

    async def _read(self, broker: Broker) -> None:
        async with connected(broker) as socket:
            request: Message = {"sparql": self.text}
            if self.spuid:
                request["resume"] = {"spuid": self.spuid, "sequence": self.sequence}
            socket.send({"subscribe": request})
            first = await self._next(socket)
            if self.spuid:
                assert first["resumed"] is True, first
                self.resumed += 1
            self._take(first)
            while True:
                self._take(await self._next(socket))

    async def _next(self, socket: Client) -> Message:
        message = await socket.inbox.messages.get()
        if message is None:
            raise ConnectionResetError
        notification = message["notification"]
        assert isinstance(notification, dict)
        return notification

    def _take(self, notification: Message) -> None:
        self.spuid = self.spuid or notification["spuid"]
        assert notification["spuid"] == self.spuid
        assert notification["sequence"] == self.sequence + 1, "each number once, and in order"
        self.sequence += 1
        removed, added = Counter(rows(notification["removedResults"])), Counter(rows(notification["addedResults"]))
        assert removed <= self.answer, "a change was applied twice, or got lost"
        self.answer = self.answer - removed + added
        self.commit = notification["commit"]


async def together(broker: Broker, publishers: list[Publisher], readers: list[Reader], updates: int) -> None:
    """Everybody at work, until each of them has got somewhere and so many updates were acknowledged; then the broker
    is killed."""
    before, wanted = progress(publishers, readers), acknowledged(publishers) + updates
    tasks = [
        *(asyncio.create_task(publisher.publish(broker)) for publisher in publishers),
        *(asyncio.create_task(reader.read(broker)) for reader in readers),
    ]

    def is_busy() -> bool:
        steps = zip(before, progress(publishers, readers), strict=True)
        return acknowledged(publishers) >= wanted and all(now > then for then, now in steps)

    await until(lambda: is_busy() or any(task.done() for task in tasks))
    broker.stop(signal.SIGKILL)
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    for outcome in outcomes:  # a connection that broke is what we came for; anything else is not
        if isinstance(outcome, AssertionError) and "closed the socket" in str(outcome):
            continue
        assert isinstance(outcome, OSError), repr(outcome)


def progress(publishers: list[Publisher], readers: list[Reader]) -> list[int]:
    return [len(each.acknowledged) for each in publishers] + [each.sequence for each in readers]


def acknowledged(publishers: list[Publisher]) -> int:
    return sum(len(publisher.acknowledged) for publisher in publishers)


def asked(broker: Broker, text: str) -> Message:
    answer = calls.post(f"{broker.http}/query", data={"query": text}, timeout=PATIENCE).json()
    assert isinstance(answer, dict)
    return answer


@pytest.mark.server
@asynchronous
async def test_a_broker_that_is_killed_again_and_again_loses_nothing_and_tells_nothing_twice(tmp_path: Path) -> None:
    chance = random.Random(20261115)
    publishers = [Publisher(f"sensor{number}") for number in range(3)]
    readers = [Reader(text) for text in SUBSCRIPTIONS.values()]
    for _ in range(KILLS):
        with serving(tmp_path, *ARGUMENTS) as broker:
            await together(broker, publishers, readers, chance.randrange(200))
    with serving(tmp_path, *ARGUMENTS) as broker:
        for publisher in publishers:
            stored = {int(row["n"]["value"]) for row in broker.query(f"SELECT ?n {{ <{publisher.name}> <count> ?n }}")}
            assert publisher.acknowledged <= stored <= set(range(1, publisher.sent + 1))
            (latest,) = broker.query(f"SELECT ?v {{ <{publisher.name}> <value> ?v }}")
            assert int(latest["v"]["value"]) == max(stored)
        tasks = [asyncio.create_task(reader.read(broker)) for reader in readers]
        last = await asyncio.to_thread(
            broker.update, "INSERT DATA { <the> <end> 1 . <sensor0> <count> 0 . <sensor1> <broken> true }"
        )
        await until(lambda: all(reader.commit == last["sequence"] for reader in readers))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for reader in readers:
            assert reader.answer == Counter(rows(await asyncio.to_thread(asked, broker, reader.text)))
            assert reader.resumed >= KILLS
        assert acknowledged(publishers) > KILLS
        await until(lambda: any((tmp_path / "tidings-data" / "snapshots").glob("*.json")))  # it is part of it
