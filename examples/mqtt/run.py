"""The whole example: sensors, an MQTT broker, a broker, a store, the agents between them, and a table of what they see.

python examples/mqtt/run.py --seconds 20
"""

import argparse
import asyncio
import logging
import signal
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from adapter import Adapter
from mqtt_client import end, forgive_closed_sockets
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text
from servers import HOST, Server, ingest, profile_for, serving
from simulator import simulate
from storing import storing_service
from topics import TopicsManager

from tidings.client import Application, Change, Endpoint, load

_CATCH_UP_SECONDS = 10.0
STORED = """
PREFIX sosa: <http://www.w3.org/ns/sosa/> PREFIX time: <http://www.w3.org/2006/time#>
SELECT (COUNT(?instant) AS ?n) (MIN(STR(?stamp)) AS ?first) (MAX(STR(?stamp)) AS ?last) WHERE {
  ?observation sosa:hasResult ?quantity . ?quantity time:hasTime ?instant . ?instant time:inXSDDateTimeStamp ?stamp }
"""


class Overview:
    """A consumer of OBSERVATIONS_VALUES: what the Web application of the paper is there."""

    def __init__(self, app: Application, adapter: Adapter) -> None:
        self._consumer = app.consumer("OBSERVATIONS_VALUES")(self._changed)
        self._adapter = adapter
        self.changes: Counter[str] = Counter()

    def _changed(self, change: Change) -> None:
        self.changes.update(str(row["observation"]) for row in change.added)

    def __rich__(self) -> Group:
        table = Table("observation", "location", "value", "unit", "changes")
        for column in (2, 4):
            table.columns[column].justify = "right"
        for row in sorted(self._consumer.rows, key=lambda row: str(row["label"])):
            cells = (row["label"], local(row["location"]), row["value"], local(row["unit"]))
            table.add_row(*map(Text, cells), str(self.changes[str(row["observation"])]))
        return Group(table, Text(self._counted(), style="dim"), *(Text(f"  {c}", style="dim") for c in self._said()))

    def _counted(self) -> str:
        counters = self._adapter.counters
        names = ("messages", "published", "unchanged", "unknown", "malformed", "dropped", "refused", "connections")
        told = ", ".join(f"{name} {getattr(counters, name)}" for name in names)
        return f"{told}, waiting {self._adapter.waiting}"

    def _said(self) -> list[str]:
        return list(self._adapter.counters.complaints)


def local(iri: str) -> str:
    return iri.rpartition("#")[2]


async def watch(table: Overview, console: Console, seconds: float) -> None:
    if not console.is_terminal:
        await asyncio.sleep(seconds)
        console.print(table)
        return
    with Live(table, console=console, refresh_per_second=4):
        await asyncio.sleep(seconds)


async def disturb(mqtt: Server, monitor: Server, store: Server, seconds: float) -> None:
    """Take one server after the other away, and bring it back."""
    for server, how in ((mqtt, signal.SIGTERM), (monitor, signal.SIGKILL), (store, signal.SIGKILL)):
        await asyncio.sleep(seconds / 5)
        await server.restart(how, away=0.5)


@asynccontextmanager
async def at_work(work: Coroutine[Any, Any, None]) -> AsyncIterator[asyncio.Task[None]]:
    """A task that ends when it is done, or when this is."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        await end(task)


async def stored_in(store: Server, changes: Counter[str]) -> dict[str, Any]:
    """What the store has, as soon as that is all that was seen, or after some time."""
    deadline = time.monotonic() + _CATCH_UP_SECONDS
    async with Endpoint(f"http://{HOST}:{store.port}/query") as endpoint:
        while True:
            (stored,) = (await endpoint.query(STORED)).values()
            if stored["n"] >= changes.total() or time.monotonic() > deadline:
                return stored
            await asyncio.sleep(0.1)


async def run(seconds: float, *, restarts: bool, lake: Path | None, console: Console) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with serving(Path(folder)) as (mqtt, monitor, store):
            profile = load(profile_for(mqtt, monitor, store))
            app = Application(profile)
            adapter = Adapter(app)
            table = Overview(app, adapter)
            storing_service(app)
            async with app, adapter:
                added = await TopicsManager(app).start()
                console.print(f"{added} mappings; MQTT on port {mqtt.port}, broker http://{HOST}:{monitor.port}/,")
                console.print(f"store http://{HOST}:{store.port}/")
                async with at_work(simulate(HOST, mqtt.port)):
                    if restarts:
                        async with at_work(disturb(mqtt, monitor, store, seconds)) as disturbance:
                            await watch(table, console, seconds)
                            await disturbance
                    else:
                        await watch(table, console, seconds)
                stored = await stored_in(store, table.changes)
            console.print("{n} time-stamped values in the store, from {first} to {last}".format(**stored))
            if lake is not None:
                console.print(await ingest(store, lake), soft_wrap=True)


async def until_told(arguments: argparse.Namespace) -> None:
    asked = {name: getattr(arguments, name) for name in ("seconds", "restarts", "lake")}
    task = asyncio.ensure_future(run(**asked, console=Console()))
    loop = asyncio.get_running_loop()
    forgive_closed_sockets(loop)
    for number in (signal.SIGINT, signal.SIGTERM):  # either way, the servers are stopped
        loop.add_signal_handler(number, task.cancel)
    with suppress(asyncio.CancelledError):
        await task


def main() -> None:
    parser = argparse.ArgumentParser(description="Sensors over MQTT, as observations.")
    parser.add_argument("--seconds", type=float, default=20, help="how long (%(default)s)")
    parser.add_argument("--restarts", action="store_true", help="restart each server on the way, to see what happens")
    parser.add_argument("--lake", type=Path, metavar="DIR", help="keep the history of the store here; needs Spark")
    for name in ("tidings.client", "mqtt"):
        logging.getLogger(name).addHandler(logging.NullHandler())  # the table shows how it goes
    arguments = parser.parse_args()
    if arguments.lake is not None and arguments.lake.exists():
        parser.error(f"{arguments.lake} is there already, and the store of each run is a new one")
    asyncio.run(until_told(arguments))


if __name__ == "__main__":
    main()
