"""The monitor of the examples: real MQTT payloads become observations, and time-stamped ones in a second store."""

import asyncio
import json
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import psutil
import pytest
import regex  # type: ignore[import-untyped]
from paho.mqtt import publish

from client import listings
from spark.killing import quickly
from tidings.client import Application, Consumer, Endpoint, load
from tidings.spark.lake.lake import Lake
from waiting import PATIENCE, WHOLE, asynchronous, until

EXAMPLE = Path(__file__).parents[2] / "examples" / "mqtt"
sys.path.append(str(EXAMPLE))

from adapter import LONGEST_PAYLOAD, Adapter, extract  # noqa: E402
from servers import HOST, PROFILE, Server, profile_for, serving  # noqa: E402
from simulator import readings  # noqa: E402
from storing import storing_service  # noqa: E402
from topics import TopicsManager, mappings  # noqa: E402

pytestmark = pytest.mark.server

MONITOR = "http://mml.arces.unibo.it/monitor#"
ROOM = "pepoli/6lowpan/network/NODO1/Temperature"
ROOM_OBSERVATION = f"{MONITOR}Pepoli-6lowpan-Nodo1-Temperature"
DISK = "servers/mml/disk/sda"
STORED = """
PREFIX sosa: <http://www.w3.org/ns/sosa/> PREFIX time: <http://www.w3.org/2006/time#>
PREFIX qudt: <http://qudt.org/1.1/schema/qudt#>
SELECT ?observation ?value ?unit ?stamp (DATATYPE(?stamp) AS ?type) WHERE {
  ?observation a sosa:Observation ; sosa:hasResult ?quantity .
  ?quantity a qudt:QuantityValue ; qudt:unit ?unit ; qudt:numericValue ?value ; time:hasTime ?instant .
  ?instant a time:Instant ; time:inXSDDateTimeStamp ?stamp }
"""


@dataclass
class Monitor:
    """The example at work, without its simulator."""

    mqtt: Server
    broker: Server
    store: Server
    app: Application
    adapter: Adapter
    manager: TopicsManager
    observed: Consumer

    async def publish(self, *messages: tuple[str, bytes]) -> None:
        """In a thread: a client on this loop has it watch its socket once more after it was closed, and by then the
        number of the socket may be that of another one."""
        with_qos: publish.MessagesList = [(topic, payload, 1, False) for topic, payload in messages]
        await asyncio.to_thread(publish.multiple, with_qos, HOST, self.mqtt.port)

    @property
    def values(self) -> dict[str, str]:
        """What the broker says of observations."""
        return {str(row["observation"]).removeprefix(MONITOR): str(row["value"]) for row in self.observed.rows}

    async def stored(self, observation: str = ROOM_OBSERVATION) -> list[str]:
        """The values that the store has of an observation, as they came."""
        async with Endpoint(f"http://{HOST}:{self.store.port}/query") as endpoint:
            rows = [row for row in await endpoint.query(STORED) if row["observation"] == observation]
        return [str(row["value"]) for row in sorted(rows, key=lambda row: str(row["stamp"]))]

    async def has_stored(self, *values: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while not set(values) <= set(await self.stored()):
                await asyncio.sleep(0.02)


@asynccontextmanager
async def monitoring(folder: Path) -> AsyncIterator[Monitor]:
    async with serving(folder) as (mqtt, broker, store):
        app = Application(load(profile_for(mqtt, broker, store)))
        adapter, manager = Adapter(app), TopicsManager(app)
        observed = app.consumer("OBSERVATIONS_VALUES")(lambda _: None)
        storing_service(app)
        async with app, adapter:
            await manager.start()
            await until(lambda: adapter.counters.connections == 1 and len(adapter.topics) == 6)
            yield Monitor(mqtt, broker, store, app, adapter, manager, observed)


# -- the profile ------------------------------------------------------------------------------------------------


def test_the_profile_has_what_the_paper_prints() -> None:
    ours, printed = json.loads(PROFILE.read_text()), json.loads(listings.MQTT)
    assert ours["namespaces"] == printed["namespaces"]
    assert ours["updates"].keys() == printed["updates"].keys()
    assert ours["queries"].keys() == printed["queries"].keys()
    assert ours["updates"]["UPDATE_VALUE"] == printed["updates"]["UPDATE_VALUE"]
    values = "OBSERVATIONS_VALUES"
    assert ours["queries"][values]["sparql"] == printed["queries"][values]["sparql"].strip()


# -- values -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "payload", "value"),
    [
        (r"[-+]?\d+(?:[.,]\d+)?", b"21.50", "21.50"),
        (r"[-+]?\d+(?:[.,]\d+)?", b"about -3,5 degrees", "-3.5"),
        (r"temp=(\S+)", b"node=12;temp=1e3", "1E+3"),
        (r"^Core 0:\s*(\S+)°C", "ISA\nCore 0:  +48.0°C".encode(), "48.0"),
    ],
)
def test_a_number_is_found_in_a_payload(pattern: str, payload: bytes, value: str) -> None:
    assert extract(regex.compile(pattern, regex.MULTILINE), payload) == Decimal(value)


