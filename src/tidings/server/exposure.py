"""Refuses settings that expose a broker without authentication or without encryption to other machines, unless
--allow-insecure confirms them."""

import socket
from ipaddress import ip_address

from tidings.server.config import BadSetting, Settings


def check_exposure(settings: Settings) -> None:
    """Raises BadSetting if other machines could change everything, or read secrets on the network, and the settings do
    not allow that explicitly; or if the settings ask for an audit log without security."""
    if not settings.is_secure and (settings.audit_log or settings.access_log):
        raise BadSetting("--audit-log and --access-log record who did what, which is asked only with --secure")
    if settings.allow_insecure:
        return
    knows_clients = settings.is_secure or (settings.tls_client_ca is not None and settings.tls_client == "required")
    if not (knows_clients and settings.tls_certificate is not None):
        _check("--host", settings.host, settings)
    if settings.plain_host not in {None, "off"}:
        _check("--plain-host", str(settings.plain_host), settings)
    coap = settings.coap_host or settings.host
    if settings.coap_port is not None and not is_local(coap):
        raise BadSetting(
            f"--coap-port at {coap}: CoAP has no encryption here, so others can read and change what is said; "
            "have it on this machine only (--coap-host 127.0.0.1), or say --allow-insecure as well"
        )


def _check(flag: str, host: str, settings: Settings) -> None:
    if is_local(host):
        return
    if not settings.is_secure:
        raise BadSetting(
            f"{flag} {host} lets anybody who reaches this machine read and change everything, because nobody is "
            "asked who they are; switch security on (--secure), listen on 127.0.0.1 behind a reverse proxy that asks, "
            "or say --allow-insecure as well"
        )
    if not settings.trusted_proxies:
        raise BadSetting(
            f"{flag} {host} would have clients send secrets and tokens where others can read them; give the broker a "
            "certificate (--tls-certificate), name the proxy with TLS before it (--trusted-proxies), or say "
            "--allow-insecure as well"
        )


def is_local(host: str) -> bool:
    """Whether an address, or all addresses of a name, are loopback addresses."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        pass
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return True  # the name has no address; listening on it raises the error
    return all(ip_address(str(address[0]).partition("%")[0]).is_loopback for *_, address in found)
