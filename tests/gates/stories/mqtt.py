"""The MQTT gate, with mosquitto between it and its clients: who subscribes speaks MQTT 5, who publishes MQTT 3.1.1."""

import asyncio
import json
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from socket import IPPROTO_TCP, TCP_NODELAY, socket
from typing import Any, cast
from uuid import uuid4

from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from gates.client import Message, rows
from gates.stories.driver import BAD_QUERY, Row, Subscription, World
from gates.wire import Broker
from waiting import PATIENCE

sys.path.append(str(Path(__file__).parents[3] / "examples" / "mqtt"))

from servers import HOST, Server, mosquitto

__all__ = ["HOST", "Device", "MqttDriver", "Server", "mosquitto"]

PREFIX = "site/tidings"
FIVE, THREE = MQTTProtocolVersion.MQTTv5, MQTTProtocolVersion.MQTTv311


class Device:
    """A client of the MQTT broker, in a thread of its own; what it hears waits in a queue of the loop."""

    def __init__(self, port: int, version: MQTTProtocolVersion) -> None:
        self._five = version == FIVE
        self._replies = f"replies/{uuid4().hex}"
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[str, asyncio.Future[Message]] = {}
        self._ready = self._loop.create_future()
        self.heard: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue()
        self.client = Client(CallbackAPIVersion.VERSION2, protocol=version)
        self.reading = threading.Event()
        self.reading.set()
        self.client.on_message = self._came
        self.client.on_subscribe = lambda *_: self._soon(self._subscribed)
        self.client.on_connect = self._on_connect
        self.client.reconnect_delay_set(1, 1)
        self.client.on_socket_open = lambda _, __, opened: cast(socket, opened).setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
        self.client.connect_async(HOST, port)
        self.client.loop_start()

    def _on_connect(self, *_: Any) -> None:
        self.client.subscribe(self._replies, 1)

    def _came(self, _: Client, __: Any, message: MQTTMessage) -> None:
        """In its thread, which takes nothing more of the socket until this is over."""
        self.reading.wait(PATIENCE)
        self._soon(self._hear, message)

    def _soon(self, what: Any, *arguments: Any) -> None:
        self._loop.call_soon_threadsafe(what, *arguments)

    def _subscribed(self) -> None:
        if not self._ready.done():
            self._ready.set_result(None)

    async def listen(self, *topics: str) -> None:
        """Until the MQTT broker sends what it has of these topics, and all answers."""
        await asyncio.wait_for(self._ready, PATIENCE)
        for topic in topics:
            self._ready = self._loop.create_future()
            self.client.subscribe(topic, 1)
            await asyncio.wait_for(self._ready, PATIENCE)

    def _hear(self, message: MQTTMessage) -> None:
        if message.topic != self._replies:
            self.heard.put_nowait((message.topic, bytes(message.payload)))
            return
        answer = json.loads(message.payload)
        correlation = getattr(message.properties, "CorrelationData", b"").decode() or alias_of(answer)
        if correlation in self._waiting:
            self._waiting.pop(correlation).set_result(answer)

    async def ask(self, kind: str, **content: Any) -> Message:
        """The answer to a request: by the response topic of MQTT 5, or by a member of the payload."""
        key = uuid4().hex
        self._waiting[key] = answer = self._loop.create_future()
        properties: Any = None
        if self._five:
            properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
            properties.ResponseTopic, properties.CorrelationData = self._replies, key.encode()
        else:
            content |= {"reply": self._replies, "alias": key}
        self.client.publish(f"{PREFIX}/{kind}", json.dumps(content), 1, properties=properties)
        return await asyncio.wait_for(answer, PATIENCE)

    async def close(self) -> None:
        self.client.disconnect()
        await asyncio.to_thread(self.client.loop_stop)


def alias_of(answer: Message) -> str:
    found = answer.get("alias") or next((each.get("alias") for each in answer.values() if isinstance(each, dict)), "")
    return str(found)


