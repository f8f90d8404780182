"""What the broker refuses, or cannot do; branches of the tree in `model/errors.py`.

NotFound
├── UnknownSubscription  unknown_spuid         404   no such subscription, or no longer
├── NoEndpoint           no_endpoint           404   there is no store of record behind the broker
└── UnknownDelayed       unknown_delayed       404   no such delayed update, or no longer
LimitExceeded
├── TooManyRequests      too_many_requests     429   come back in a moment
├── TooManySubscriptions too_many_subscriptions 429  the broker holds as many as it may
├── TooManyDelayed       too_many_delayed      429   the same for delayed updates
├── NotToldInTime        not_told_in_time      504   whoever works out the answer has not said anything
├── TooMuchChanged       too_much_changed      503   a first answer was out of date before it was found
└── ShuttingDown         shutting_down         503   the broker is stopping
NotYours (NotAllowed)    not_yours             403   the subscription belongs to another connection
WorkLost                 work_lost             500   a copy of the process died at work
"""

from tidings.model.errors import LimitExceeded, NotAllowed, NotFound, TidingsError


class UnknownSubscription(NotFound):
    code = "unknown_spuid"


class NoEndpoint(NotFound):
    code = "no_endpoint"


class UnknownDelayed(NotFound):
    code = "unknown_delayed"


class NotYours(NotAllowed):
    code = "not_yours"


class TooManyRequests(LimitExceeded):
    status = 429
    code = "too_many_requests"


class TooManySubscriptions(LimitExceeded):
    status = 429
    code = "too_many_subscriptions"


class TooManyDelayed(LimitExceeded):
    status = 429
    code = "too_many_delayed"


class NotToldInTime(LimitExceeded):
    status = 504
    code = "not_told_in_time"


class TooMuchChanged(LimitExceeded):
    code = "too_much_changed"


class ShuttingDown(LimitExceeded):
    code = "shutting_down"


class WorkLost(TidingsError):
    code = "work_lost"
