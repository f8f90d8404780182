"""Checks the certificate of the settings: whether a broker can use it, and for how long it is valid."""

from datetime import datetime, timedelta
from pathlib import Path

from tidings.cli.doctor import packages
from tidings.cli.doctor.finding import Finding
from tidings.server.config import BadSetting, Settings
from tidings.server.tls import TlsUnusable, read_tls

_SOON = timedelta(days=14)
_NAME = "TLS certificate"


def check_certificate(settings: Settings, now: datetime) -> Finding:
    """Check the certificate that the settings name."""
    try:
        read_tls(settings)
    except (BadSetting, TlsUnusable) as error:
        return Finding(_NAME, "problem", str(error), "`tidings certificates` makes one to try TLS with")
    assert settings.tls_certificate is not None
    if packages.installed("cryptography") is None:  # another check reports that
        return Finding(_NAME, "ok", f"{settings.tls_certificate} can be used")
    from cryptography.x509 import load_pem_x509_certificate

    ends = load_pem_x509_certificate(Path(settings.tls_certificate).read_bytes()).not_valid_after_utc
    found = f"{settings.tls_certificate} is good until {ends:%Y-%m-%d}"
    if ends < now:
        return Finding(_NAME, "problem", f"{settings.tls_certificate} expired on {ends:%Y-%m-%d}", "renew it")
    if ends - now < _SOON:
        return Finding(_NAME, "note", found, "renew it; the broker takes the new one without a restart")
    return Finding(_NAME, "ok", found)
