"""What all gates of a broker share."""

from msgspec import Struct

from tidings.broker.broker import Broker
from tidings.gates.asking import OPEN, Guard
from tidings.gates.quotas import Quotas


class Premises(Struct, frozen=True):
    """The broker, its guard, the quotas of clients, and the limits of requests."""

    broker: Broker
    quotas: Quotas
    base: str
    """The base against which relative IRIs are resolved."""
    guard: Guard = OPEN
    read_only: bool = False
    max_body: int = 16 << 20
    """Bytes that a request or message may have."""
    high_water: int = 1 << 18
    """Unsent bytes for a client above which it counts as slow."""
