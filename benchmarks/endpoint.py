"""A broker in front of a SPARQL endpoint, over HTTP: LAMP with its 1,004 subscriptions, beside the bare store.

    ../.venv/bin/python endpoint.py [--store fuseki|virtuoso]              Oxigraph or another store, which it starts
    ../.venv/bin/python endpoint.py --query URL --update URL [--graph IRI] a store that runs, and holds nothing else
    ../.venv/bin/python endpoint.py --mode context [--ballast QUADS]       contexts in memory, and more in the store

Prints one JSON line. For each number of connections, with one update at a time on each of them: `ups_bare` and
`ups_broker` (updates a second, the median of some rounds in turns), `ratio_to_bare` (the median of the rounds),
`broker_cpu_ms` (the processor time of the broker for an update), `client_cpu_ms` and `client_cpu_bare_ms` (that of the
client which sends them, and is told of changes). For the rest: `added_ms` (what the broker adds to the median answer of
one update after the other; its subscribers are told at that moment), `sync_ms` (what the disk takes to keep a line, for
which each update waits), `ratio_to_naive` (the rate of the fewest connections / that of whoever asks the store all
subscriptions again after each update), and `broker_mb` (the memory of the broker at the end). Before any time is
printed, the answers of subscriptions are compared with those of the store.
"""

import argparse
import asyncio
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import product
from operator import truediv
from pathlib import Path
from urllib.parse import urlencode

import httpx
import psutil

from measure import check, report, rounded, say
from stores import STORES, Place, in_graph
from tidings.bench.workloads.city import city, lamp_updates, subscriptions
from tidings.client import Subscription, connect
from tidings.endpoint.connection import Address, Connection
from tidings.endpoint.plain_http import PlainHttp
from tidings.endpoint.store import SparqlStore

_CONNECTIONS = (16, 32, 64, 128)
_SINGLE = 60
_NAIVE_UPDATES = 2
_CHECKED = 20
_PORTION = 100_000
_PATIENCE = 120.0
_GREETING = re.compile(r"(http://127\.0\.0\.1:\d+)[\s\S]*(ws://127\.0\.0\.1:\d+/subscribe)")


@contextmanager
def broker(place: Place, folder: str, flags: list[str]) -> Iterator[tuple[str, str, int]]:
    command = [sys.executable, "-m", "tidings", "serve", "--http-port", "0", "--ws-port", "0", *flags,
               "--data", f"{folder}/data", "--endpoint", place.query, "--update-url", place.update]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
        assert process.stdout is not None
        try:
            greeting = ""
            while not (found := _GREETING.search(greeting)):
                line = process.stdout.readline()
                check(bool(line), "the broker greets")
                greeting += line
            yield found[1], found[2], process.pid
        finally:
            process.terminate()


async def load(place: Place, factor: float, ballast: int) -> None:
    """Load the city, and ballast that no subscription concerns."""
    async with Connection(Address(place.query, place.update), seconds=_PATIENCE) as connection:
        store = SparqlStore(connection)
        await store.take({(s, p, o, ""): True for s, p, o in city(factor)})
        for start in range(0, ballast, _PORTION):
            numbers = range(start, min(ballast, start + _PORTION))
            await store.take({(f"<urn:b{n // 10}>", f"<urn:p{n % 10}>", f'"{n}"', ""): True for n in numbers})


def megabytes(process: int) -> float:
    """The resident memory of a process."""
    with Path(f"/proc/{process}/status").open() as lines:
        (found,) = (line for line in lines if line.startswith("VmRSS"))
    return int(found.split()[1]) / 1024


