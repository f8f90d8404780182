"""What can go wrong at a gate, before anything is evaluated; branches of the tree in `model/errors.py`.

BadRequest
├── MethodNotAllowed     method_not_allowed    405   the path is right, the method is not
├── BodyTooLarge         body_too_large        413   bytes
├── BodyTooSlow          body_too_slow         408   the body did not arrive in time
├── HeadersTooLarge      headers_too_large     431   bytes
├── BadForwarding        bad_forwarding        400   the headers in which a proxy names its client are invalid
└── ClientLeft           client_left           499   the client closed the connection before the answer
NotFound
└── UnknownPrepared      unknown_prepared      404   there is no prepared update of this name on the connection
LimitExceeded
├── RateExceeded         rate_exceeded         429   seconds: this client asks too often
├── TooManyConnections   too_many_connections  429   come back in a moment
├── TooSlow              too_slow              503   the client read more slowly than the broker sent
└── TooManyPrepared      too_many_prepared     429   the connection has as many prepared updates as it may
NotAllowed
├── OriginNotAllowed     origin_not_allowed    403   pages of this origin may not use the broker
├── HostNotAllowed       host_not_allowed      421   the Host header has a name that is not the broker's
├── TakenOver            taken_over            409   another connection has resumed the subscription
└── ForAdministrators    for_administrators    403   the sender is no administrator
SubscriptionLost         subscription_lost     500   the broker could not go on with the subscription
"""

import math
from typing import Any

from tidings.model.errors import BadRequest, LimitExceeded, NotAllowed, NotFound, TidingsError


class MethodNotAllowed(BadRequest):
    status = 405
    code = "method_not_allowed"


class BodyTooLarge(BadRequest):
    status = 413
    code = "body_too_large"

    def __init__(self, most: int) -> None:
        super().__init__(f"the body is larger than the limit of {most:,} bytes")
        self.most = most

    def data(self) -> dict[str, Any]:
        return {"max_body": self.most}


class HeadersTooLarge(BadRequest):
    status = 431
    code = "headers_too_large"

    def __init__(self, most: int) -> None:
        super().__init__(f"the address and the headers together are larger than the limit of {most:,} bytes")


class BodyTooSlow(BadRequest):
    status = 408
    code = "body_too_slow"


class BadForwarding(BadRequest):
    code = "bad_forwarding"


class ClientLeft(BadRequest):
    status = 499
    code = "client_left"


class UnknownPrepared(NotFound):
    code = "unknown_prepared"


class RateExceeded(LimitExceeded):
    """The client may send its next request after `seconds`."""

    status = 429
    code = "rate_exceeded"

    def __init__(self, seconds: float) -> None:
        super().__init__("you ask more often than the limit of client_rate allows; slow down")
        self.seconds = math.ceil(seconds)

    def data(self) -> dict[str, Any]:
        return {"seconds": self.seconds}


class TooManyConnections(LimitExceeded):
    status = 429
    code = "too_many_connections"


class TooManyPrepared(LimitExceeded):
    status = 429
    code = "too_many_prepared"


class TooSlow(LimitExceeded):
    code = "too_slow"


class OriginNotAllowed(NotAllowed):
    code = "origin_not_allowed"


class HostNotAllowed(NotAllowed):
    status = 421
    code = "host_not_allowed"


class TakenOver(NotAllowed):
    status = 409
    code = "taken_over"


class ForAdministrators(NotAllowed):
    code = "for_administrators"


class SubscriptionLost(TidingsError):
    code = "subscription_lost"
