"""Event negation: an event that does NOT happen within a time is an event as well.

The example of the SPS paper (section II-D): a lamp goes on when its sensor detects a presence, and off when there was
none for Δt. The aggregator sets no timer. When the presence ends it sends an update ahead of its time, whose WHERE
asks whether the sensor has the same value since the same instant: if anything happened meanwhile, it does nothing.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from broker.making import Clock, crashed, in_memory, opened, settled
from tidings.broker.broker import Broker
from tidings.broker.subscriptions.subscriber import Parcel, Session, Subscriber
from tidings.model.results import Row
from waiting import asynchronous

DELTA = 10.0
"""Seconds without a presence after which a lamp goes off."""
SENSOR = "SELECT ?value ?since { <sensor> <value> ?value ; <since> ?since }"
LAMP = "SELECT ?status { <lamp> <status> ?status }"


def sensed(value: bool, instant: int) -> str:
    """What the sensor publishes: its value, and since when it has it."""
    return (
        "DELETE { <sensor> <value> ?v ; <since> ?t } "
        f"INSERT {{ <sensor> <value> {str(value).lower()} ; <since> {instant} }} "
        "WHERE { OPTIONAL { <sensor> <value> ?v ; <since> ?t } }"
    )


def switched(status: str, condition: str = "") -> str:
    """What the aggregator publishes, at once or ahead of its time."""
    return (
        f"DELETE {{ <lamp> <status> ?old }} INSERT {{ <lamp> <status> <{status}> }} "
        f"WHERE {{ <lamp> <status> ?old {condition} }}"
    )


class Actuator:
    """A consumer: does what the lamp's status says, and remembers when."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._begin = clock.micros
        self.seen: list[tuple[float, str]] = []

    def deliver(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None:
        for (status,) in parcel.changes.added():
            assert status is not None
            self.seen.append(((self._clock.micros - self._begin) / 1e6, status.rpartition("/")[2].rstrip(">")))

    def dismiss(self, subscriber: Subscriber, reason: str, code: int) -> None: ...

    def close(self, code: int, reason: str) -> None:
        raise AssertionError(reason)


class SmartLighting:
    """The aggregator: combines what it is told with nothing but updates, some of them delayed."""

    def __init__(self, broker: Broker, clock: Clock) -> None:
        self._broker = broker
        self._clock = clock
        self._tasks: list[asyncio.Task[Any]] = []

    def deliver(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None:
        for value, since in parcel.changes.added():
            if value is not None and value.startswith('"true"'):
                self._broker.submit(switched("on"), None, lambda _: None)
            else:
                condition = f". <sensor> <value> false ; <since> {since}"
                at = self._clock.micros + round(DELTA * 1e6)
                self._tasks.append(
                    asyncio.get_running_loop().create_task(self._broker.delay(switched("off", condition), None, at))
                )

    def dismiss(self, subscriber: Subscriber, reason: str, code: int) -> None: ...

    def close(self, code: int, reason: str) -> None:
        raise AssertionError(reason)

    async def settled(self) -> None:
        while self._tasks:
            await self._tasks.pop()


class Street:
    """A lamp, its sensor, and whoever makes them work together."""

    def __init__(self, broker: Broker, clock: Clock) -> None:
        self.broker = broker
        self.clock = clock
        self.actuator = Actuator(clock)
        self.aggregator = SmartLighting(broker, clock)
        self._follow(broker.connect(self.actuator), LAMP)
        self._follow(broker.connect(self.aggregator), SENSOR)

    def _follow(self, session: Session, text: str) -> None:
        def refused(error: Exception) -> None:
            raise AssertionError(error)

        self.broker.subscribe(session, text, None, None, lambda *_: None, refused)

    async def sense(self, value: bool) -> None:
        await self.broker.update(sensed(value, self.clock.micros))
        await self._settle()

    async def wait(self, seconds: float) -> None:
        self.clock.pass_by(seconds)
        self.broker.run_due()
        await self._settle()

    async def _settle(self) -> None:
        await settled(self.broker)
        await self.aggregator.settled()
        await settled(self.broker)

    def lamp(self) -> Counter[Row]:
        rows = self.broker.engine.subscribe(LAMP, now=self.clock.micros)[1]
        return Counter(rows)


@asynccontextmanager
async def street(clock: Clock) -> AsyncIterator[Street]:
    async with in_memory(clock) as broker:
        await broker.update("INSERT DATA { <lamp> <status> <off> }")
        yield Street(broker, clock)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@asynchronous
async def test_a_lamp_goes_off_when_nobody_was_there_for_a_while(clock: Clock) -> None:
    async with street(clock) as scene:
        await scene.sense(True)
        assert scene.actuator.seen == [(0.0, "on")]
        await scene.wait(3)
        await scene.sense(False)
        await scene.wait(DELTA - 0.001)
        assert scene.actuator.seen == [(0.0, "on")]
        await scene.wait(0.001)
        assert scene.actuator.seen == [(0.0, "on"), (13.0, "off")]
        assert len(scene.broker.schedule) == 0


@asynchronous
async def test_a_presence_in_between_keeps_the_lamp_on(clock: Clock) -> None:
    """Figure 2: the first delayed update does nothing, the second one switches the lamp off."""
    async with street(clock) as scene:
        await scene.sense(True)
        await scene.wait(1)
        await scene.sense(False)  # t1 = 1
        await scene.wait(4)
        await scene.sense(True)
        await scene.wait(2)
        await scene.sense(False)  # t2 = 7
        await scene.wait(4)  # t1 + Δt = 11
        commits = scene.broker.last_commit
        assert scene.actuator.seen == [(0.0, "on")]
        await scene.wait(5.999)
        assert scene.actuator.seen == [(0.0, "on")]
        assert scene.broker.last_commit == commits
        await scene.wait(0.001)  # t2 + Δt = 17
        assert scene.actuator.seen == [(0.0, "on"), (17.0, "off")]


@asynchronous
async def test_a_sensor_that_says_the_same_again_begins_the_time_anew(clock: Clock) -> None:
    async with street(clock) as scene:
        await scene.sense(True)
        await scene.sense(False)
        await scene.wait(6)
        await scene.sense(False)
        await scene.wait(4)
        assert scene.actuator.seen == [(0.0, "on")]
        await scene.wait(6)
        assert scene.actuator.seen == [(0.0, "on"), (16.0, "off")]


@asynchronous
async def test_many_lamps_have_their_own_time(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        lamps = 20
        await broker.update(
            "INSERT DATA { " + " ".join(f"<l{n}> <status> <on> ; <seen> 0 ." for n in range(lamps)) + "}"
        )
        actuator = Actuator(clock)
        session = broker.connect(actuator)
        text = "SELECT ?l { ?l <status> <off> }"
        broker.subscribe(session, text, None, None, lambda *_: None, lambda error: pytest.fail(str(error)))
        for n in range(lamps):
            text = f"DELETE {{ <l{n}> <status> <on> }} INSERT {{ <l{n}> <status> <off> }} WHERE {{ <l{n}> <seen> 0 }}"
            await broker.delay(text, None, clock.micros + (lamps - n) * 1_000_000)
        await broker.update("DELETE DATA { <l3> <seen> 0 }")
        for _ in range(lamps):
            clock.pass_by(1)
            broker.run_due()
            await settled(broker)
        expected = [(float(lamps - n), f"l{n}") for n in reversed(range(lamps)) if n != 3]
        assert actuator.seen == expected


@asynchronous
async def test_what_did_not_happen_is_noticed_although_the_broker_was_down(clock: Clock, tmp_path: Path) -> None:
    async with opened(clock, tmp_path / "a") as broker:
        await broker.update("INSERT DATA { <lamp> <status> <on> . <sensor> <value> false ; <since> 0 }")
        condition = ". <sensor> <value> false ; <since> 0"
        await broker.delay(switched("off", condition), None, clock.micros + 5_000_000)
        copy = crashed(tmp_path / "a", tmp_path / "b")
    clock.pass_by(60)
    async with opened(clock, copy) as second:
        await settled(second)
        (row,) = second.engine.subscribe(LAMP, now=clock.micros)[1]
        assert row == ("<http://example.org/off>",)