async def check_answers(client: httpx.AsyncClient, place: Place, told: list[Subscription]) -> None:
    """Check that the notifications of some subscriptions add up to the store's answers."""
    for subscription, text in list(zip(told, subscriptions(), strict=True))[:: len(told) // _CHECKED]:
        answer = await client.post(
            place.query, data={"query": text, **place.asked}, headers={"accept": "application/sparql-results+json"}
        )
        expected = _sorted(
            {name: term["value"] for name, term in row.items()} for row in answer.json()["results"]["bindings"]
        )
        deadline = time.monotonic() + _PATIENCE
        while (now := _told(subscription)) != expected and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        check(now == expected, f"{now} was told, and not {expected}: {text}")


def _told(subscription: Subscription) -> list[list[tuple[str, str]]]:
    return _sorted({name: str(value) for name, value in row.items()} for row in subscription.values())


def _sorted(rows: Iterable[dict[str, str]]) -> list[list[tuple[str, str]]]:
    return sorted(sorted(row.items()) for row in rows)


Update = Callable[[str], Awaitable[None]]


def updater(client: PlainHttp, url: str, parameters: dict[str, str]) -> Update:
    """A function that sends updates, with a client that is fast compared with the store; httpx would not be."""
    headers = {"content-type": "application/x-www-form-urlencoded"}

    async def send(text: str) -> None:
        answer = await client.post(url, headers, urlencode({"update": text, **parameters}).encode())
        check(answer.is_success, f"the update succeeds, not {answer.text[:200]!r}")

    return send


async def rate(send: Update, connections: int, *portions: list[str]) -> float:
    """Updates a second, with one in flight on each connection. A portion begins when the one before it has ended: with
    many connections, a store may leave a lamp's first update waiting until after its second one."""

    async def work(rest: Iterator[str]) -> None:
        for text in rest:
            await send(text)

    begun = time.perf_counter()
    for portion in portions:
        rest = iter(portion)
        await asyncio.gather(*(work(rest) for _ in range(connections)))
    return sum(map(len, portions)) / (time.perf_counter() - begun)


@dataclass
class Rates:
    """What rounds with one number of connections have found."""

    ups: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    """Milliseconds of the client for an update."""
    broker_cpu: list[float] = field(default_factory=list)

    async def add(self, send: Update, connections: int, broker: psutil.Process, *portions: list[str]) -> None:
        began, client = _cpu(broker), time.process_time()
        self.ups.append(await rate(send, connections, *portions))
        updates = sum(map(len, portions))
        self.cpu.append((time.process_time() - client) * 1000 / updates)
        self.broker_cpu.append((_cpu(broker) - began) * 1000 / updates)


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


async def median_ms(send: Update, texts: list[str]) -> float:
    times = []
    for text in texts:
        begun = time.perf_counter()
        await send(text)
        times.append(time.perf_counter() - begun)
    return statistics.median(times) * 1000


def sync_ms(path: Path) -> float:
    """The median time of appending a line to a file and syncing it."""
    times = []
    with path.open("wb", buffering=0) as file:
        for _ in range(_SINGLE):
            file.write(b"x" * 400)
            begun = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - begun)
    return statistics.median(times) * 1000


async def naive_rate(client: httpx.AsyncClient, place: Place, send: Update) -> float:
    """Updates a second if a client asks for all answers again after each update."""
    begun = time.perf_counter()
    for text in lamp_updates("naive")[:_NAIVE_UPDATES]:
        await send(text)
        for query in subscriptions():
            answer = await client.post(place.query, data={"query": query, **place.asked})
            check(answer.is_success, "the store answers the query")
    return _NAIVE_UPDATES / (time.perf_counter() - begun)


