"""What all gates of a broker share."""

from msgspec import Struct

from tidings.broker.broker import Broker
from tidings.gates.asking import OPEN, Guard
from tidings.gates.quotas import Quotas


class Premises(Struct, frozen=True):
    """The broker, who guards it, how much one client may have of it, and what a request may be."""

    broker: Broker
    quotas: Quotas
    base: str
    """What relative IRIs are relative to."""
    guard: Guard = OPEN
    read_only: bool = False
    max_body: int = 16 << 20
    """Bytes that a request or message may have."""
    high_water: int = 1 << 18
    """Bytes on their way to a client before it counts as slow."""
