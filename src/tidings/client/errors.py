"""What a client can run into; branches of the tree in `model/errors.py`.

TidingsError
├── Refused              refused               the broker's own code and status, and whatever it said
├── CannotConnect        cannot_connect   502  nobody answers at the address
├── BadCredentials       bad_credentials  400  what is to be shown to a broker cannot be read, or is none
├── CannotTrust          cannot_trust     400  the files for TLS cannot be read or used
├── ConnectionLost       connection_lost  502  the connection broke while an answer was awaited
├── NoAnswer             no_answer        504  the answer did not come in time
└── NotUnderstood        not_understood   502  what came is not what the protocol says
"""

from typing import Any

from tidings.model.errors import BadRequest, TidingsError
from tidings.protocol.errors import Refusal, brief

_BUSY = (429, 503)


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
