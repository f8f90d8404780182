"""The guard tells a gate who sends a request and what that client may do, before the gate handles the request.

    Authorization header, or member of a message -> Guard -> Asker -> its rights, which the gate passes to the broker

With security off, every client is `EVERYBODY`, and the guard says so in one call.
"""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Protocol, TypeAlias

from msgspec import Struct

from tidings.gates.figures import Figure
from tidings.model.access import ALL_RIGHTS, Rights
from tidings.model.errors import TidingsError


class Asker(Struct, frozen=True):
    """Who sends a request: the subject of its token, and its rights."""

    subject: str | None
    """None for a client without a token."""
    rights: Rights
    expires: int | None = None
    """When the token expires, in microseconds since 1970."""

    def publisher(self, said: str | None) -> str | None:
        """The name of the publisher for the log: the subject, or with security off what the client says (`said`)."""
        return said if self is EVERYBODY else self.subject


EVERYBODY = Asker(None, ALL_RIGHTS)
"""Every client, with security off."""


class Deed(Struct, frozen=True):
    """Something that a client did, or that it was refused, for the audit log."""

    what: str
    where: str = ""
    """The address of the client."""
    target: str = ""
    commit: int | None = None
    reads: bool = False
    """Whether it changes nothing."""


class Resident(Struct, frozen=True):
    """A subject that the settings name and that needs no token: a gate that acts for all its clients."""

    subject: str


Shown: TypeAlias = str | Resident | None
"""What identifies a client: an Authorization header or the like, a subject of the settings, or nothing."""
Changed: TypeAlias = Callable[[Rights, str], None]
"""The guard calls it with the new rights of a client that has subscriptions, and with the reason."""
Leave: TypeAlias = Callable[[], None]
"""The gate calls it when the client has left."""


class Guard(Protocol):
    """Identifies clients by their tokens."""

    @property
    def asks(self) -> bool:
        """Whether security is on: whether clients have to show a token."""

    @property
    def refusals(self) -> Mapping[str, int]:
        """How many requests were refused for want of a token or of rights, by the codes of their errors."""

    def figures(self) -> Iterable[Figure]:
        """Further figures of security."""

    def recall(self, authorization: Shown) -> Asker | None:
        """The client with this token, if the guard knows it already; None if only `identify` can tell. Raises what is
        wrong with the token."""

    async def identify(self, authorization: Shown) -> Asker:
        """The client with this token. Raises what is wrong with the token: status 401, and a code of the protocol."""

    def attend(self, authorization: Shown, asker: Asker, changed: Changed) -> Leave:
        """A client begins to have subscriptions: call `changed` whenever its token ends or gives it other rights."""

    def judge(self, asker: Asker | None, deed: Deed, error: TidingsError | None = None) -> TidingsError | None:
        """Write a deed or its refusal to the audit log. Returns the error as the client is to get it. `asker` is None
        if the client is not identified."""


class OpenGuard:
    """The guard when security is off: it lets every client do everything."""

    asks = False
    refusals: Mapping[str, int] = MappingProxyType({})

    def figures(self) -> Iterable[Figure]:
        return ()

    def recall(self, authorization: Shown) -> Asker:
        return EVERYBODY

    async def identify(self, authorization: Shown) -> Asker:
        return EVERYBODY

    def attend(self, authorization: Shown, asker: Asker, changed: Changed) -> Leave:
        return _nothing

    def judge(self, asker: Asker | None, deed: Deed, error: TidingsError | None = None) -> TidingsError | None:
        return error


def _nothing() -> None:
    """`OpenGuard` keeps nothing about clients, so none has to leave."""


OPEN = OpenGuard()
