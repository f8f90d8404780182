"""The MQTT gate: subscribes and publishes at the site's MQTT broker whenever that is connected."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import orjson
from msgspec import Struct
from starlette.routing import BaseRoute

from tidings import __version__
from tidings.broker.subscriptions.subscriber import Origin, Parcel, Subscriber
from tidings.gates.asking import Shown
from tidings.gates.caller import Caller
from tidings.gates.figures import Figure
from tidings.gates.gate import Counts
from tidings.gates.mqtt.channels import Channels
from tidings.gates.mqtt.conversation import Conversation
from tidings.gates.mqtt.line import Line
from tidings.gates.mqtt.link import Address, Link
from tidings.gates.mqtt.mapping import Mapped
from tidings.gates.mqtt.messages import Message, Publication
from tidings.gates.mqtt.mirror import Mirror
from tidings.gates.mqtt.subscriptions import Subscriptions
from tidings.gates.mqtt.topics import matches
from tidings.gates.premises import Premises
from tidings.model.errors import TidingsError

PAUSE = 1.0
"""Seconds between two looks at what has to be done."""
LOOK = 5.0
"""Seconds that the MQTT broker gets to send what it has retained."""

log = logging.getLogger("tidings")


class MqttSettings(Struct, frozen=True):
    """`shown` is who the gate is to the broker, for all its clients."""

    address: Address
    prefix: str = "tidings"
    shown: Shown = None
    lease: float = 86_400.0


class MqttGate:
    """For one MQTT broker."""

    name = "mqtt"

    def __init__(self, premises: Premises, settings: MqttSettings, mapped: Mapped) -> None:
        self._premises = premises
        self._settings = settings
        self._mapped = mapped
        self.counts = Counts()
        self._channels = Channels(premises.broker.facts)
        premises.broker.facts.keep(Channels.KINDS, self._channels)
        self._connected = False
        self._told: set[str] = set()
        """Why the MQTT broker was not there, as far as the log has it since it last was."""
        self._size = 0
        """Bytes that were handed over and not taken."""
        self._link: Link
        self._line: Line
        self._subscriptions: Subscriptions
        self._mirrors: list[Mirroring] = []
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def address(self) -> str:
        address = self._settings.address
        return f"mqtt{'s' if address.tls else ''}://{address.host}:{address.port}/{self._settings.prefix}"

    @property
    def clients(self) -> int:
        return len(self._channels)

    def figures(self) -> Iterable[Figure]:
        yield Figure("mqtt_connected", "1 while the MQTT broker is there and sends what it gets", int(self._connected))
        yield Figure("mqtt_waiting", "Messages that the MQTT broker has not taken yet", self._link.waiting)
        yield Figure("mqtt_in_work", "Messages from it that are not done yet", len(self._line))
        dropped = self._line.dropped + self._link.dropped
        yield Figure("mqtt_dropped", "Messages dropped because there were too many", dropped, grows=True)
        rows = sum(len(each.mirror) for each in self._mirrors)
        yield Figure("mqtt_topics", "Topics that show a row of an answer", rows)

    def routes(self) -> Sequence[BaseRoute]:
        return ()

    def paths(self) -> Mapping[str, Any]:
        return {}

    # -- its life -------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        self._build()
        self._link.start()
        self._spawn(self._begin())
        try:
            yield
        finally:
            self._say("offline")
            self._connected = False
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await asyncio.to_thread(self._link.stop)
            self._subscriptions.caller.leave()
            for each in self._mirrors:
                each.caller.leave()

    def _build(self) -> None:
        settings, premises = self._settings, self._premises
        topic, prefix = f"{settings.prefix}/subscriptions/", settings.prefix
        self._link = Link(settings.address, self, Publication(f"{prefix}/status", _status("offline"), retain=True))
        self._subscriptions = Subscriptions(
            premises, self.counts, self._channels, self._send,
            topic=topic, shown=settings.shown, lease=settings.lease,
        )  # fmt: skip
        self._conversation = Conversation(
            premises, self._subscriptions, self._mapped, self._send, self._spawn, prefix=prefix
        )
        self._line = Line(self._conversation.serve, self._link.acknowledge, asyncio.get_running_loop().call_later)
        self._mirrors = [
            Mirroring(premises, self.counts, Mirror(each, self._send), settings.shown) for each in self._mapped.answers
        ]
        self._looking = tuple(each.filter for each in self._mapped.answers if each.retain)

    async def _begin(self) -> None:
        """Go on with all subscriptions, and then see to what has to be done now and then."""
        await self._subscriptions.take_up(self._channels)
        for each in self._mirrors:
            await each.begin()
        while True:
            await asyncio.sleep(PAUSE)
            try:
                if self._subscriptions.lost.is_set():
                    await self._subscriptions.reopen()
                    self._fill_or_drain()
                for each in self._mirrors:
                    if each.lost:
                        await each.begin()
                await self._subscriptions.end_expired()
            except TidingsError as error:
                log.warning("the MQTT gate tries again: %s", error)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("internal error in the MQTT gate", exc_info=error)

    # -- for the link -----------------------------------------------------------------------------------------------

    def connected(self) -> None:
        self._line.forget()
        self._link.subscribe(self._conversation.filters)
        for each in self._mirrors:
            each.mirror.again()
        self._link.look_at(self._looking)
        asyncio.get_running_loop().call_later(LOOK, self._link.look_away, self._looking)

    def listening(self, refused: Sequence[str]) -> None:
        """The MQTT broker has accepted our subscriptions: from here on, clients may send requests."""
        self._connected = True
        self._told.clear()
        self._say("online")
        log.info("the MQTT gate is connected to %s", self.address)
        if refused:
            log.warning("the MQTT broker refuses the MQTT gate these topics: %s", ", ".join(refused))

    def lost(self, reason: str) -> None:
        """Every attempt comes here; the log has each reason once."""
        if reason not in self._told:
            self._told.add(reason)
            log.warning("the MQTT gate: %s", reason)
        self._connected = False

    def hear(self, message: Message) -> None:
        if any(matches(each, message.topic) for each in self._looking):
            if message.retained and message.payload:
                for each in self._mirrors:
                    each.mirror.found(message.topic)
            if message.token:
                self._link.acknowledge(message.token)
            return
        self._line.put(message)

    def taken(self, size: int) -> None:
        self._size -= size
        self._fill_or_drain()

    # -- what goes out ----------------------------------------------------------------------------------------------

    def _send(self, publication: Publication) -> None:
        if self._link.publish(publication):
            self._size += len(publication.payload) + len(publication.topic)
            self._fill_or_drain()

    def _fill_or_drain(self) -> None:
        """While the MQTT broker does not take what it is sent, changes are added up, and told as one."""
        most = self._premises.high_water
        callers = (self._subscriptions.caller, *(each.caller for each in self._mirrors))
        if self._size > most:
            for caller in callers:
                caller.filled()
        elif self._size <= most // 2:
            for caller in callers:
                caller.drained()

    def _say(self, status: str) -> None:
        self._link.publish(Publication(f"{self._settings.prefix}/status", _status(status), retain=True))


class Mirroring:
    """The subscription behind a mirror; a session of its own."""

    def __init__(self, premises: Premises, counts: Counts, mirror: Mirror, shown: Shown) -> None:
        self.mirror = mirror
        self.lost = False
        self._counts = counts
        self._new: Callable[[], Caller] = lambda: Caller(
            premises, self, counts, shown=shown, where="mqtt", origin=Origin("mqtt")
        )
        self.caller = self._new()

    async def begin(self) -> None:
        """Publish the whole answer, and then its changes. If the broker refuses, do not raise, but try again later."""
        if self.lost:
            self.caller.leave()
            self.caller = self._new()
        answer = self.mirror.answer
        self.lost = False
        try:
            await self.caller.subscribe(answer.text, answer.dataset, lambda _, first, __: self.mirror.begin(first))
        except TidingsError as error:
            log.warning("the answer to %s cannot be shown over MQTT: %s", answer.query, error)
            self.lost = True

    def deliver(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None:
        self._counts.notifications += 1
        self.mirror.change(parcel)

    def dismiss(self, subscriber: Subscriber, reason: str, code: int) -> None:
        self.lost = True

    def close(self, code: int, reason: str) -> None:
        self.lost = True


def _status(word: str) -> bytes:
    return orjson.dumps({"status": word, "version": __version__})
