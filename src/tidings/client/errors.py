"""Errors of a client; branches of the tree in `model/errors.py`.

TidingsError
├── Refused              refused               the broker's own code and status, and whatever it said
├── CannotConnect        cannot_connect   502  nobody answers at the address
│   └── NotTrusted       not_trusted      502  the certificate at the address is not accepted
├── BadCredentials       bad_credentials  400  what is to be shown to a broker cannot be read, or is none
├── CannotTrust          cannot_trust     400  the files for TLS cannot be read or used
├── ConnectionLost       connection_lost  502  the connection broke while an answer was awaited
├── NoAnswer             no_answer        504  the answer did not come in time
└── NotUnderstood        not_understood   502  what came is not what the protocol says
"""

import ssl
from collections.abc import Iterator
from socket import gaierror
from typing import Any

from tidings.model.errors import BadRequest, TidingsError
from tidings.protocol.errors import Refusal, brief

_BUSY = (429, 503)
_FOREIGN = range(18, 22)
"""X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT to X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE of OpenSSL."""


class Refused(TidingsError):
    """The broker said no. `code` and `status` are those of the broker, `details` is all that it said."""

    code = "refused"

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(brief(refusal.description))
        self.refusal = refusal
        self.code = refusal.code  # type: ignore[misc]  # here it is the broker's
        self.status = refusal.status  # type: ignore[misc]

    @property
    def details(self) -> dict[str, Any]:
        return self.refusal.to_json()

    def data(self) -> dict[str, Any]:
        return self.refusal.data


class CannotConnect(TidingsError):
    status = 502
    code = "cannot_connect"


class NotTrusted(CannotConnect):
    """`is_foreign` says that no known authority has signed the certificate, rather than that it has expired, or is for
    another name."""

    code = "not_trusted"

    def __init__(self, message: str, *, is_foreign: bool) -> None:
        super().__init__(message)
        self.is_foreign = is_foreign


class BadCredentials(BadRequest):
    code = "bad_credentials"


class CannotTrust(BadRequest):
    code = "cannot_trust"


class ConnectionLost(TidingsError):
    """The outcome is not known: the request may have been carried out."""

    status = 502
    code = "connection_lost"


class NoAnswer(TidingsError):
    status = 504
    code = "no_answer"


class NotUnderstood(TidingsError):
    status = 502
    code = "not_understood"


def is_passing(error: TidingsError) -> bool:
    """Whether it may be better later: nobody was there, or too many were."""
    return isinstance(error, CannotConnect | ConnectionLost | NoAnswer) or (
        isinstance(error, Refused) and error.status in _BUSY
    )


# -- why nobody could be reached: libraries hide it below other errors, or in a group ----------------------------------


def unreachable(who: str, url: str, error: BaseException) -> CannotConnect:
    """`who` answers nothing at an address: a broker, or nobody at all."""
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            said = f"the certificate of {url} is not accepted: {cause.verify_message}"
            return NotTrusted(said, is_foreign=cause.verify_code in _FOREIGN)
    return CannotConnect(f"{who} answers at {url}: {_reason(causes)}")


def reason(error: BaseException) -> str:
    return _reason(list(_causes(error)))


def _reason(causes: list[BaseException]) -> str:
    for cause in causes:
        if isinstance(cause, ConnectionRefusedError):
            return "connection refused"
        if isinstance(cause, gaierror):
            return f"the name of the host is not known ({cause.strerror})"
    return str(causes[0]) or "it takes too long"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error, and what is behind it."""
    yield error
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _causes(each)
    behind = error.__cause__ or error.__context__
    if behind is not None:
        yield from _causes(behind)
