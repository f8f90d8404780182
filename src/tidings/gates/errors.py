"""What can go wrong at a gate, before anything is evaluated; branches of the tree in `model/errors.py`.

BadRequest
├── MethodNotAllowed     method_not_allowed    405   the path is right, the method is not
├── BodyTooLarge         body_too_large        413   bytes
├── BodyTooSlow          body_too_slow         408   the body did not arrive in time
└── ClientLeft           client_left           499   nobody waits for the answer any more
LimitExceeded
├── TooManyRequests      too_many_requests     503   come back in a moment
└── ShuttingDown         shutting_down         503   the broker is stopping
"""

from tidings.model.errors import BadRequest, LimitExceeded


class MethodNotAllowed(BadRequest):
    status = 405
    code = "method_not_allowed"


class BodyTooLarge(BadRequest):
    status = 413
    code = "body_too_large"

    def __init__(self, most: int) -> None:
        super().__init__(f"the body is larger than the limit of {most:,} bytes")
        self.most = most


class BodyTooSlow(BadRequest):
    status = 408
    code = "body_too_slow"


class ClientLeft(BadRequest):
    status = 499
    code = "client_left"


class TooManyRequests(LimitExceeded):
    code = "too_many_requests"


class ShuttingDown(LimitExceeded):
    code = "shutting_down"
