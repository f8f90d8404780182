"""Builds the gate for Smart-M3's knowledge processors. Their protocol has no TLS, so its host is that of plain HTTP."""

from functools import partial

from tidings.gates.gate import Gate
from tidings.gates.premises import Premises
from tidings.server.config import BadSetting, Settings
from tidings.server.listening import listen, plain_host


def smart_m3(premises: Premises, settings: Settings) -> Gate | None:
    """Raises BadSetting."""
    if settings.smart_m3_port is None:
        return None
    from tidings.gates.smart_m3.gate import SmartM3Gate

    host = settings.host if settings.tls_certificate is None else plain_host(settings)
    if host is None:
        raise BadSetting("--smart-m3-port: Smart-M3 has no TLS, and --plain-host closes all ports without TLS")
    return SmartM3Gate(
        premises, partial(listen, host, settings.smart_m3_port, "--smart-m3-port"), settings.max_connections
    )