@pytest.mark.parametrize(
    ("pattern", "payload"),
    [
        (r"\d+", b"no number"),
        (r"\d+", b""),
        (r"\d+", b"\xff\xfe1"),
        (r"\d+", b" " * LONGEST_PAYLOAD + b"1"),
        (r".+", b"NaN"),
        (r".+", b"Infinity"),
        (r".+", b"1e999999999"),
        (r".+", b"9" * 100),
        (r"a(\d)?", b"a"),
        (r"(x+x+)+y", b"x" * 60),
    ],
)
def test_what_is_no_number_is_no_value(pattern: str, payload: bytes) -> None:
    assert extract(regex.compile(pattern), payload) is None


@pytest.mark.parametrize("seed", range(20))
def test_the_patterns_of_the_profile_find_all_values_of_the_simulator(seed: int) -> None:
    profile = load(PROFILE)
    default = profile.update("ADD_OBSERVATION").bindings["pattern"].default
    assert default is not None
    known = list(mappings(profile))
    messages = dict(reversed(list(readings(random.Random(seed)))))  # the nonsense comes last, and is overwritten
    assert {topic for topic, _ in known} == messages.keys() - {"office/coffee"}
    for topic, mapping in known:
        pattern = regex.compile(mapping.get("pattern", json.loads(default)), regex.MULTILINE)
        assert extract(pattern, messages[topic]) is not None, (topic, messages[topic])


# -- the whole --------------------------------------------------------------------------------------------------


@asynchronous
async def test_payloads_become_observations_and_are_stored_with_their_time(tmp_path: Path) -> None:
    async with monitoring(tmp_path) as monitor:
        await monitor.publish(
            (ROOM, b"21.5"),
            ("pepoli/6lowpan/network/NODO1/Humidity", b" 45 %"),
            ("ground/dash7/node/12", b"node=12;bat=3.61;moisture=31.2;temp=-4,75"),
            ("lora/up/0004A30B001C0530", b'{"port": 2, "rssi": -97, "payload": {"temperature": 9.25}}'),
            ("servers/mml/cpu/0", "Adapter: ISA\nCore 0:  +48.0°C  (high = +80.0°C)".encode()),
            (DISK, "/dev/sda: WDC WD10EZEX-08WN4A0: 37°C".encode()),
        )
        await until(
            lambda: (
                monitor.values
                == {
                    "Pepoli-6lowpan-Nodo1-Temperature": "21.5",
                    "Pepoli-6lowpan-Nodo1-Humidity": "45",
                    "Ground-dash7-Node12-Moisture": "31.2",
                    "Ground-dash7-Node12-Temperature": "-4.75",
                    "Roof-lora-Temperature": "9.25",
                    "Server-mml-Cpu0-Temperature": "48",
                    "Server-mml-Sda-Temperature": "37",
                }
            )
        )
        for value in (b"21.75", b"21.75", b"22"):
            await monitor.publish((ROOM, value))
        await monitor.has_stored("21.5", "21.75", "22")
        assert await monitor.stored() == ["21.5", "21.75", "22"]  # the same value once more is no event
        counters = monitor.adapter.counters
        await until(lambda: (counters.messages, counters.published, counters.unchanged) == (9, 10, 1))
        assert (counters.malformed, counters.unknown, counters.dropped, counters.refused) == (0, 0, 0, 0)
        async with Endpoint(f"http://{HOST}:{monitor.store.port}/query") as endpoint:
            rows = list(await endpoint.query(STORED))
        assert {row["type"] for row in rows} == {"http://www.w3.org/2001/XMLSchema#dateTimeStamp"}
        assert all(row["stamp"].endswith("Z") for row in rows)
        async with Endpoint(f"http://{HOST}:{monitor.broker.port}/query") as endpoint:
            assert len(await endpoint.query(STORED)) == 0  # the times are in the other store only


