"""Measures how long notifications of 1,000 good subscriptions take beside one very expensive (bad) subscription.

Prints one JSON line. For each bad subscription, it has the p50 and p99 in milliseconds from submitting an update to
notifying the good subscriber concerned; `…_alone_p99`, measured just before without the bad one; and `…_ratio`, p99 /
alone_p99. Times are processor times of this process, without its forks. Each update also concerns the bad subscription,
whose folded answer is compared with a full evaluation at the end, unless it is random. `large_still` is the longest
time in seconds that the event loop works without a pause while one update inserts 150,000 triples in a broker with a
log; `large_removal_still`, while one removes them.
"""

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from measure import check, report, rounded, say
from tidings.broker.broker import Broker
from tidings.broker.policy import Policy
from tidings.broker.subscriptions.subscriber import Parcel, Subscriber
from tidings.engine.engine import Engine
from tidings.log.folder import Folder
from tidings.log.reading import read
from tidings.model.errors import TidingsError
from tidings.server.brokers import open_broker
from tidings.server.config import Settings

GOOD = 1000
WIDTH = 40
HUB = 700
UPDATES = 1000
READY = 100
"""Updates before the measurement: by then, the broker knows which plans are too expensive."""
PAUSE = 0.002
LARGE = 150_000

BAD = {
    "paths": "SELECT ?a ?b { ?a <urn:next>+ ?b }",
    "hub": "SELECT ?a ?c { ?a <urn:to> ?b . ?b <urn:from> ?c }",
    "chance": "SELECT ?s ?v { ?s <urn:value> ?v } ORDER BY RAND() LIMIT 10",
    "groups": "SELECT ?b (MAX(?v) AS ?m) { ?a <urn:to> ?b . ?b <urn:from> ?c . ?c <urn:size> ?v } GROUP BY ?b",
}


