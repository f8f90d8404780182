"""Who asks, and what they may do: what a gate wants to know before it does anything for anybody.

    Authorization header, or member of a message -> Guard -> Asker -> rights, which the broker is handed

Where nobody is asked who they are, everybody is `EVERYBODY`, and finding that out costs a call.
"""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Protocol, TypeAlias

from msgspec import Struct

from tidings.gates.figures import Figure
from tidings.model.access import ALL_RIGHTS, Rights
from tidings.model.errors import TidingsError


class Asker(Struct, frozen=True):
    """Somebody, as far as a gate has to know."""

    subject: str | None
    """None for one who has not said who they are."""
    rights: Rights
    expires: int | None = None
    """When what they have shown does, in microseconds since 1970."""

    def publisher(self, said: str | None) -> str | None:
        """The name that the log gets: a client's word counts only where nobody is asked for more than that."""
        return said if self is EVERYBODY else self.subject


EVERYBODY = Asker(None, ALL_RIGHTS)
"""Where nobody is asked."""


class Deed(Struct, frozen=True):
    """Something that somebody did or was refused, for those who keep a record."""

    what: str
    where: str = ""
    """The address that it came from."""
    target: str = ""
    commit: int | None = None
    reads: bool = False
    """Whether it changes nothing."""


class Resident(Struct, frozen=True):
    """One whom the settings name, and who is asked for no token: a gate that speaks for all its clients."""

    subject: str


Shown: TypeAlias = str | Resident | None
"""What tells who somebody is: an Authorization header or the like, the settings, or nothing."""
Changed: TypeAlias = Callable[[Rights, str], None]
"""Somebody who stays has other rights from here on, and why."""
Leave: TypeAlias = Callable[[], None]


class Guard(Protocol):
    """Knows who shows what."""

    @property
    def asks(self) -> bool:
        """Whether anybody is asked who they are."""

    @property
    def refusals(self) -> Mapping[str, int]:
        """How many were refused for want of a token or of rights, by the codes of their errors."""

    def figures(self) -> Iterable[Figure]:
        """What there is to count beside that."""

    def recall(self, authorization: Shown) -> Asker | None:
        """Who shows this, at once; None if it has to be found out, by `identify`. Raises what is wrong with it."""

    async def identify(self, authorization: Shown) -> Asker:
        """Who shows this. Raises what is wrong with it: 401, with a code of the protocol."""

    def attend(self, authorization: Shown, asker: Asker, changed: Changed) -> Leave:
        """Somebody stays: have them told when what they showed no longer counts, or gives them other rights."""

    def judge(self, asker: Asker | None, deed: Deed, error: TidingsError | None = None) -> TidingsError | None:
        """Keep a record of what was done or refused; the error as its client is to hear it. `asker` is None if that
        is not known."""


class OpenGuard:
    """Lets everybody do everything."""

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
    """There is nothing to leave."""


OPEN = OpenGuard()
