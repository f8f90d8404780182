"""The other end of a connection: the address of the client, and the subject of its certificate."""

from typing import Any

from msgspec import Struct


class Peer(Struct, frozen=True):
    """`subject` is in the notation of RFC 4514 (`CN=lamp-7,O=City`); None if the client showed no certificate."""

    address: str
    subject: str | None = None


def peer_of(transport: Any) -> Peer:
    """The other end of a transport of any kind."""
    name = transport.get_extra_info("peername")
    return Peer(str(name[0]) if isinstance(name, tuple) else "", subject_of(transport))


def subject_of(transport: Any) -> str | None:
    """The subject of the client's certificate, which the TLS handshake has verified."""
    tls = transport.get_extra_info("ssl_object")
    document = None if tls is None else tls.getpeercert(binary_form=True)
    if not document:
        return None
    from cryptography.x509 import load_der_x509_certificate  # here: most brokers never need it

    return load_der_x509_certificate(document).subject.rfc4514_string()


def tls_extension(transport: Any) -> dict[str, Any]:
    """The part of ASGI's extension `tls` that this broker uses."""
    return {"client_cert_name": subject_of(transport)}
