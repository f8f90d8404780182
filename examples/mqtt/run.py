"""The whole example: sensors, an MQTT broker, a broker, a store, the agents between them, and a table of observations.

python examples/mqtt/run.py --seconds 20
"""

import argparse
import asyncio
import logging
import math
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text
from servers import HOST, Server, ingest, profile_for, serving
from storing import storing_service
from topics import TopicsManager

from tidings.client import Application, Change, Endpoint, Row, load
from tidings.extras import extra_missing, require
from tidings.model.errors import ExtraMissing

try:
    from adapter import Adapter
    from mqtt_client import end, forgive_closed_sockets
    from simulator import simulate
except ImportError as error:
    sys.exit(f"run: {extra_missing('this example needs aiomqtt', 'examples', error)}")

_CATCH_UP_SECONDS = 60.0
_VALUES_BETWEEN = 10
"""How many values arrive before the next server is stopped."""
STORED = """
PREFIX sosa: <http://www.w3.org/ns/sosa/> PREFIX time: <http://www.w3.org/2006/time#>
SELECT (COUNT(?instant) AS ?n) (MIN(STR(?stamp)) AS ?first) (MAX(STR(?stamp)) AS ?last) WHERE {
  ?observation sosa:hasResult ?quantity . ?quantity time:hasTime ?instant . ?instant time:inXSDDateTimeStamp ?stamp }
"""
VALUES = """
PREFIX sosa: <http://www.w3.org/ns/sosa/> PREFIX qudt: <http://qudt.org/1.1/schema/qudt#>
SELECT DISTINCT ?observation ?value WHERE { ?observation sosa:hasResult ?quantity . ?quantity qudt:numericValue ?value }
"""


class Overview:
    """A consumer of OBSERVATIONS_VALUES, in place of the Web application of the paper."""

    def __init__(self, app: Application, adapter: Adapter) -> None:
        self._consumer = app.consumer("OBSERVATIONS_VALUES")(self._changed)
        self._adapter = adapter
        self.changes: Counter[str] = Counter()
        self._news = asyncio.Event()

    def _changed(self, change: Change) -> None:
        self.changes.update(str(row["observation"]) for row in change.added)
        self._news.set()

    @property
    def values(self) -> set[tuple[str, str]]:
        """The present values of observations."""
        return _values(self._consumer.rows)

    async def sees(self, most: float) -> None:
        """Wait until `most` values have arrived."""
        while self.changes.total() < most:
            self._news.clear()
            await self._news.wait()

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


async def watch(table: Overview, console: Console, seconds: float, values: float) -> None:
    """Show the table until the time is over, or `values` values have arrived."""
    live = Live(table, console=console, refresh_per_second=4) if console.is_terminal else nullcontext()
    with live, suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await table.sees(values)
    if not console.is_terminal:
        console.print(table)


async def disturb(mqtt: Server, monitor: Server, store: Server, table: Overview) -> None:
    """Restart the servers one after the other, and wait for values before and after each restart."""
    for server, how in ((mqtt, signal.SIGTERM), (monitor, signal.SIGKILL), (store, signal.SIGKILL)):
        await table.sees(table.changes.total() + _VALUES_BETWEEN)
        await server.restart(how, away=0.5)
    await table.sees(table.changes.total() + 1)


@asynccontextmanager
async def at_work(work: Coroutine[Any, Any, None]) -> AsyncIterator[asyncio.Task[None]]:
    """A task that is cancelled at the end of this context, unless it is done."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        await end(task)


async def catch_up(store: Server, table: Overview) -> None:
    """Wait until the store has the present values, for a limited time."""
    async with Endpoint(f"http://{HOST}:{store.port}/query") as endpoint:
        with suppress(TimeoutError):
            async with asyncio.timeout(_CATCH_UP_SECONDS):
                while not table.values <= _values(await endpoint.query(VALUES)):
                    await asyncio.sleep(0.1)


async def stored_in(store: Server) -> dict[str, Any]:
    async with Endpoint(f"http://{HOST}:{store.port}/query") as endpoint:
        (stored,) = (await endpoint.query(STORED)).values()
        return stored


def _values(rows: Iterable[Row]) -> set[tuple[str, str]]:
    return {(str(row["observation"]), str(row["value"])) for row in rows}


async def run(seconds: float, values: float, *, restarts: bool, lake: Path | None, console: Console) -> None:
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
                        async with at_work(disturb(mqtt, monitor, store, table)) as disturbance:
                            await watch(table, console, seconds, values)
                            await disturbance
                    else:
                        await watch(table, console, seconds, values)
                await catch_up(store, table)
            stored = await stored_in(store)  # after the last write to the store
            console.print("{n} time-stamped values in the store, from {first} to {last}".format(**stored))
            if lake is not None:
                console.print(await ingest(store, lake), soft_wrap=True)


async def until_told(arguments: argparse.Namespace) -> None:
    asked = {name: getattr(arguments, name) for name in ("seconds", "values", "restarts", "lake")}
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
    parser.add_argument("--values", type=float, default=math.inf, metavar="N", help="or until so many have come")
    parser.add_argument("--restarts", action="store_true", help="restart each server on the way, to see what happens")
    parser.add_argument("--lake", type=Path, metavar="DIR", help="keep the history of the store here; needs Spark")
    for name in ("tidings.client", "mqtt"):
        logging.getLogger(name).addHandler(logging.NullHandler())  # the table shows the state
    arguments = parser.parse_args()
    if arguments.lake is not None and arguments.lake.exists():
        parser.error(f"{arguments.lake} is there already, and the store of each run is a new one")
    try:
        if arguments.lake is not None:
            require("pyspark", "--lake needs Spark", "spark")
    except ExtraMissing as error:
        sys.exit(f"run: {error}")
    asyncio.run(until_told(arguments))


if __name__ == "__main__":
    main()
