"""The agents of smart lighting: a lamp is on while somebody is at its post, and goes off Δt after the last one left.

    sensors     producers of SENSE: a reading, and the time of its last change
    aggregator  IN_THE_DARK, somebody is where the lamp is off  →  SWITCH_ON
                FOR_NOBODY, nobody is where the lamp is on      →  SWITCH_OFF, after Δt
    actuators   consumers of LAMPS

The aggregator has no timers and no state. SWITCH_OFF is a delayed update, which the broker keeps even over a restart
and executes when it is due; its WHERE tests whether the sensor has read False since the same instant, so that it
changes nothing if somebody has been there meanwhile. The two queries ask for lamps with the wrong status: an aggregator
that was away finds all such lamps in its first answers, and two aggregators at a time do no harm.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from tidings.client import Answer, Application, Change, Jsap, Row, load
from tidings.server.demo.people import Reading, Road
from tidings.server.demo.tempo import Tempo

PROFILE = Path(__file__).with_name("lighting.jsap")


def profile_at(http: str, ws: str, file: Path = PROFILE) -> Jsap:
    """The application profile with the addresses of a broker: `http://host:port` and `ws://host:port/subscribe`."""
    updates, subscriptions = urlsplit(http), urlsplit(ws)
    return load(
        {
            "include": [str(file)],
            "sparql11protocol": {
                "protocol": updates.scheme,
                "host": updates.hostname,
                "port": updates.port or (443 if updates.scheme == "https" else 80),
                "update": {"path": f"{updates.path.rstrip('/')}/update"},
            },
            "sparql11seprotocol": {
                "protocol": subscriptions.scheme,
                "host": subscriptions.hostname,
                "availableProtocols": {
                    subscriptions.scheme: {
                        "port": subscriptions.port or (443 if subscriptions.scheme == "wss" else 80),
                        "path": subscriptions.path or "/",
                    }
                },
            },
        }
    )


# -- the aggregator ---------------------------------------------------------------------------------------------


def aggregate(app: Application, delta: Callable[[], float]) -> None:
    """Add the aggregator to an application; `delta` returns Δt in seconds."""
    switch_off = app.producer("SWITCH_OFF")

    @app.aggregator("IN_THE_DARK", "SWITCH_ON")
    def _light(row: Row) -> dict[str, object]:
        return {"lamp": row["lamp"]}

    @app.aggregator("FOR_NOBODY", "SWITCH_OFF")
    async def _darken(row: Row) -> None:
        await switch_off.later(delay=delta(), **row)


# -- the speed of time ------------------------------------------------------------------------------------------


def heed_tempo(app: Application, tempo: Tempo) -> None:
    """Add a consumer that sets the speed of simulated time to the value in the graph, which any client may publish."""

    @app.consumer("TEMPO")
    def _heed(change: Change) -> None:
        for row in change.added:
            tempo.set(str(row["tempo"]))


# -- actuators --------------------------------------------------------------------------------------------------


def actuate(app: Application, switched: Callable[[str, str], None], begun: Callable[[int, int], None]) -> None:
    """Add the lamps. They call `begun` with the number of lamps and the number of those that are on, and `switched`
    with each lamp that changes and its status."""

    @app.consumer("LAMPS")
    def _follow(change: Change) -> None:
        lamps = [(local(row["lamp"]), local(row["status"])) for row in change.added]
        if change.sequence == 0:
            begun(len(lamps), sum(status == "ON" for _, status in lamps))
        else:
            for lamp, status in lamps:
                switched(lamp, status)


# -- sensors ----------------------------------------------------------------------------------------------------


class Sensors:
    """The presence sensors of a city: producers, one for each post."""

    def __init__(self, app: Application) -> None:
        self._app = app
        self._publish = app.producer("SENSE")

    async def begin(self) -> None:
        """Publish that nobody is at any post: the graph may have readings from before an interruption."""
        for row in await ask(self._app, "SENSING"):
            await self._sense(str(row["sensor"]), present=False)

    async def sense(self, place: str, *, present: bool) -> None:
        await self._sense(f"light:PRESENCE_SENSOR_{place}", present=present)

    async def _sense(self, sensor: str, *, present: bool) -> None:
        await self._publish(sensor=sensor, value=str(present), since=time.time_ns() // 1000)

    async def follow(self, walk: Iterator[Reading], tempo: Tempo, heard: Callable[[Reading], None]) -> None:
        """Publish each reading of a walk when its time has come."""
        for reading in walk:
            await tempo.until(reading.at)
            heard(reading)
            await self.sense(reading.place, present=reading.present)


# -- questions --------------------------------------------------------------------------------------------------


async def ask(app: Application, query: str) -> Answer:
    """The present answer to a query of the profile."""
    primitive = app.profile.query(query)
    connection = await app.connection(primitive)
    return await connection.query(
        primitive.bind(), default_graphs=primitive.dataset.default, named_graphs=primitive.dataset.named
    )


async def roads_of(app: Application) -> list[Road]:
    """The roads of the city in the broker's graph, ordered by their numbers."""
    found = ((int(local(row["road"]).removeprefix("ROAD_")), int(row["posts"])) for row in await ask(app, "ROADS"))
    return [Road(number, posts) for number, posts in sorted(found)]


def local(iri: str) -> str:
    """The name of a thing of the city: `LAMP_1_4`."""
    return iri.rpartition("#")[2]
