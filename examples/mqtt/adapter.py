"""The MQTT Adapter: turns topics and payloads, which have no semantics by themselves, into observations.

    #  (MQTT)  ─┐
                ├─ the observations of the topic, the number in the payload ─> UPDATE_VALUE
    TOPICS     ─┘

No message is fatal: the adapter counts topics without a mapping and payloads without a number. Both brokers may
restart: values wait in a queue for the broker, and the adapter connects to the MQTT broker again.
"""

import asyncio
from collections import deque
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from types import TracebackType

import aiomqtt
import regex  # type: ignore[import-untyped]
from mqtt_client import end, mqtt_connected
from patience import Patient

from tidings.client import Application, Change, Refused

MOST_WAITING = 10_000
"""The most values that wait for the broker; when there are more, the oldest is dropped."""
LONGEST_PAYLOAD = 65_536
_LARGEST_EXPONENT = 30
_SEARCH_SECONDS = 0.1  # patterns are data from others, and the search for some takes very long
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0


@dataclass(slots=True)
class Counters:
    """Counts messages and values. A message may have several values."""

    messages: int = 0
    published: int = 0
    unchanged: int = 0
    """Published values that were the same as before, and so caused no notification."""
    unknown: int = 0
    malformed: int = 0
    dropped: int = 0
    refused: int = 0
    bad_patterns: int = 0
    connections: int = 0
    """Connections to the MQTT broker: one, and one more after each restart."""
    complaints: deque[str] = field(default_factory=lambda: deque(maxlen=5))
    """The last few different errors, as texts."""


@dataclass(frozen=True, slots=True)
class Mapping:
    observation: str
    pattern: regex.Pattern[str]


class Adapter:
    """An async context manager, within that of its application. It is subscribed to both brokers within the context."""

    def __init__(self, app: Application) -> None:
        self._mqtt = app.profile.extended["mqtt"]
        self._update = Patient(app, app.profile.update("UPDATE_VALUE"))
        self._known = app.consumer("TOPICS")(self._topics_changed)
        self._mappings: dict[str, list[Mapping]] = {}
        self._values: asyncio.Queue[tuple[str, Decimal]] = asyncio.Queue(MOST_WAITING)
        self._tasks: list[asyncio.Task[None]] = []
        self.counters = Counters()

    async def __aenter__(self) -> "Adapter":
        self._tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._publish())]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await end(*self._tasks)

    @property
    def topics(self) -> frozenset[str]:
        """The topics with a mapping."""
        return frozenset(self._mappings)

    @property
    def waiting(self) -> int:
        """How many values wait for the broker."""
        return self._values.qsize()

    # -- mappings -----------------------------------------------------------------------------------------------

    def _topics_changed(self, _: Change) -> None:
        self._mappings = {}
        self.counters.bad_patterns = 0
        for row in self._known.rows:
            try:
                mapping = Mapping(str(row["observation"]), regex.compile(str(row["pattern"]), regex.MULTILINE))
            except regex.error as error:
                self.counters.bad_patterns += 1
                self._complain(f"{row['observation']}: not a pattern: {error}")
            else:
                self._mappings.setdefault(str(row["topic"]), []).append(mapping)

    # -- values -------------------------------------------------------------------------------------------------

    async def _listen(self) -> None:
        pause = _FIRST_PAUSE
        while True:
            try:
                async with mqtt_connected(self._mqtt["host"], self._mqtt["port"]) as client:
                    for topic in self._mqtt["topics"]:
                        await client.subscribe(topic, qos=1)
                    self.counters.connections += 1
                    pause = _FIRST_PAUSE
                    async for message in client.messages:
                        self.take(str(message.topic), bytes(message.payload))
            except aiomqtt.MqttError:
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    def take(self, topic: str, payload: bytes) -> None:
        """Process a message."""
        self.counters.messages += 1
        mappings = self._mappings.get(topic)
        if mappings is None:
            self.counters.unknown += 1
            self._complain(f"{topic}: no observation has this topic")
            return
        for mapping in mappings:
            value = extract(mapping.pattern, payload)
            if value is None:
                self.counters.malformed += 1
                self._complain(f"{topic}: no value in {payload[:40]!r}")
            else:
                self._put(mapping.observation, value)

    def _put(self, observation: str, value: Decimal) -> None:
        if self._values.full():
            self._values.get_nowait()
            self.counters.dropped += 1
        self._values.put_nowait((observation, value))

    async def _publish(self) -> None:
        while True:
            observation, value = await self._values.get()
            try:
                done = await self._update(observation=observation, value=value)
            except Refused as error:
                self.counters.refused += 1
                self._complain(f"{observation}: {error}")
            else:
                self.counters.published += 1
                self.counters.unchanged += done is not None and not done.added

    def _complain(self, what: str) -> None:
        if what not in self.counters.complaints:
            self.counters.complaints.append(what)


def extract(pattern: regex.Pattern[str], payload: bytes) -> Decimal | None:
    """The number that a pattern matches, with its first group or as a whole; a decimal comma is allowed. None if there
    is none."""
    if len(payload) > LONGEST_PAYLOAD:
        return None
    try:
        found = pattern.search(payload.decode(), timeout=_SEARCH_SECONDS)
        if found is None:
            return None
        value = Decimal((found[1 if pattern.groups else 0] or "").replace(",", "."))
    except (UnicodeDecodeError, TimeoutError, InvalidOperation):
        return None
    sensible = value.is_finite() and abs(value.adjusted()) <= _LARGEST_EXPONENT and len(value.as_tuple().digits) <= 60
    return value if sensible else None
