"""Every gate that the stories are told over, by its name: one line a gate."""

from collections.abc import Callable

from gates.stories.coap import CoapDriver
from gates.stories.driver import Driver
from gates.stories.mqtt import MqttDriver
from gates.stories.webhooks import WebhookDriver
from gates.stories.websocket import WebSocketDriver

DRIVERS: dict[str, Callable[[], Driver]] = {
    "websocket": WebSocketDriver,
    "mqtt": MqttDriver,
    "webhooks": WebhookDriver,
    "coap": CoapDriver,
}
