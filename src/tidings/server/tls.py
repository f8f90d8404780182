"""TLS from files: a certificate with its key, and the authority for certificates of clients.

Modern settings only: TLS 1.2 with forward secrecy and authenticated encryption, TLS 1.3 if the client supports it; no
compression, no renegotiation. The module watches the files; a change affects new connections, and the others go on.
"""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tidings.gates.figures import Figure
from tidings.model.errors import TidingsError
from tidings.server.config import BadSetting, Settings

_CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""The cipher suites of TLS 1.2; those of TLS 1.3 are all secure."""
_EVERY = 1.0
"""Seconds between two checks of the files."""

State: TypeAlias = tuple[tuple[int, int, int] | None, ...]

log = logging.getLogger("tidings")


class TlsUnusable(TidingsError):
    """A certificate, a key or an authority that cannot be used."""

    code = "tls_unusable"


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """The paths of the files. The key may be in the file of the certificate."""

    certificate: Path
    key: Path
    client_ca: Path | None = None
    client_required: bool = True

    def context(self) -> ssl.SSLContext:
        """A TLS context from the present content of the files, for new connections. Raises TlsUnusable."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION | ssl.OP_CIPHER_SERVER_PREFERENCE
        context.set_ciphers(_CIPHERS)
        context.set_alpn_protocols(["http/1.1"])
        with _explained(f"the certificate {self.certificate} with the key {self.key}"):
            context.load_cert_chain(self.certificate, self.key, password=_no_password)
        if self.client_ca is not None:
            with _explained(f"the authority {self.client_ca}"):
                context.load_verify_locations(self.client_ca)
            context.verify_mode = ssl.CERT_REQUIRED if self.client_required else ssl.CERT_OPTIONAL
        return context

    def state(self) -> State:
        """A value that changes when one of the files changes."""
        return tuple(_state(path) for path in (self.certificate, self.key, self.client_ca) if path is not None)


@dataclass(frozen=True, slots=True)
class Tls:
    """The files, and the TLS context and state from when they were read."""

    files: TlsFiles
    state: State
    context: ssl.SSLContext


def read_tls(settings: Settings) -> Tls | None:
    """TLS by the settings; None if it is off. Raises BadSetting, TlsUnusable."""
    files = _files(settings)
    return None if files is None else Tls(files, files.state(), files.context())


def _files(settings: Settings) -> TlsFiles | None:
    if settings.tls_certificate is None:
        for name in ("tls_key", "tls_client_ca", "plain_host"):
            if getattr(settings, name) is not None:
                raise BadSetting(f"{name} goes with tls_certificate, which is not given")
        return None
    certificate, client_ca = Path(settings.tls_certificate), settings.tls_client_ca
    return TlsFiles(
        certificate,
        certificate if settings.tls_key is None else Path(settings.tls_key),
        None if client_ca is None else Path(client_ca),
        settings.tls_client == "required",
    )


def figures(settings: Settings) -> Iterator[Figure]:
    """When the certificate in the file expires; nothing if there is no readable certificate."""
    if settings.tls_certificate is not None:
        from cryptography.x509 import load_pem_x509_certificate  # imported here: most brokers have no certificate

        with suppress(OSError, ValueError):
            ends = load_pem_x509_certificate(Path(settings.tls_certificate).read_bytes()).not_valid_after_utc
            text = "When the certificate of the broker expires, in seconds since 1970"
            yield Figure("certificate_expires_seconds", text, ends.timestamp())


@asynccontextmanager
async def renewing(tls: Tls, renew: Callable[[ssl.SSLContext], Awaitable[None]]) -> AsyncIterator[None]:
    """While the context lasts, call `renew` with a new TLS context whenever the files change."""
    watching = asyncio.create_task(_watch(tls.files, tls.state, renew))
    try:
        yield
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching


async def _watch(files: TlsFiles, seen: State, renew: Callable[[ssl.SSLContext], Awaitable[None]]) -> None:
    while True:
        await asyncio.sleep(_EVERY)
        if (found := files.state()) == seen:
            continue
        seen = found  # from before the files are read, so that a change during reading counts as another change
        try:
            await renew(files.context())
        except TlsUnusable as error:
            log.warning("the new certificate is not used, and the old one stays: %s", error)
        except OSError as error:  # a temporary error, such as too many open files
            seen = ()
            log.warning("the new certificate cannot be used yet: %s", error)
        else:
            log.info("new connections get the new certificate of %s", files.certificate)


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


@contextmanager
def _explained(what: str) -> Iterator[None]:
    """Turn errors of the library into TlsUnusable, with the name of the file."""
    try:
        yield
    except ssl.SSLError as error:
        raise TlsUnusable(f"{what} cannot be used: {_reason(error)}") from error
    except OSError as error:
        raise TlsUnusable(f"{what} cannot be read: {(error.strerror or str(error)).lower()}") from error


_REASONS = {
    "KEY_VALUES_MISMATCH": "the key is of another certificate",
    "NO_START_LINE": "there is nothing of the kind in the file, in the format PEM",
    "EE_KEY_TOO_SMALL": "the key is too small",
    "CA_MD_TOO_WEAK": "it is signed with a hash that is too weak",
}


def _reason(error: ssl.SSLError) -> str:
    return _REASONS.get(error.reason or "", (error.reason or str(error)).lower().replace("_", " "))


def _no_password() -> str:
    """The password callback, which fails instead of asking at the terminal."""
    raise TlsUnusable("the key of the certificate is encrypted; the broker takes one without a password")
