"""Every gate that the stories are told over, by its name: one line a gate."""

from collections.abc import Callable

from gates.stories.coap import CoapDriver
from gates.stories.driver import Driver
from gates.stories.ldn import LdnDriver
from gates.stories.mcp import McpDriver
from gates.stories.mqtt import MqttDriver
from gates.stories.smart_m3 import SmartM3Driver
from gates.stories.webhooks import WebhookDriver
from gates.stories.websocket import WebSocketDriver

DRIVERS: dict[str, Callable[[], Driver]] = {
    "smart_m3": SmartM3Driver,
    "websocket": WebSocketDriver,
    "ldn": LdnDriver,
    "mcp": McpDriver,
    "mqtt": MqttDriver,
    "webhooks": WebhookDriver,
    "coap": CoapDriver,
}
