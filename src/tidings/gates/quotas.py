"""Limits on what one client may use of a broker, so that no client is refused because of another one.

A client with a token is its subject. A client without one is its address; IPv6 addresses count by network, because one
owner has a whole network of them. Refusing a request costs the broker little.
"""

from collections import Counter
from collections.abc import Callable

from msgspec import Struct

from tidings.broker.errors import TooManyRequests
from tidings.gates.asking import Asker
from tidings.gates.errors import RateExceeded, TooManyConnections
from tidings.model.errors import LimitExceeded, TidingsError
from tidings.security.limits import Limiter, Rate, neighbourhood

_AT_ONCE = 2.0
"""A burst may have as many requests as the rate allows in this many seconds."""


class Quota(Struct, frozen=True):
    """The limits of one client. `rate` is in requests and messages a second; 0 is no limit."""

    rate: float = 0.0
    requests: int = 10_000
    updates: int = 5_000
    connections: int = 10_000


class Tally:
    """Counts what each client has at the moment: at most `most`. `refusal` makes the error for one more."""

    __slots__ = ("_most", "_refusal", "counts")

    def __init__(self, most: int, refusal: Callable[[], LimitExceeded]) -> None:
        self._most = most
        self._refusal = refusal
        self.counts: dict[str, int] = {}

    def enter(self, client: str) -> None:
        """Count one more. Raises the refusal."""
        count = self.counts.get(client, 0)
        if count >= self._most:
            raise self._refusal()
        self.counts[client] = count + 1

    def leave(self, client: str) -> None:
        count = self.counts[client] - 1
        if count:
            self.counts[client] = count
        else:
            del self.counts[client]


class Ticket:
    """One count of a client in a tally. Only the first call of `leave` gives it back."""

    __slots__ = ("_client", "_tally")

    def __init__(self, tally: Tally, client: str) -> None:
        tally.enter(client)
        self._tally: Tally | None = tally
        self._client = client

    def leave(self) -> None:
        tally, self._tally = self._tally, None
        if tally is not None:
            tally.leave(self._client)


class Quotas:
    """The limits of all clients, over all gates. `clock` counts seconds."""

    def __init__(self, quota: Quota, clock: Callable[[], float]) -> None:
        self._limiter = Limiter(Rate(max(1.0, _AT_ONCE * quota.rate), quota.rate), clock) if quota.rate else None
        self.requests = Tally(quota.requests, lambda: TooManyRequests(_IN_WORK.format(quota.requests)))
        self.updates = Tally(quota.updates, lambda: TooManyRequests(_WAITING.format(quota.updates)))
        self.connections = Tally(quota.connections, lambda: TooManyConnections(_CONNECTED.format(quota.connections)))
        self.refusals: Counter[str] = Counter()
        """Requests, messages and connections that were refused because of any limit, by the codes of their errors."""

    def take(self, client: str) -> None:
        """Count a request or a message. Raises RateExceeded."""
        if self._limiter is not None and (wait := self._limiter.take(client)):
            raise RateExceeded(wait)

    def note(self, error: TidingsError) -> None:
        """Count an error in `refusals` if it is about a limit."""
        if isinstance(error, LimitExceeded):
            self.refusals[error.code] += 1


_IN_WORK = "{:,} requests of yours are in progress, the limit of client_requests; try again soon"
_WAITING = "{:,} updates of yours are waiting, the limit of client_queue; try again soon"
_CONNECTED = "{:,} connections of your address are open, the limit of client_connections"


def client_of(asker: Asker | None, address: str) -> str:
    """The name under which a client's requests are counted: its subject, or the network of its address."""
    if asker is not None and asker.subject is not None:
        return asker.subject
    return f"@{neighbourhood(address)}"
