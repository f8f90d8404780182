"""TLS from files: a certificate with its key, and whose certificates clients may show.

Modern settings only: TLS 1.2 with forward secrecy and authenticated encryption, TLS 1.3 wherever the client has it; no
compression, no renegotiation. The files are watched; a change counts for new connections, and those that exist go on.
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
"""Of TLS 1.2; those of TLS 1.3 are all good."""
_EVERY = 1.0
"""Seconds between two looks at the files."""

State: TypeAlias = tuple[tuple[int, int, int] | None, ...]

log = logging.getLogger("tidings")


class TlsUnusable(TidingsError):
    """A certificate, a key or an authority that cannot be used."""

    code = "tls_unusable"


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """Where everything is. The key may be in the file of the certificate."""

    certificate: Path
    key: Path
    client_ca: Path | None = None
    client_required: bool = True

    def context(self) -> ssl.SSLContext:
        """What the files say now, for new connections. Raises TlsUnusable."""
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
        """What is different once a file has changed."""
        return tuple(_state(path) for path in (self.certificate, self.key, self.client_ca) if path is not None)


@dataclass(frozen=True, slots=True)
class Tls:
    """The files as they were at one moment."""

    files: TlsFiles
    state: State
    context: ssl.SSLContext


def read_tls(settings: Settings) -> Tls | None:
    """What the settings say of TLS, if they do. Raises BadSetting, TlsUnusable."""
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
    """When the certificate that the file has now expires; nothing if there is none that can be read."""
    if settings.tls_certificate is not None:
        from cryptography.x509 import load_pem_x509_certificate  # here: most brokers have no certificate

        with suppress(OSError, ValueError):
            ends = load_pem_x509_certificate(Path(settings.tls_certificate).read_bytes()).not_valid_after_utc
            text = "When the certificate of the broker expires, in seconds since 1970"
            yield Figure("certificate_expires_seconds", text, ends.timestamp())


@asynccontextmanager
async def renewing(tls: Tls, renew: Callable[[ssl.SSLContext], Awaitable[None]]) -> AsyncIterator[None]:
    """Meanwhile, whenever the files change, `renew` is called with what they say."""
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
        seen = found  # looked at before the files are read: what changes meanwhile is another change
        try:
            await renew(files.context())
        except TlsUnusable as error:
            log.warning("the new certificate is not used, and the old one stays: %s", error)
        except OSError as error:  # no more open files, for example: that passes
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
    """Errors of the library, in words that name the file."""
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
    """Nobody is there to type one."""
    raise TlsUnusable("the key of the certificate is encrypted; the broker takes one without a password")
