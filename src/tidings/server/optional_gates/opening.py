"""Which gates there are beside HTTP and WebSocket, and which of them the settings switch on."""

from collections.abc import Callable
from typing import TypeAlias

from tidings.gates.gate import Gate
from tidings.gates.premises import Premises
from tidings.server.config import Settings
from tidings.server.optional_gates.coap import open_coap
from tidings.server.optional_gates.ldn import linked_data_notifications
from tidings.server.optional_gates.mcp import model_context_protocol
from tidings.server.optional_gates.mqtt import open_mqtt
from tidings.server.optional_gates.smart_m3 import smart_m3
from tidings.server.optional_gates.webhooks import open_webhooks

Opening: TypeAlias = Callable[[Premises, Settings], Gate | None]
"""A gate, if the settings switch it on. Raises BadSetting, ExtraMissing; it takes nothing from anybody yet."""

OPENINGS: tuple[Opening, ...] = (
    linked_data_notifications,
    model_context_protocol,
    open_mqtt,
    open_webhooks,
    open_coap,
    smart_m3,
)
"""One line a gate."""


def optional_gates(premises: Premises, settings: Settings) -> tuple[Gate, ...]:
    """Those that are switched on, before the broker runs: who keeps facts learns those that the log has."""
    return tuple(gate for opening in OPENINGS if (gate := opening(premises, settings)) is not None)