async def measure(
    place: Place, folder: str, factor: float, flags: list[str], ballast: int, rounds: int, connections: list[int]
) -> None:
    say("loading the city ...")
    await load(place, factor, ballast)
    say("starting the broker ...")
    with broker(place, folder, flags) as (http, ws, process):
        async with (
            httpx.AsyncClient(timeout=_PATIENCE) as client,
            connect(ws, timeout=_PATIENCE) as line,
        ):
            async with asyncio.TaskGroup() as group:
                begun = [group.create_task(line.subscribe(text)) for text in subscriptions()]
            told = [each.result() for each in begun]
            sender = PlainHttp(seconds=_PATIENCE, connections=max(connections))
            bare, ours = updater(sender, place.update, place.parameters), updater(sender, f"{http}/update", {})
            rates = {number: (Rates(), Rates()) for number in connections}
            last = "ours"
            await rate(ours, max(connections), lamp_updates(last))
            watched = psutil.Process(process)
            for turn, number in product(range(rounds), connections):
                # A bare round ends with the state that the broker has in memory: reconciling would take far longer.
                theirs, mine, name = *rates[number], f"{turn}of{number}"
                await theirs.add(bare, number, watched, lamp_updates(f"bare{name}"), lamp_updates(last))
                last = f"ours{name}"
                await mine.add(ours, number, watched, lamp_updates(f"{last}a"), lamp_updates(last))
                say(f"{number} connections: bare {theirs.ups[-1]:.0f}, broker {mine.ups[-1]:.0f} updates/s")
            alone_bare = await median_ms(bare, lamp_updates("alone")[:_SINGLE])
            await rate(bare, min(connections), lamp_updates(last))
            alone = await median_ms(ours, lamp_updates("together")[:_SINGLE])
            synced = sync_ms(Path(folder) / "sync")
            await check_answers(client, place, told)
            memory = megabytes(process)
            naive = await naive_rate(client, place, bare)
            sender.close()
    report(
        **by_connections(rates), added_ms=rounded(alone - alone_bare), sync_ms=rounded(synced),
        ratio_to_naive=rounded(statistics.median(rates[min(connections)][1].ups) / naive), broker_mb=rounded(memory),
    )  # fmt: skip


def by_connections(rates: dict[int, tuple[Rates, Rates]]) -> dict[str, dict[int, float]]:
    """Medians of all rounds, by the number of connections; of processor times, whose ticks are coarse, the mean."""
    figures: dict[str, Callable[[Rates, Rates], float]] = {
        "ups_bare": lambda bare, _: statistics.median(bare.ups),
        "ups_broker": lambda _, ours: statistics.median(ours.ups),
        "ratio_to_bare": lambda bare, ours: statistics.median(map(truediv, ours.ups, bare.ups)),
        "broker_cpu_ms": lambda _, ours: statistics.mean(ours.broker_cpu),
        "client_cpu_ms": lambda _, ours: statistics.mean(ours.cpu),
        "client_cpu_bare_ms": lambda bare, _: statistics.mean(bare.cpu),
    }
    return {
        name: {number: rounded(figure(*both)) for number, both in rates.items()} for name, figure in figures.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", choices=STORES, default="oxigraph", help="which to start")
    parser.add_argument("--query", help="of a store that runs")
    parser.add_argument("--update")
    parser.add_argument("--graph")
    parser.add_argument("--factor", type=float, default=1.0, help="how much of the city")
    parser.add_argument("--mode", choices=("mirror", "context"), default="mirror")
    parser.add_argument("--sole-writer", action="store_true", help="nobody else writes, the broker is told")
    parser.add_argument("--durability", choices=("fsync", "os", "none"), default="fsync", help="of the broker's log")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--connections", type=int, nargs="+", default=_CONNECTIONS, help="numbers of them, in turns")
    parser.add_argument("--ballast", type=int, default=0, help="quads in the store that concern nobody")
    given = parser.parse_args()
    flags = ["--mode", given.mode, "--durability", given.durability, *(["--sole-writer"] if given.sole_writer else [])]
    with tempfile.TemporaryDirectory() as folder, _store(given, folder) as place:
        asyncio.run(measure(place, folder, given.factor, flags, given.ballast, given.rounds, given.connections))


def _store(given: argparse.Namespace, folder: str) -> AbstractContextManager[Place]:
    if given.query is None:
        return STORES[given.store](folder)
    update = given.update or given.query
    if given.graph is None:
        return nullcontext(Place(given.query, update))
    return nullcontext(in_graph(given.query, update, given.graph))


if __name__ == "__main__":
    main()
