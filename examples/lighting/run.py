"""Smart lighting: people walk along roads, and lamps near them go on and off.

python examples/lighting/run.py                                  with a broker of its own, for half a minute
python examples/lighting/run.py --http http://localhost:8000     with a broker that is running
"""

import asyncio
import re
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tidings.client import Application, connect
from tidings.client.discovery import subscribe_address
from tidings.model.errors import TidingsError
from tidings.server.demo.life import DELTA, PEOPLE, live
from tidings.server.demo.lighting import actuate, profile_at
from tidings.server.demo.people import SPEED, Reading
from tidings.server.demo.town import GRAPH, insertion

PROFILE = Path(__file__).with_name("lighting.jsap")
SERVE = (sys.executable, "-m", "tidings", "serve", "--memory", "--demo", "off", "--http-port", "0", "--ws-port", "0")
CITY = f"ASK {{ GRAPH <{GRAPH}> {{ ?s ?p ?o }} }}"


def arguments() -> Namespace:
    parser = ArgumentParser(description="People walk along roads, and lamps go on and off around them.")
    parser.add_argument("--http", metavar="URL", help="a broker that runs already; without it, one is started")
    parser.add_argument("--ws", metavar="URL", help="its address for subscriptions, if it does not tell")
    parser.add_argument("--people", type=int, default=PEOPLE, help="how many walk (default %(default)s); 0 to watch")
    parser.add_argument(
        "--seconds", type=float, default=30.0, help="of the street, until the end (default %(default)s)"
    )
    parser.add_argument("--time-factor", type=float, default=1.0, help="how much faster its time passes than ours")
    parser.add_argument("--speed", type=float, default=SPEED, help="metres a second (default %(default)s)")
    parser.add_argument("--delta", type=float, default=DELTA, help="seconds a lamp burns for nobody (%(default)s)")
    parser.add_argument("--city", type=float, default=0.01, help="its size, if there is none yet (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="other people, other ways (default %(default)s)")
    given = parser.parse_args()
    if given.ws and not given.http:
        parser.error("--ws goes with --http, where updates are sent")
    if min(given.time_factor, given.speed, given.city) <= 0 or min(given.people, given.seconds, given.delta) < 0:
        parser.error("times and sizes are numbers above 0")
    return given


@contextmanager
def broker_of_our_own() -> Iterator[str]:
    """Start a broker, which is stopped at the end. Yields its HTTP address."""
    with subprocess.Popen(SERVE, stdout=subprocess.PIPE, text=True, process_group=0) as process:
        assert process.stdout is not None
        try:
            greeting = process.stdout.readline()
            address = re.search(r"http://[^/]+", greeting)
            if address is None:
                raise SystemExit(f"the broker did not start: {greeting}")
            yield address[0]
        finally:
            process.terminate()


class Story:
    """Prints the events, each with the time in the street."""

    def __init__(self, factor: float) -> None:
        self._factor = factor
        self._begun = time.monotonic()
        self.counts: Counter[str] = Counter()

    def begin(self, lamps: int, on: int) -> None:
        self._begun = time.monotonic()
        print(f"{lamps} lamps, {on} of them on", flush=True)

    def noticed(self, reading: Reading) -> None:
        self._tell(f"{'somebody' if reading.present else 'nobody':8}  at post {reading.place.replace('_', '/')}")
        self.counts["sensed"] += 1

    def switched(self, lamp: str, status: str) -> None:
        self._tell(f"{'':8}  lamp {lamp.removeprefix('LAMP_').replace('_', '/')} {status.lower()}")
        self.counts[status] += 1

    def _tell(self, text: str) -> None:
        print(f"{(time.monotonic() - self._begun) * self._factor:7.1f} s  {text}", flush=True)

    def end(self) -> None:
        counts = self.counts
        print(f"sensors changed {counts['sensed']} times; lamps went on {counts['ON']} and off {counts['OFF']} times")


async def play(http: str, given: Namespace) -> None:
    ws = await subscribe_address(given.ws or http, seconds=10)
    async with connect(ws) as broker:
        if not (await broker.query(CITY)).boolean:
            done = await broker.update(insertion(given.city))
            print(f"a city of {done.added:,} triples was built, in the graph <{GRAPH}>")
    app = Application(profile_at(http, ws, PROFILE))
    story = Story(given.time_factor)
    actuate(app, story.switched, story.begin)
    await live(
        app,
        people=given.people,
        factor=given.time_factor,
        delta=given.delta,
        seed=given.seed,
        speed=given.speed,
        seconds=given.seconds,
        heard=story.noticed,
    )
    story.end()


def main() -> int:
    given = arguments()
    try:
        if given.http:
            asyncio.run(play(given.http.rstrip("/"), given))
        else:
            with broker_of_our_own() as http:
                asyncio.run(play(http, given))
    except TidingsError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
