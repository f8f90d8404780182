"""Compares updates and notifications through every gate with those through the WebSocket gate, at one broker.

Prints one JSON line: for each gate, `<gate>` is `{"updates": …, "told": …, "updates_ratio": …, "told_ratio": …,
"updates_busy": …}`. `updates` are updates a second, 32 of them in flight, each answered when it is on disk. `told` are
changes a second, one after the other, each from its publication to its notification. `…_ratio` is a rate divided by
that of the WebSocket gate, the median of the rounds (more is better). `updates_busy` are updates for each second of the
broker's processor time, regardless of how slow the client is. `mapped` are messages a second to an MQTT topic that is
mapped to an update. The gates take turns; their clients are those of the tests.
"""

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import psutil

from measure import report, rounded, say
from sockets import broker_core, busy_seconds, take_client_core

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT / "tests")  # instead of this folder, where `gates` would be this module

from gates.stories.driver import EXAMPLE, Driver, World, rows, told  # noqa: E402
from gates.stories.drivers import DRIVERS  # noqa: E402
from gates.stories.mqtt import MqttDriver  # noqa: E402
from gates.wire import Broker, serving  # noqa: E402

UPDATES = 300
TOLD = 40
WINDOW = 32
ROUNDS = 3
BESIDE = "websocket"
MESSAGES = 5_000
BATCH = 500
_PROFILE = {
    "updates": {
        "SET": {
            "sparql": "DELETE { ?lamp ex:power ?old } INSERT { ?lamp ex:power ?power } "
            "WHERE { OPTIONAL { ?lamp ex:power ?old } }",
            "forcedBindings": {"lamp": {"type": "uri"}, "power": {"type": "literal", "datatype": "xsd:integer"}},
        }
    },
    "namespaces": {"ex": EXAMPLE},
    "extended": {
        "mqtt": {
            "updates": [{"topic": "city/lamp/{id}", "update": "SET", "bindings": {"lamp": f"{EXAMPLE}lamp/{{id}}"}}]
        }
    },
}


async def in_windows(count: int, work: Callable[[int], Awaitable[None]]) -> float:
    """The seconds for `count` calls, with WINDOW of them at a time."""
    numbers = iter(range(count))

    async def some() -> None:
        for number in numbers:
            await work(number)

    start = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(WINDOW):
            group.create_task(some())
    return time.perf_counter() - start


async def updates(driver: Driver, broker: Broker) -> tuple[float, float]:
    """Updates a second, and updates for each second of the broker's processor time."""
    process = psutil.Process(broker.process.pid)
    async with driver.client(broker, World()) as client:
        await client.publish("first", "state")
        before = busy_seconds(process)
        seconds = await in_windows(UPDATES, lambda number: client.publish(f"lamp-{number}", "on"))
        return UPDATES / seconds, UPDATES / (busy_seconds(process) - before)


async def changes_told(driver: Driver, broker: Broker) -> float:
    """Changes a second, each published after the notification of the one before."""
    async with driver.client(broker, World()) as client:
        subscription = await client.subscribe()
        start = time.perf_counter()
        for _ in range(TOLD // 2):
            await client.publish("lamp", "on")
            await told(subscription, rows(("lamp", "on")))
            await client.retract("lamp", "on")
            await told(subscription, rows())
        seconds = time.perf_counter() - start
        await subscription.end()
        return TOLD / seconds


async def mapped(driver: MqttDriver, folder: Path) -> float:
    """Messages a second to a topic that is mapped to an update, until all of them are on disk."""
    profile = folder / "lamps.jsap"
    profile.write_text(json.dumps(_PROFILE))
    async with driver.around() as flags:
        with serving(folder, *flags, "--mqtt-profile", str(profile)) as broker:
            give_core(broker)
            async with driver.client(broker, World()) as client:  # waits until the gate is open
                start = time.perf_counter()
                for number in range(MESSAGES):
                    payload = json.dumps({"power": number})
                    client.publisher.client.publish(f"city/lamp/{number % 100}", payload, 1)
                    if (number + 1) % BATCH == 0:  # mosquitto queues 1,000 messages for a client, and drops others
                        while not broker.query(f"SELECT ?lamp {{ ?lamp <{EXAMPLE}power> {number} }}"):
                            await asyncio.sleep(0.01)
                return MESSAGES / (time.perf_counter() - start)


def give_core(broker: Broker) -> None:
    """Give the broker, with all its threads, one core, and this process another."""
    for thread in psutil.Process(broker.process.pid).threads():
        os.sched_setaffinity(thread.id, {broker_core()})
    take_client_core()


async def main() -> None:
    drivers = {name: make() for name, make in DRIVERS.items()}
    measured: dict[str, dict[str, list[float]]] = {name: {"updates": [], "told": [], "busy": []} for name in drivers}
    async with AsyncExitStack() as stack:
        flags = [flag for each in drivers.values() for flag in await stack.enter_async_context(each.around())]
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        broker = stack.enter_context(serving(folder, *flags))
        give_core(broker)
        for turn in range(ROUNDS):
            for name, driver in drivers.items():
                rate, busy = await updates(driver, broker)
                measured[name]["updates"].append(rate)
                measured[name]["busy"].append(busy)
                measured[name]["told"].append(await changes_told(driver, broker))
                say(f"round {turn + 1}: {name}: {rate:,.0f} updates/s, {measured[name]['told'][-1]:,.0f} told/s")
    with tempfile.TemporaryDirectory() as other:
        rate = await mapped(MqttDriver(), Path(other))
    say(f"mapped topics: {rate:,.0f} messages/s")
    report(
        mapped=rounded(rate, 0), gates={name: _figures(figures, measured[BESIDE]) for name, figures in measured.items()}
    )


def _figures(own: dict[str, list[float]], beside: dict[str, list[float]]) -> dict[str, Any]:
    """The medians of the rates, and of the ratios of the rounds."""
    figures = {name: rounded(statistics.median(own[name]), 0) for name in ("updates", "told")}
    ratios = {
        f"{name}_ratio": rounded(statistics.median(a / b for a, b in zip(own[name], beside[name], strict=True)))
        for name in ("updates", "told")
    }
    return figures | ratios | {"updates_busy": rounded(statistics.median(own["busy"]), 0)}


if __name__ == "__main__":
    asyncio.run(main())
