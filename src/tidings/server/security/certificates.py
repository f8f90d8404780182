"""A local certificate authority, and certificates that it signs, to try TLS, or for a private network.

    folder/ca.pem, ca-key.pem              the authority: clients that trust ca.pem trust its certificates
    folder/server.pem, server-key.pem      for the broker
    folder/client-NAME.pem, …-key.pem      for a client that needs a certificate

Only the owner of a key file can read it, and no file is overwritten.
"""

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TypeAlias

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tidings.model.errors import BadRequest

ServerName: TypeAlias = x509.DNSName | x509.IPAddress

_AUTHORITY = timedelta(days=3650)
_SKEW = timedelta(hours=1)
"""Clocks differ: a certificate is valid from so much earlier on."""


class CannotCertify(BadRequest):
    """A certificate cannot be made: its files exist already, or its name is not valid."""

    code = "cannot_certify"


@dataclass(frozen=True, slots=True)
class Files:
    """A certificate and its key."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority: its certificate and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


def default_names() -> tuple[str, ...]:
    """The names and addresses of this machine, for the certificate of a broker."""
    return tuple(dict.fromkeys(("localhost", "127.0.0.1", "::1", socket.gethostname())))


def authority_files(folder: Path) -> Files:
    return Files(folder / "ca.pem", folder / "ca-key.pem")


def server_files(folder: Path) -> Files:
    return Files(folder / "server.pem", folder / "server-key.pem")


def client_files(folder: Path, name: str) -> Files:
    """The files of a client's certificate. Raises CannotCertify if the name is not valid."""
    if not 0 < len(name) <= 64 or not name.isprintable():
        raise CannotCertify("the name of a client has 1 to 64 characters")
    plain = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "._-") else "_" for letter in name)
    return Files(folder / f"client-{plain}.pem", folder / f"client-{plain}-key.pem")


def authority(folder: Path, now: datetime) -> Authority:
    """The authority in a folder; a new one if there is none. Raises CannotCertify."""
    files = authority_files(folder)
    if files.certificate.exists() or files.key.exists():
        return _read(files)
    key = ec.generate_private_key(ec.SECP256R1())
    name = _named(f"Tidings authority of {socket.gethostname()}, {now:%Y-%m-%d}"[:64])
    usage = _key_usage(signs_certificates=True)
    certificate = (
        _builder(name, name, key.public_key(), now, now + _AUTHORITY)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .sign(key, hashes.SHA256())
    )
    _write(files, certificate, key)
    return Authority(certificate, key)


def certify_server(
    signer: Authority, files: Files, names: Sequence[ServerName], begins: datetime, ends: datetime
) -> None:
    """Write a certificate for these names and addresses, at least one. Raises CannotCertify."""
    _certify(signer, files, str(names[0].value), names, ExtendedKeyUsageOID.SERVER_AUTH, begins, ends)


def certify_client(signer: Authority, files: Files, name: str, begins: datetime, ends: datetime) -> None:
    """Write a certificate for a client, with a name as its subject. Raises CannotCertify."""
    _certify(signer, files, name, (), ExtendedKeyUsageOID.CLIENT_AUTH, begins, ends)


def _certify(
    signer: Authority,
    files: Files,
    name: str,
    alternatives: Sequence[ServerName],
    purpose: x509.ObjectIdentifier,
    begins: datetime,
    ends: datetime,
) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _named(name[:64])
    builder = (
        _builder(subject, signer.certificate.subject, key.public_key(), begins, ends)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.certificate.public_key()),  # type: ignore[arg-type]
            critical=False,
        )
    )
    if alternatives:
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    _write(files, builder.sign(signer.key, hashes.SHA256()), key)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, begins: datetime, ends: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins - _SKEW)
        .not_valid_after(ends)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False, key_encipherment=False, data_encipherment=False, key_agreement=False,
        encipher_only=False, decipher_only=False,
    )  # fmt: skip


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def server_name(name: str) -> ServerName:
    """A host name or an IP address, in the form of certificates. Raises CannotCertify."""
    try:
        return x509.IPAddress(ip_address(name.strip("[]")))
    except ValueError:
        pass
    try:
        ascii_name = name.encode("idna").decode("ascii")
    except UnicodeError as error:
        raise CannotCertify(f"{name!r} is no name of a machine: {error}") from error
    if not ascii_name or "/" in ascii_name or ":" in ascii_name or " " in ascii_name:
        raise CannotCertify(f"{name!r} is no name of a machine; give a name or an address, without scheme and port")
    return x509.DNSName(ascii_name)


# -- files --------------------------------------------------------------------------------------------------------


def check_free(files: Files) -> None:
    """Raises CannotCertify if one of the files exists already."""
    for path in (files.certificate, files.key):
        if path.exists():
            raise CannotCertify(f"{path} is there already; move it away, or name another folder")


def _read(files: Files) -> Authority:
    try:
        certificate = x509.load_pem_x509_certificate(files.certificate.read_bytes())
        key = load_pem_private_key(files.key.read_bytes(), None)
    except OSError as error:
        raise CannotCertify(f"{error.filename}: {(error.strerror or '').lower()}") from error
    except (ValueError, TypeError) as error:
        raise CannotCertify(f"{files.certificate} and {files.key} are no certificate with its key") from error
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise CannotCertify(f"{files.key} is no key that this command made")
    return Authority(certificate, key)


def _write(files: Files, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
    check_free(files)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        files.key.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _create(files.key, private, 0o600)
        _create(files.certificate, certificate.public_bytes(Encoding.PEM), 0o644)
    except OSError as error:
        raise CannotCertify(f"{error.filename}: {(error.strerror or '').lower()}") from error


def _create(path: Path, content: bytes, mode: int) -> None:
    """Create a file with these permissions from the start. It never overwrites a file."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