@dataclass
class MqttSubscription:
    client: "MqttClient"
    channel: str = ""
    spuid: str = ""
    sequence: int = -1
    answer: Counter[Row] = field(default_factory=Counter)

    def take(self, told: Message) -> None:
        if told.get("resumed") is False:
            self.answer.clear()
        self.spuid, self.sequence = told["spuid"], told["sequence"]
        self.answer -= Counter(rows(told["removedResults"]))
        self.answer += Counter(rows(told["addedResults"]))

    async def hear(self) -> None:
        """The next notification; what was missed is asked for."""
        told = await self.client.next(self)
        if told["sequence"] == self.sequence + 1 or told.get("resumed") is False:
            self.take(told)
        elif told["sequence"] > self.sequence or told.get("resumed"):
            await self.client.resume(self)

    async def end(self) -> None:
        answer = await self.client.subscriber.ask("unsubscribe", spuid=self.spuid)
        assert answer["unsubscribed"]["spuid"] == self.spuid, answer


@dataclass(frozen=True)
class MqttClient:
    subscriber: Device
    publisher: Device
    world: World
    heard: dict[str, list[Message]] = field(default_factory=dict)

    async def publish(self, thing: str, state: str) -> None:
        answer = await self.publisher.ask("update", sparql=self.world.insert(thing, state))
        assert "response" in answer, answer

    async def retract(self, thing: str, state: str) -> None:
        answer = await self.publisher.ask("update", sparql=self.world.delete(thing, state))
        assert "response" in answer, answer

    async def subscribe(self) -> MqttSubscription:
        told = (await self.subscriber.ask("subscribe", sparql=self.world.query))["notification"]
        subscription = MqttSubscription(self, told["spuid"])
        subscription.take(told)
        await self.subscriber.listen(f"{PREFIX}/subscriptions/{told['spuid']}")
        return await self.resume(
            subscription
        )  # something may have changed before the MQTT broker knew where to send it

    async def refusal(self) -> str:
        return str((await self.publisher.ask("query", sparql=BAD_QUERY))["error"])

    async def resume(self, subscription: Subscription) -> MqttSubscription:
        assert isinstance(subscription, MqttSubscription)
        if subscription.client is not self:
            subscription.client = self
            await self.subscriber.listen(f"{PREFIX}/subscriptions/{subscription.channel}")
        seen = {"spuid": subscription.spuid, "sequence": subscription.sequence}
        answer = await self.subscriber.ask("subscribe", sparql=self.world.query, resume=seen)
        assert "notification" in answer, answer
        subscription.take(answer["notification"])
        return subscription

    async def next(self, subscription: MqttSubscription) -> Message:
        """Of one subscription; others may be told meanwhile."""
        while not self.heard.get(subscription.channel):
            topic, payload = await asyncio.wait_for(self.subscriber.heard.get(), PATIENCE)
            content = json.loads(payload)
            if "notification" in content:
                self.heard.setdefault(topic.rpartition("/")[2], []).append(content["notification"])
        return self.heard[subscription.channel].pop(0)

    async def pause(self) -> None:
        self.subscriber.reading.clear()

    async def go_on(self) -> None:
        self.subscriber.reading.set()


class MqttDriver:
    bulk = 50_000
    has_peer = True

    def __init__(self) -> None:
        self.mosquitto: Server

    @asynccontextmanager
    async def around(self) -> AsyncIterator[Sequence[str]]:
        with tempfile.TemporaryDirectory() as folder:
            async with Server(mosquitto, Path(folder)) as self.mosquitto:
                yield "--mqtt", f"mqtt://{HOST}:{self.mosquitto.port}", "--mqtt-prefix", PREFIX

    @asynccontextmanager
    async def client(self, broker: Broker, world: World) -> AsyncIterator[MqttClient]:
        subscriber, publisher = Device(self.mosquitto.port, FIVE), Device(self.mosquitto.port, THREE)
        try:
            await subscriber.listen(f"{PREFIX}/status")
            await publisher.listen()
            while b"online" not in (await asyncio.wait_for(subscriber.heard.get(), PATIENCE))[1]:
                pass
            yield MqttClient(subscriber, publisher, world)
        finally:
            await subscriber.close()
            await publisher.close()

    async def restart_peer(self) -> None:
        await self.mosquitto.restart()
