"""The certificate authorities that a client trusts over TLS, and its own certificate.

    connect("wss://broker:9443/subscribe", trust=Trust(ca="ca.pem"))

By default, it trusts the authorities of the system, or those of the file that SSL_CERT_FILE names.
"""

import ssl
from dataclasses import dataclass
from pathlib import Path

from tidings.client.errors import CannotTrust


@dataclass(frozen=True, slots=True)
class Trust:
    """`ca` is a PEM file of authorities, used instead of the system's; `certificate` and `key` are the client's own.
    Without `verify`, the client accepts any certificate: for trials only."""

    ca: str | Path | None = None
    verify: bool = True
    certificate: str | Path | None = None
    key: str | Path | None = None

    def context(self) -> ssl.SSLContext | None:
        """The context for connections; None with the default settings. Raises CannotTrust."""
        if self == SYSTEM:
            return None
        try:
            return self._context()
        except ssl.SSLError as error:
            raise CannotTrust(f"the files for TLS cannot be used: {error.reason or error}") from error
        except OSError as error:
            raise CannotTrust(f"the files for TLS cannot be read: {error.strerror or error}") from error

    def _context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self.ca)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if self.certificate is not None:
            context.load_cert_chain(self.certificate, self.key)
        return context


SYSTEM = Trust()
