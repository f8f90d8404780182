"""The connection to the MQTT broker: paho, in a thread of its own, which connects again whenever it has to.

paho's thread owns the socket; the loop never watches it, so no descriptor that paho has closed is ever watched by
mistake (docs/decisions/0033-mqtt-in-a-thread.md). What happens in the thread becomes a call on the loop.
"""

import asyncio
import logging
import socket
import ssl
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from msgspec import Struct
from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from tidings.gates.mqtt.messages import Message, Publication

RECEIVE = 256
"""Messages that the MQTT broker sends before it has the acknowledgement of one (MQTT 5)."""
IN_FLIGHT = 256
MOST_OUT = 20_000
"""Messages that wait to be taken by the MQTT broker; identifiers of messages have 16 bits."""
MOST_EVENTS = 20_000
KEEP_ALIVE = 30
LONGEST_PAUSE = 10

log = logging.getLogger("tidings")


class Address(Struct, frozen=True):
    """Where the MQTT broker is, and how it is spoken to."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None
    version: str = "5"
    client: str = "tidings"
    username: str | None = None
    password: str | None = None
    session: int = 86_400
    """Seconds that the MQTT broker keeps what comes while we are away."""


class Listener(Protocol):
    """Gets the events of the link, on the event loop."""

    def connected(self) -> None: ...
    def listening(self, refused: Sequence[str]) -> None:
        """The MQTT broker has accepted all subscriptions except these filters."""

    def lost(self, reason: str) -> None: ...
    def hear(self, message: Message) -> None: ...
    def taken(self, size: int) -> None:
        """The MQTT broker has taken a message of this size."""


class Link:
    """The connection, used from the thread of the event loop, between `start` and `stop`. The MQTT broker publishes
    `will` if the connection breaks without a DISCONNECT."""

    def __init__(self, address: Address, listener: Listener, will: Publication) -> None:
        self._address = address
        self._listener = listener
        self._will = will
        self._five = address.version == "5"
        self._loop = asyncio.get_running_loop()
        self._events: deque[Callable[[], None]] = deque()
        self._sizes: dict[int, int] = {}
        """Of the messages that were handed over and not taken, by identifier."""
        self._epoch = 0
        """Which connection it is; identifiers of messages are of one connection."""
        self._asked: tuple[int | None, tuple[str, ...]] = (None, ())
        """The identifier of the last subscription, and its filters."""
        self.dropped = 0
        self._client = self._made()

    def _made(self) -> Client:
        address = self._address
        client = Client(
            CallbackAPIVersion.VERSION2,
            client_id=address.client,
            clean_session=None if self._five else False,
            protocol=MQTTProtocolVersion.MQTTv5 if self._five else MQTTProtocolVersion.MQTTv311,
            manual_ack=True,
        )
        client.max_inflight_messages_set(IN_FLIGHT)
        client.max_queued_messages_set(MOST_OUT)
        client.reconnect_delay_set(1, LONGEST_PAUSE)
        if address.tls is not None:
            client.tls_set_context(address.tls)
        if address.username is not None:
            client.username_pw_set(address.username, address.password)
        client.will_set(self._will.topic, self._will.payload, self._will.qos, self._will.retain)
        client.on_connect, client.on_disconnect = self._on_connect, self._on_disconnect
        client.on_message, client.on_publish = self._on_message, self._on_publish
        client.on_connect_fail, client.on_subscribe = self._on_connect_fail, self._on_subscribe
        client.on_socket_open = _hurry
        return client

    # -- for the gate, on the loop --------------------------------------------------------------------------------

    def start(self) -> None:
        address, properties = self._address, None
        if self._five:
            properties = _properties(PacketTypes.CONNECT)
            properties.SessionExpiryInterval = address.session
            properties.ReceiveMaximum = RECEIVE
        options: dict[str, Any] = {"clean_start": False, "properties": properties} if self._five else {}
        self._client.connect_async(address.host, address.port, KEEP_ALIVE, **options)
        self._client.loop_start()

    def stop(self) -> None:
        """Say goodbye, and wait for the thread; to be called from another thread than the loop's."""
        self._client.on_disconnect = None  # whoever leaves knows
        self._client.disconnect()
        self._client.loop_stop()

    @property
    def waiting(self) -> int:
        """Messages that were handed over and not taken."""
        return len(self._sizes)

    def publish(self, publication: Publication) -> bool:
        """Hand a message over; whether there was room for it."""
        properties = None
        if self._five and publication.correlation is not None:
            properties = _properties(PacketTypes.PUBLISH)
            properties.CorrelationData = publication.correlation
        size = len(publication.payload) + len(publication.topic)
        done = self._client.publish(
            publication.topic, publication.payload, publication.qos, publication.retain, properties
        )
        if done.rc == MQTTErrorCode.MQTT_ERR_QUEUE_SIZE:
            self.dropped += 1
            return False
        if publication.qos:
            self._sizes[done.mid] = size
            return True
        return False

    def acknowledge(self, token: int) -> None:
        epoch, mid = divmod(token, 1 << 16)
        if epoch == self._epoch:
            self._client.ack(mid, 1)

    def subscribe(self, filters: Sequence[str]) -> None:
        """With QoS 1. What was retained comes once, unless the session had the subscription before."""
        options = SubscribeOptions(qos=1, noLocal=True, retainHandling=1)
        wanted: Any = [(each, options if self._five else 1) for each in filters]
        self._asked = self._client.subscribe(wanted)[1], tuple(filters)

    def look_at(self, filters: Iterable[str]) -> None:
        """Have everything sent that is retained, whatever was sent before."""
        options = SubscribeOptions(qos=1, noLocal=True, retainHandling=0)
        wanted: Any = [(each, options if self._five else 1) for each in filters]
        if wanted:
            self._client.subscribe(wanted)

    def look_away(self, filters: Iterable[str]) -> None:
        for each in filters:
            self._client.unsubscribe(each)

    # -- for paho, in its thread ----------------------------------------------------------------------------------

    def _on_connect(self, _: Client, __: Any, flags: ConnectFlags, reason: ReasonCode, ___: Properties | None) -> None:
        if reason.is_failure:
            self._tell(lambda: self._listener.lost(f"the MQTT broker refuses: {reason}"))
        else:
            self._epoch += 1
            self._tell(self._listener.connected)

    def _on_connect_fail(self, _: Client, __: Any) -> None:
        self._tell(lambda: self._listener.lost("the MQTT broker is not there"))

    def _on_subscribe(self, _: Client, __: Any, mid: int, granted: list[ReasonCode], ___: Properties | None) -> None:
        self._tell(lambda: self._granted(mid, granted))

    def _granted(self, mid: int, granted: list[ReasonCode]) -> None:
        asked, filters = self._asked
        if mid == asked:
            refused = [each for each, reason in zip(filters, granted, strict=True) if reason.is_failure]
            self._listener.listening(refused)

    def _on_disconnect(
        self, _: Client, __: Any, flags: DisconnectFlags, reason: ReasonCode, ___: Properties | None
    ) -> None:
        self._tell(lambda: self._listener.lost(f"the connection to the MQTT broker is over: {reason}"))

    def _on_message(self, _: Client, __: Any, came: MQTTMessage) -> None:
        if not came.qos and len(self._events) > MOST_EVENTS:
            self.dropped += 1
            return
        properties = came.properties
        message = Message(
            came.topic,
            bytes(came.payload),
            getattr(properties, "ResponseTopic", None),
            getattr(properties, "CorrelationData", None),
            (self._epoch << 16) + came.mid if came.qos else 0,
            bool(came.retain),
        )
        self._tell(lambda: self._listener.hear(message))

    def _on_publish(self, _: Client, __: Any, mid: int, ___: ReasonCode, ____: Properties) -> None:
        self._tell(lambda: self._taken(mid))

    def _taken(self, mid: int) -> None:
        self._listener.taken(self._sizes.pop(mid, 0))

    def _tell(self, what: Callable[[], None]) -> None:
        """Call a function on the event loop, after all earlier ones."""
        events = self._events
        events.append(what)
        if len(events) == 1:  # otherwise, a call of `_call` is scheduled already
            self._loop.call_soon_threadsafe(self._call)

    def _call(self) -> None:
        events = self._events
        try:
            for _ in range(len(events)):
                events.popleft()()
        finally:  # whatever became of one, the others are to be called
            if events:
                self._loop.call_soon(self._call)


def _hurry(_: Client, __: Any, opened: Any) -> None:
    """Small messages go out at once: the other side would wait 40 ms before it says that it has got one."""
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _properties(packet: int) -> Any:
    """Of a packet, to be set by their names."""
    return Properties(packet)  # type: ignore[no-untyped-call]
