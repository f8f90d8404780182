"""What the broker refuses, or cannot do; branches of the tree in `model/errors.py`.

NotFound
├── UnknownSubscription  unknown_spuid         404   there is no such subscription, or no longer
├── NoEndpoint           no_endpoint           404   there is no store of record behind the broker
├── UnknownDelayed       unknown_delayed       404   there is no such delayed update, or no longer
├── UnknownCommit        unknown_commit        404   last: there is no such commit yet
└── NoLog                no_log                404   the broker keeps everything in memory
LimitExceeded
├── TooManyRequests      too_many_requests     429   come back in a moment
├── TooManySubscriptions too_many_subscriptions 429  the broker holds as many as it may
├── TooManyDelayed       too_many_delayed      429   the same for delayed updates
├── NotToldInTime        not_told_in_time      504   the external engine has not sent the first answer in time
├── TooMuchChanged       too_much_changed      503   too much changed while the broker worked out a first answer
├── TooExpensive         too_expensive         503   keeping this answer up to date costs more than the broker allows
├── LakeTooSlow          lake_too_slow         504   the history lake does not answer in time
└── ShuttingDown         shutting_down         503   the broker is stopping
NotAllowed
├── NotYours             not_yours             403   the subscription belongs to another connection
└── NotInContextMode     not_in_context_mode   403   the request needs the whole graph, and only a part is in memory
WorkLost                 work_lost             500   a fork died at work
LakeLost                 lake_lost             502   the process that reads the history lake died, or sent invalid lines
LakeRefused              lake_refused          502   that process reports an error, mostly under a code of its own
"""

from typing import Any

from tidings.model.errors import LimitExceeded, NotAllowed, NotFound, TidingsError
from tidings.protocol.errors import Refusal


class UnknownSubscription(NotFound):
    code = "unknown_spuid"


class NoEndpoint(NotFound):
    code = "no_endpoint"


class UnknownDelayed(NotFound):
    code = "unknown_delayed"


class UnknownCommit(NotFound):
    code = "unknown_commit"

    def __init__(self, commit: int, last: int) -> None:
        super().__init__(f"there is no commit {commit} yet: the last one is commit {last}")
        self.last = last

    def data(self) -> dict[str, Any]:
        return {"last": self.last}


class NoLog(NotFound):
    code = "no_log"

    def __init__(self) -> None:
        super().__init__("this broker keeps no log: what is published is in memory only")


class NotYours(NotAllowed):
    code = "not_yours"


class NotInContextMode(NotAllowed):
    code = "not_in_context_mode"


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


class TooExpensive(LimitExceeded):
    code = "too_expensive"


class ShuttingDown(LimitExceeded):
    code = "shutting_down"


class WorkLost(TidingsError):
    code = "work_lost"


class LakeTooSlow(LimitExceeded):
    status = 504
    code = "lake_too_slow"


class LakeLost(TidingsError):
    status = 502
    code = "lake_lost"


class LakeRefused(TidingsError):
    """An error that the process that reads the history lake reports; `code` and `status` are those of its error."""

    status = 502
    code = "lake_refused"

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.description)
        self.code = refusal.code  # type: ignore[misc]  # here they are those of the process
        self.status = refusal.status  # type: ignore[misc]
        self._refusal = refusal

    def data(self) -> dict[str, Any]:
        return self._refusal.data