class Listener:
    """Adds up the notifications of an answer, and notes the time of the last one."""

    def __init__(self) -> None:
        self.answer: Counter[Any] = Counter()
        self.at = 0.0
        self.is_subscribed = False

    def deliver(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None:
        self.at = time.process_time()
        for row, weight in parcel.changes.items():
            self.answer[row] += weight

    def dismiss(self, subscriber: Subscriber, reason: str, code: int) -> None:
        raise AssertionError(reason)

    def close(self, code: int, reason: str) -> None:
        raise AssertionError(reason)

    def answered(self, subscriber: Subscriber, parcel: Parcel, _: bool) -> None:
        self.answer = Counter(dict(parcel.changes.items()))
        self.is_subscribed = True

    def refused(self, error: TidingsError) -> None:
        raise error


def new_broker() -> Broker:
    """A broker that disconnects no client, however busy the machine is."""
    policy = Policy(seconds=600.0, behind=600.0)
    return Broker(Engine(), policy, clock=lambda: time.time_ns() // 1000, monotonic=time.monotonic)


def world() -> str:
    """The text of an update that adds sensors, a lattice, and a hub."""
    lines = [f"<urn:s{n}> <urn:value> {n} ." for n in range(20 * GOOD)]
    lines += [
        f"<urn:n{x}-{y}> <urn:next> <urn:n{x + 1}-{y}>, <urn:n{x}-{y + 1}> ."
        for x in range(WIDTH)
        for y in range(WIDTH)
    ]
    lines += [f"<urn:x{n}> <urn:to> <urn:hub> . <urn:hub> <urn:from> <urn:y{n}> ." for n in range(HUB)]
    lines += [f"<urn:y{n}> <urn:size> {n} ." for n in range(HUB)]
    return f"INSERT DATA {{ {' '.join(lines)} }}"


def change(number: int) -> str:
    """The text of an update. Every second one reverses the one before, except for the sensor."""
    sensor, place = number % GOOD, number // 2 * 7 % WIDTH
    edges = f"<urn:n{place}-{place}> <urn:next> <urn:n{place}-{place + 1}> . <urn:x{place}> <urn:to> <urn:hub> ."
    before, after = ("", edges) if number % 2 else (edges, "")
    return (
        f"DELETE {{ <urn:s{sensor}> <urn:value> ?v . {before} }} "
        f"INSERT {{ <urn:s{sensor}> <urn:value> {number + 100_000} . {after} }} "
        f"WHERE {{ <urn:s{sensor}> <urn:value> ?v }}"
    )


async def waits(bad: str | None) -> list[float]:
    """The seconds from each update to its notification, sorted."""
    broker = new_broker()
    async with broker:
        await broker.update(world())
        texts = [f"SELECT ?v {{ <urn:s{n}> <urn:value> ?v }}" for n in range(GOOD)] + ([bad] if bad else [])
        listeners = [Listener() for _ in texts]
        for text, listener in zip(texts, listeners, strict=True):
            session = broker.connect(listener)
            broker.subscribe(session, text, None, None, listener.answered, listener.refused)
        while not all(listener.is_subscribed for listener in listeners):
            await asyncio.sleep(0.01)
        broker.freeze()
        seconds: list[float] = []
        for number in range(READY + UPDATES):
            begun = time.process_time()
            await broker.update(change(number))
            seconds.append(listeners[number % GOOD].at - begun)
            await asyncio.sleep(PAUSE)
        await settled(broker)
        if bad and "RAND" not in bad:
            whole = Counter(broker.engine.first_answer(bad, now=broker.now()))
            check(+listeners[-1].answer == whole, f"the folded answer of {bad}")
        status = broker.status()
        say(f"  {status.rounds_aside} round(s) aside")
    return sorted(seconds[READY:])


async def settled(broker: Broker) -> None:
    while broker.updates.accepted or broker.forks.running or broker.subscriptions.behind:
        await asyncio.sleep(0.01)


async def large_still(folder: Path) -> tuple[float, float]:
    """The longest that the loop works without a pause while many triples of a subscription are added, or removed."""
    settings = Settings(data=str(folder), durability="fsync")
    with Folder(folder):
        broker = open_broker(settings, folder, say)
        async with broker:
            listener = Listener()
            text = "SELECT ?s ?v { ?s <urn:value> ?v }"
            broker.subscribe(broker.connect(listener), text, None, None, listener.answered, listener.refused)
            while not listener.is_subscribed:
                await asyncio.sleep(0.01)
            broker.freeze()
            values = " ".join(f"<urn:s{n}> <urn:value> {n} ." for n in range(LARGE))
            added = await stood_still(broker, f"INSERT DATA {{ {values} }}")
            check(sum(listener.answer.values()) == LARGE, "all rows are told")
            removed = await stood_still(broker, f"DELETE DATA {{ {values} }}")
            check(not +listener.answer and not len(broker.store), "nothing is left")
    check(fold(folder) == (LARGE, LARGE), "the log has all of it")
    return added, removed


async def stood_still(broker: Broker, update: str) -> float:
    done = asyncio.create_task(broker.update(update))
    longest, last = 0.0, time.thread_time()
    while not done.done() or broker.subscriptions.behind:
        await asyncio.sleep(0.001)
        now = time.thread_time()
        longest, last = max(longest, now - last), now
    return longest


def fold(folder: Path) -> tuple[int, int]:
    """The number of quads that a log adds, and the number that it removes."""
    entries = list(read(folder))
    return sum(len(list(each.delta.added())) for each in entries), sum(
        len(list(each.delta.removed())) for each in entries
    )


def at(seconds: list[float], share: float) -> float:
    return 1000 * seconds[int(share * len(seconds))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="bad subscriptions whose names have this in them")
    options = parser.parse_args()
    figures: dict[str, float] = {}
    for name, text in BAD.items():
        if options.only not in name:
            continue
        alone = asyncio.run(waits(None))
        beside = asyncio.run(waits(text))
        p50, p99, before = at(beside, 0.5), at(beside, 0.99), at(alone, 0.99)
        say(f"{name}: p50 {p50:.2f} ms, p99 {p99:.2f} ms, and {before:.2f} ms alone")
        figures |= {
            f"{name}_alone_p99": rounded(before),
            f"{name}_p50": rounded(p50),
            f"{name}_p99": rounded(p99),
            f"{name}_ratio": rounded(p99 / before),
        }
    if not options.only or options.only in "large":
        with tempfile.TemporaryDirectory() as folder:
            added, removed = asyncio.run(large_still(Path(folder)))
        figures |= {"large_still": rounded(added), "large_removal_still": rounded(removed)}
    report(**figures)


if __name__ == "__main__":
    main()
