"""The gates besides HTTP and WebSocket; builds those that the settings switch on."""

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
"""Builds a gate if the settings switch it on; the gate is not open yet. Raises BadSetting, ExtraMissing."""

OPENINGS: tuple[Opening, ...] = (
    linked_data_notifications,
    model_context_protocol,
    open_mqtt,
    open_webhooks,
    open_coap,
    smart_m3,
)
"""One line for each gate."""


def optional_gates(premises: Premises, settings: Settings) -> tuple[Gate, ...]:
    """The gates that are switched on. The caller builds them before the broker runs, so that they get the facts that
    the log has for them."""
    return tuple(gate for opening in OPENINGS if (gate := opening(premises, settings)) is not None)