@asynchronous
async def test_malformed_payloads_and_unknown_topics_are_counted_and_never_fatal(tmp_path: Path) -> None:
    async with monitoring(tmp_path) as monitor:
        nonsense = (b"drive is sleeping", b"", b"\xff\xfe\x00", b"NaN", b": 1e999 \xc2\xb0C", b"[1, 2")
        await monitor.publish(*((DISK, payload) for payload in nonsense), ("office/coffee", b"7"), ('a b/<>"', b"1"))
        await monitor.publish(("ground/dash7/node/12", b"moisture=30"))  # one of its two values is missing
        await monitor.publish((ROOM, b"20"))
        await until(lambda: len(monitor.values) == 2)
        counters = monitor.adapter.counters
        assert (counters.messages, counters.malformed, counters.unknown) == (10, 7, 2)
        await until(lambda: counters.published == 2)
        assert any("office/coffee" in complaint for complaint in counters.complaints)


@asynchronous
async def test_mappings_can_be_added_while_the_adapter_works(tmp_path: Path) -> None:
    async with monitoring(tmp_path) as monitor:
        await monitor.publish(("attic/t", b"t:7"))
        await until(lambda: monitor.adapter.counters.unknown == 1)
        attic = {
            "observation": "arces-monitor:Attic",
            "unit": "qudt-unit-1-1:DegreeCelsius",
            "location": "arces-monitor:Roof",
            "comment": "in the attic",
            "label": "Attic temperature",
        }
        await monitor.manager.add("attic/t", attic)
        await until(lambda: "attic/t" in monitor.adapter.topics)
        await monitor.publish(("attic/t", b"t:8"))
        await until(lambda: monitor.values.get("Attic") == "8")
        await monitor.manager.add("attic/t", {**attic, "pattern": "(unbalanced"})
        await until(lambda: monitor.adapter.counters.bad_patterns == 1)
        await monitor.manager.add("attic/u", {**attic, "pattern": r"u:(\d+)"})
        await until(lambda: "attic/u" in monitor.adapter.topics)
        await monitor.publish(("attic/t", b"t:9"), ("attic/u", b"t:1 u:2"))
        await until(lambda: monitor.values.get("Attic") == "2")
        assert monitor.adapter.counters.bad_patterns == 0


# -- servers that go away ---------------------------------------------------------------------------------------


@asynchronous
async def test_the_adapter_survives_a_restart_of_the_mqtt_broker(tmp_path: Path) -> None:
    async with monitoring(tmp_path) as monitor:
        await monitor.publish((ROOM, b"20"))
        await monitor.has_stored("20")
        for number, how in enumerate((signal.SIGTERM, signal.SIGKILL), start=2):
            await monitor.mqtt.restart(how)
            await until(lambda: monitor.adapter.counters.connections == number)  # noqa: B023
            await monitor.publish((ROOM, str(20 + number).encode()))
            await monitor.has_stored(str(20 + number))
        assert await monitor.stored() == ["20", "22", "23"]


