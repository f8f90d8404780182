"""Smart lighting, end to end: a real broker, its agents, people who walk, and the demo of `tidings serve`."""

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path

import psutil
import pytest

from broker.making import Clock
from gates.client import connected
from gates.doors import listening, with_websockets
from gates.wire import Broker, own_ports, serving
from tidings.cli.commands.operation import serve
from tidings.client import Application, CannotConnect
from tidings.server.brokers import Watch
from tidings.server.config import read_settings
from tidings.server.demo import life
from tidings.server.demo.lighting import PROFILE, Sensors, actuate, aggregate, profile_at
from tidings.server.demo.people import Reading, Road, readings
from tidings.server.demo.town import GRAPH, LIGHTS, insertion, town
from waiting import PATIENCE, WHOLE, asynchronous, until

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/lighting"
CITY = 0.001
"""One road of each size."""
ROADS = (Road(1, 10), Road(101, 25), Road(201, 50), Road(301, 100))
POSTS = {road.number: road.posts for road in ROADS}
FACTS = f"SELECT ?s ?p ?o WHERE {{ GRAPH <{GRAPH}> {{ ?s ?p ?o }} }}"


# -- people -----------------------------------------------------------------------------------------------------


def walk(people: int, seed: int, steps: int = 500) -> list[Reading]:
    return list(islice(readings(ROADS, people, seed=seed), steps))


def test_the_same_seed_gives_the_same_walks() -> None:
    assert walk(7, seed=1) == walk(7, seed=1)
    assert walk(7, seed=1) != walk(7, seed=2)


def test_readings_are_in_order_and_each_changes_what_a_sensor_reads() -> None:
    present: dict[str, bool] = {}
    last = 0.0
    for reading in walk(30, seed=3, steps=3000):
        assert reading.at >= last
        assert present.get(reading.place, False) is not reading.present
        present[reading.place], last = reading.present, reading.at
        road, post = map(int, reading.place.split("_"))
        assert 1 <= post <= POSTS[road]
    assert sum(present.values()) <= 30


def test_who_walks_faster_passes_more_lamps() -> None:
    def until(seconds: float, speed: float) -> int:
        for number, reading in enumerate(readings(ROADS, 3, speed=speed)):
            if reading.at > seconds:
                return number
        raise AssertionError("a walk has no end")

    assert until(600, speed=2.8) > until(600, speed=0.7)


def test_nobody_walks_where_there_is_nobody_or_no_road() -> None:
    assert list(readings(ROADS, 0)) == []
    assert list(readings((), 5)) == []


# -- agents -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with serving(tmp_path_factory.mktemp("broker"), "--memory") as running:
        running.update(insertion(CITY))
        yield running


@asynccontextmanager
async def lamps(http: str, ws: str, delta: float | None) -> AsyncIterator[tuple[Sensors, list[tuple[str, str]]]]:
    """Sensors to play with and what becomes of the lamps; without `delta`, there is no aggregator."""
    app = Application(profile_at(http, ws))
    switched: list[tuple[str, str]] = []
    begun: list[int] = []
    actuate(app, lambda lamp, status: switched.append((lamp, status)), lambda count, _: begun.append(count))
    if delta is not None:
        aggregate(app, lambda: delta)
    async with app:
        await until(lambda: begun)
        yield Sensors(app), switched


def place_of_a_lamp(broker: Broker, status: str) -> Iterator[str]:
    rows = broker.query(LIGHTS.replace(":ON", f":{status}"))
    return (row["lamp"]["value"].partition("#LAMP_")[2] for row in rows)


@pytest.mark.server
@asynchronous
async def test_a_presence_switches_a_lamp_on_and_its_absence_switches_it_off(broker: Broker) -> None:
    async with lamps(broker.http, broker.ws, delta=0.2) as (sensors, switched):
        await sensors.sense("1_4", present=True)
        await until(lambda: switched)
        await sensors.sense("1_4", present=False)
        await until(lambda: len(switched) == 2)
    assert switched == [("LAMP_1_4", "ON"), ("LAMP_1_4", "OFF")]


