"""Builds the CoAP gate by its settings."""

from tidings.extras import needing
from tidings.gates.gate import Gate
from tidings.gates.premises import Premises
from tidings.server.config import Settings
from tidings.server.listening import CannotListen, cannot_listen


def open_coap(premises: Premises, settings: Settings) -> Gate | None:
    """Raises ExtraMissing."""
    if settings.coap_port is None:
        return None
    with needing("the CoAP gate needs aiocoap and cbor2", "gates"):
        from tidings.gates.coap.gate import CoapGate, CoapSettings
    host, port = settings.coap_host or settings.host, settings.coap_port

    def refused(error: OSError) -> CannotListen:
        return cannot_listen(host, port, "--coap-port", error)

    return CoapGate(premises, CoapSettings(host, port, settings.max_connections, refused))