@asynchronous
async def test_the_adapter_survives_a_broker_that_is_killed_and_values_wait_for_it(tmp_path: Path) -> None:
    async with monitoring(tmp_path) as monitor:
        await monitor.publish((ROOM, b"20"))
        await monitor.has_stored("20")
        await until(lambda: monitor.adapter.counters.published == 1)  # or its answer dies with the broker
        await monitor.broker.stop(signal.SIGKILL)
        await monitor.publish((ROOM, b"21"), (DISK, "sda: 37°C".encode()), (ROOM, b"22"))
        await until(lambda: monitor.adapter.counters.messages == 4)
        await until(lambda: monitor.adapter.waiting == 2)  # and one is being tried
        await monitor.broker.start()
        await until(lambda: monitor.values.get("Server-mml-Sda-Temperature") == "37")
        await until(lambda: monitor.values.get("Pepoli-6lowpan-Nodo1-Temperature") == "22")
        await monitor.has_stored("20", "22")
        await monitor.publish((ROOM, b"23"))
        await monitor.has_stored("23")
        counters = monitor.adapter.counters
        await until(lambda: counters.published == 5)
        assert (counters.dropped, counters.connections) == (0, 1)
        assert len(monitor.adapter.topics) == 6


@asynchronous
async def test_the_storing_service_waits_for_its_store(tmp_path: Path) -> None:
    async with monitoring(tmp_path) as monitor:
        await monitor.publish((ROOM, b"20"))
        await monitor.has_stored("20")
        await monitor.store.stop(signal.SIGKILL)
        await monitor.publish(*((ROOM, str(value).encode()) for value in range(21, 26)))
        await until(lambda: monitor.values.get("Pepoli-6lowpan-Nodo1-Temperature") == "25")
        await monitor.store.start()
        await monitor.has_stored("25")
        assert await monitor.stored() == [str(value) for value in range(20, 26)]


# -- the program ------------------------------------------------------------------------------------------------


@contextmanager
def running(*options: str) -> Iterator[subprocess.Popen[str]]:
    """The program; it and its servers are ended if it has not done so itself."""
    command = [sys.executable, str(EXAMPLE / "run.py"), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                program = psutil.Process(process.pid)
                for left in (*program.children(recursive=True), program):
                    left.kill()


def stored(*options: str) -> int:
    """How many values the store has after a run of the program that has told of all that there is."""
    with running("--seconds", str(PATIENCE), "--values", "12", *options) as process:
        said, complaints = process.communicate(timeout=WHOLE)
    assert (process.returncode, complaints) == (0, "")
    for words in ("Server room temperature", "Soil moisture", "Roof temperature", "unknown", "malformed"):
        assert words in said
    count, _, _ = said.partition(" time-stamped values in the store")
    return int(count.split()[-1])


def test_one_command_runs_it_all_while_its_servers_are_started_again() -> None:
    assert stored("--restarts") > 0


@pytest.mark.spark
def test_one_command_runs_it_all_and_keeps_the_history_of_its_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in quickly().items():
        monkeypatch.setenv(name, value)
    count = stored("--lake", str(tmp_path / "lake"))
    assert Lake(tmp_path / "lake").end().commit == count > 0  # each in a commit of its own
    with running("--seconds", "1", "--lake", str(tmp_path / "lake")) as process:
        _, complaints = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert "is there already" in complaints


def test_it_stops_its_servers_when_it_is_told_to_end() -> None:
    with running("--seconds", "600") as process:
        assert process.stdout is not None
        assert "mappings" in process.stdout.readline()
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)
        _, complaints = process.communicate(timeout=PATIENCE)
    assert (process.returncode, complaints) == (0, "")
    assert len(children) == 3
    assert not any(child.is_running() for child in children)