@pytest.mark.server
@asynchronous
async def test_a_presence_in_between_keeps_it_on() -> None:
    clock = Clock()
    async with listening(watch=Watch(clock.now, clock.monotonic)) as house, with_websockets(house) as ws:
        await house.update(insertion(CITY))
        schedule = house.broker.schedule
        async with lamps(str(house.http.base_url), ws, delta=60.0) as (sensors, switched):
            await sensors.sense("1_5", present=True)
            await until(lambda: switched)
            await sensors.sense("1_5", present=False)
            await until(lambda: len(schedule))
            await sensors.sense("1_5", present=True)
            clock.pass_by(60)
            await until(lambda: not len(schedule))
            lit = (await house.get("/query", params={"query": LIGHTS})).json()["results"]["bindings"]
            assert [row["lamp"]["value"].partition("#")[2] for row in lit] == ["LAMP_1_5"]
            await sensors.sense("1_5", present=False)
            await until(lambda: len(schedule))
            clock.pass_by(60)
            await until(lambda: len(switched) == 2)
    assert switched == [("LAMP_1_5", "ON"), ("LAMP_1_5", "OFF")]


@pytest.mark.server
@asynchronous
async def test_an_aggregator_that_was_away_does_what_is_left(broker: Broker) -> None:
    async with lamps(broker.http, broker.ws, delta=None) as (sensors, switched):
        await sensors.sense("1_6", present=True)
    assert switched == []
    async with lamps(broker.http, broker.ws, delta=0.1) as (_, switched):
        await until(lambda: switched == [("LAMP_1_6", "ON")])
    async with lamps(broker.http, broker.ws, delta=None) as (sensors, switched):
        await sensors.begin()  # the sensors were away as well: nobody is there any more
    assert switched == []
    async with lamps(broker.http, broker.ws, delta=0.1) as (_, switched):
        await until(lambda: switched == [("LAMP_1_6", "OFF")])


@pytest.mark.server
@asynchronous
async def test_a_broken_lamp_stays_broken(broker: Broker) -> None:
    broken = next(place_of_a_lamp(broker, "BROKEN"))
    async with lamps(broker.http, broker.ws, delta=0.1) as (sensors, switched):
        for place in (broken, "1_7"):
            await sensors.sense(place, present=True)
            await sensors.sense(place, present=False)
        await until(lambda: len(switched) == 2)
    assert switched == [("LAMP_1_7", "ON"), ("LAMP_1_7", "OFF")]
    assert broken in place_of_a_lamp(broker, "BROKEN")


@pytest.mark.server
@asynchronous
async def test_a_life_ends_in_its_time_and_its_sensors_tell_of_the_walk(broker: Broker) -> None:
    heard: list[Reading] = []
    app = Application(profile_at(broker.http, broker.ws))
    async with asyncio.timeout(PATIENCE):
        await life.live(app, people=9, seed=5, factor=40, seconds=40, heard=heard.append)
    assert heard == [reading for reading in walk(9, seed=5) if reading.at < 40]


@pytest.mark.server
@asynchronous
async def test_life_goes_on_when_the_broker_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(life, "LONGEST_PAUSE", 0.5)
    ports = own_ports()
    with serving(tmp_path, *ports) as first:
        first.update(insertion(CITY))
        going = asyncio.create_task(life.live_on(profile_at(first.http, first.ws), factor=20))
        await until(lambda: first.query(LIGHTS))
        first.process.kill()
        first.process.wait()
    with serving(tmp_path, *ports) as second:
        before = second.query(FACTS)
        await until(lambda: second.query(FACTS) != before)
        going.cancel()
        await asyncio.gather(going, return_exceptions=True)
        assert going.cancelled()


@asynchronous
async def test_who_cannot_reach_a_broker_says_so() -> None:
    with pytest.raises(CannotConnect):
        await life.live(Application(profile_at("http://127.0.0.1:1", "ws://127.0.0.1:1/subscribe")))


# -- the example ------------------------------------------------------------------------------------------------


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLE / "run.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=WHOLE, check=False)


@pytest.mark.server
def test_the_example_runs_with_a_broker_of_its_own() -> None:
    done = run("--seconds", "40", "--time-factor", "20", "--people", "6", "--delta", "2", "--seed", "4")
    assert (done.returncode, done.stderr) == (0, "")
    told = re.findall(r"(somebody|nobody) +at post (\d+)/(\d+)\n", done.stdout)
    expected = [reading for reading in walk(6, seed=4) if reading.at < 40]
    assert [(who == "somebody", f"{road}_{post}") for who, road, post in told] == [
        (reading.present, reading.place) for reading in expected
    ]
    assert re.search(r"lamp \d+/\d+ on\n", done.stdout)
    assert "lamps went on" in done.stdout.splitlines()[-1]


@pytest.mark.server
def test_the_example_works_at_a_broker_that_runs(broker: Broker) -> None:
    done = run("--http", broker.http, "--seconds", "20", "--time-factor", "20")
    assert (done.returncode, done.stderr) == (0, "")
    assert "a city" not in done.stdout  # there was one
    assert "somebody" in done.stdout


