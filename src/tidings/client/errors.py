"""Errors of a client; branches of the tree in `model/errors.py`.

TidingsError
├── Refused              refused               the code, the status and the details that the broker sent
├── CannotConnect        cannot_connect   502  no connection to the address
│   └── NotTrusted       not_trusted      502  the certificate at the address is not accepted
├── BadCredentials       bad_credentials  400  the credentials for a broker cannot be read, or are not valid
├── CannotTrust          cannot_trust     400  the files for TLS cannot be read or used
├── ConnectionLost       connection_lost  502  the connection broke while an answer was awaited
├── NoAnswer             no_answer        504  the answer did not arrive in time
└── NotUnderstood        not_understood   502  the answer does not follow the protocol
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
    """The broker refused the request. `code` and `status` are the broker's; `details` is its whole error document."""

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
    """`is_foreign`: no known authority has signed the certificate. Otherwise it has expired, is for another name, or
    has another defect."""

    code = "not_trusted"

    def __init__(self, message: str, *, is_foreign: bool) -> None:
        super().__init__(message)
        self.is_foreign = is_foreign


class BadCredentials(BadRequest):
    code = "bad_credentials"


class CannotTrust(BadRequest):
    code = "cannot_trust"


class ConnectionLost(TidingsError):
    """The outcome is unknown: the broker may have executed the request."""

    status = 502
    code = "connection_lost"


class NoAnswer(TidingsError):
    status = 504
    code = "no_answer"


class NotUnderstood(TidingsError):
    status = 502
    code = "not_understood"


def is_passing(error: TidingsError) -> bool:
    """Whether a later attempt may succeed: the broker was not reachable, or overloaded."""
    return isinstance(error, CannotConnect | ConnectionLost | NoAnswer) or (
        isinstance(error, Refused) and error.status in _BUSY
    )


# -- the cause of a failed connection, which libraries hide below other errors, or in a group --------------------------


def unreachable(who: str, url: str, error: BaseException) -> CannotConnect:
    """The error for an address without an answer. The message begins with `who`, such as "no broker"."""
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
    """An error, and its causes, recursively."""
    yield error
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _causes(each)
    behind = error.__cause__ or error.__context__
    if behind is not None:
        yield from _causes(behind)
