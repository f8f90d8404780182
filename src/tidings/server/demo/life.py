"""Runs the agents of the city beside a broker: sensors and aggregator are ordinary clients.

After any failure of the broker, all agents start again: they connect again, the sensors publish that nobody is there,
people begin new walks, and the aggregator learns from its first answers which lamps to switch.
"""

import asyncio
import logging
from collections.abc import Callable
from itertools import takewhile

from tidings.client import Application, Jsap
from tidings.model.errors import TidingsError
from tidings.server.demo.lighting import Sensors, aggregate, heed_tempo, roads_of
from tidings.server.demo.people import SPEED, Reading, readings
from tidings.server.demo.tempo import Tempo

PEOPLE = 5
TIME_FACTOR = 3.0
"""The speed of simulated time; with PEOPLE, it makes two or three commits a second."""
DELTA = 10.0
"""Simulated seconds without a presence after which a lamp goes off."""
_FIRST_PAUSE, LONGEST_PAUSE = 0.5, 5.0

log = logging.getLogger("tidings.server.demo")


async def live(
    app: Application,
    *,
    people: int = PEOPLE,
    factor: float = TIME_FACTOR,
    delta: float = DELTA,
    seed: int = 0,
    speed: float = SPEED,
    seconds: float = float("inf"),
    heard: Callable[[Reading], None] = lambda _: None,
) -> None:
    """Run the agents for some simulated seconds, in an application that may have other agents. Raises TidingsError."""
    tempo = Tempo(factor, asyncio.get_running_loop().time)
    aggregate(app, lambda: delta / tempo.factor)
    heed_tempo(app, tempo)
    try:
        async with app, asyncio.TaskGroup() as group:
            agents = group.create_task(app.wait())
            sensors = Sensors(app)
            await sensors.begin()
            walk = readings(await roads_of(app), people, seed=seed, speed=speed)
            tempo.begin()
            await sensors.follow(takewhile(lambda reading: reading.at < seconds, walk), tempo, heard)
            await tempo.until(seconds)
            agents.cancel()
    except ExceptionGroup as group_error:
        raise _first(group_error) from group_error
    finally:
        await app.close()


async def live_on(profile: Jsap, *, factor: float = TIME_FACTOR) -> None:
    """Run the agents until cancelled, and start them again after each failure."""
    pause = _FIRST_PAUSE
    while True:
        begun = asyncio.get_running_loop().time()
        try:
            await live(Application(profile, publisher="city"), factor=factor)
        except TidingsError as error:
            log.info("the demo city was interrupted, and starts again: %s", error)
        if asyncio.get_running_loop().time() - begun > LONGEST_PAUSE:
            pause = _FIRST_PAUSE
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


def _first(errors: ExceptionGroup[Exception]) -> Exception:
    error = errors.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error