def test_the_example_complains_in_one_line() -> None:
    for arguments, code in ((["--http", "http://127.0.0.1:1"], 1), (["--ws", "ws://x/"], 2), (["--city", "0"], 2)):
        done = run(*arguments)
        assert done.returncode == code
        assert "Traceback" not in done.stderr


def test_the_example_and_the_demo_have_one_profile() -> None:
    assert (EXAMPLE / "lighting.jsap").read_text() == PROFILE.read_text()


# -- the demo ---------------------------------------------------------------------------------------------------


def greeted(broker: Broker) -> str:
    """The rest of the greeting."""
    said = ""
    assert broker.process.stdout is not None
    for line in broker.process.stdout:
        said += line
        if "stop:" in line:
            break
    return said


def cities(broker: Broker) -> list[psutil.Process]:
    """The processes in which the demo of a broker lives."""
    return [
        child for child in psutil.Process(broker.process.pid).children() if "tidings.server.demo" in child.cmdline()
    ]


async def changes(broker: Broker, count: int) -> None:
    """Wait for so many notifications about lamps."""
    async with connected(broker) as socket:
        follower = await socket.follow(LIGHTS)
        async with asyncio.timeout(PATIENCE):
            for _ in range(count):
                follower.take(await socket.next())


@pytest.mark.server
@asynchronous
async def test_the_demo_can_be_watched_and_ends_with_the_broker(tmp_path: Path) -> None:
    with serving(tmp_path, "--demo") as broker:
        said = greeted(broker)
        assert said.count(LIGHTS) == 2
        assert f"curl -sN -G {broker.http}/subscribe" in said
        assert broker.query("SELECT * WHERE { ?s ?p ?o }") == []  # the default graph is its owner's
        await changes(broker, 2)
        children = cities(broker)
        assert len(children) == 1
        assert broker.stop() == 0
        assert not psutil.wait_procs(children, PATIENCE)[1]


@pytest.mark.server
@asynchronous
async def test_the_demo_goes_on_in_its_folder_and_does_not_outlive_a_killed_broker(tmp_path: Path) -> None:
    with serving(tmp_path, "--demo") as broker:
        greeted(broker)
        broker.update("INSERT DATA { <mine> <is> 1 }")
        await changes(broker, 1)
        children = cities(broker)
        broker.process.kill()
        assert not psutil.wait_procs(children, PATIENCE)[1]
    with serving(tmp_path, "--demo") as broker:
        assert LIGHTS in greeted(broker)
        await changes(broker, 1)


@pytest.mark.server
def test_a_city_that_was_dropped_does_not_come_back(tmp_path: Path) -> None:
    with serving(tmp_path) as broker:
        broker.update(insertion(CITY))
        broker.update(f"DROP GRAPH <{GRAPH}>")
        assert broker.stop() == 0
    with serving(tmp_path, "--demo") as broker:
        assert "demo: none" in greeted(broker)
        assert not cities(broker)
        assert broker.query(FACTS) == []


@pytest.mark.server
@pytest.mark.parametrize("arguments", [(), ("--read-only",), ("--load", "mine.nt", "--memory")])
def test_the_demo_keeps_away_from_data_that_are_not_its_own(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "mine.nt").write_text("<urn:a> <urn:b> <urn:c> .\n")
    if not arguments:
        with serving(tmp_path) as broker:
            broker.update("INSERT DATA { <mine> <is> 1 }")
            assert broker.stop() == 0
    with serving(tmp_path, "--demo", *arguments) as broker:
        assert "demo: none" in greeted(broker)
        assert not cities(broker)
        assert broker.query(FACTS) == []


def test_the_demo_is_off_unless_it_is_asked_for_and_a_flag_beats_the_environment() -> None:
    def demo(*flags: str, **environment: str) -> bool:
        return read_settings(vars(serve.parser().parse_args(flags)), environment).demo

    assert not demo()
    assert demo("--demo")
    assert demo(TIDINGS_DEMO="on")
    assert not demo("--demo", "off", TIDINGS_DEMO="on")


def test_the_town_is_dark_and_empty() -> None:
    states = {o for _, p, o, _ in town(CITY) if p.endswith("#hasStatus>")}
    assert {state.rpartition("#")[2] for state in states} == {"OFF>", "BROKEN>"}
    assert {o for s, p, o, _ in town(CITY) if "#PRESENCE_SENSOR" in s and p.endswith("#hasValue>")} == {'"False"'}
    assert {g for *_, g in town(CITY)} == {f"<{GRAPH}>"}
