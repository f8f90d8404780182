"""Clients that stay connected, on sockets and streams: their tokens are checked again when they may not be valid now.

    a revoked token, or other grants    at once
    an expired token                    after the grace period, in which the client can show a new token

A client without a valid token has the rights of anonymous clients.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from tidings.gates.asking import Changed, Leave, Shown
from tidings.model.access import Rights
from tidings.model.errors import TidingsError
from tidings.security.errors import IssuerUnreachable

PAUSE = 0.5
"""Seconds between two checks for expired tokens."""
AT_ONCE = 20
"""Clients that are checked before the event loop does other work."""
OTHER_GRANTS = "your rights have changed"

log = logging.getLogger("tidings")

Standing: TypeAlias = tuple[Rights, int | None]
"""The rights that a token gives, and when it expires, in microseconds since 1970."""


class Presence:
    """A client that stays connected, with its token and its rights."""

    __slots__ = ("changed", "expires", "rights", "shown")

    def __init__(self, shown: Shown, standing: Standing, changed: Changed) -> None:
        self.shown = shown
        self.rights, self.expires = standing
        self.changed = changed


class Presences:
    """All clients that stay connected. `examine` returns the rights of a token, or raises what is wrong with it;
    `anybody` returns the rights of anonymous clients; `clock` and `grace` are in microseconds."""

    def __init__(
        self,
        examine: Callable[[Shown], Awaitable[Standing]],
        anybody: Callable[[], Rights],
        clock: Callable[[], int],
        grace: int,
    ) -> None:
        self._examine = examine
        self._anybody = anybody
        self._clock = clock
        self._grace = grace
        self._all: dict[int, Presence] = {}
        self._next = 0
        self._news = asyncio.Event()

    def __len__(self) -> int:
        return len(self._all)

    def enter(self, shown: Shown, standing: Standing, changed: Changed) -> Leave:
        """Add a client, and call `changed` when its rights change, until the caller calls the returned function."""
        self._next = number = self._next + 1
        self._all[number] = Presence(shown, standing, changed)

        def leave() -> None:
            self._all.pop(number, None)

        return leave

    def doubt(self) -> None:
        """Check all clients soon, because a token was revoked or grants have changed."""
        self._news.set()

    async def run(self, pause: float = PAUSE) -> None:
        """Check clients until cancelled."""
        while True:
            try:
                async with asyncio.timeout(pause):
                    await self._news.wait()
            except TimeoutError:
                pass
            await self.look()

    async def look(self) -> None:
        """Check the clients whose rights may have changed."""
        doubted, now = self._news.is_set(), self._clock()
        self._news.clear()
        for count, (number, presence) in enumerate(list(self._all.items()), 1):
            late = presence.expires is not None and now >= presence.expires + self._grace
            if (doubted or late) and number in self._all:
                await self._look_at(presence)
            if count % AT_ONCE == 0:
                await asyncio.sleep(0)  # let the event loop do other work: a grant may concern all clients

    async def _look_at(self, presence: Presence) -> None:
        reason = OTHER_GRANTS
        try:
            rights, presence.expires = await self._examine(presence.shown)
        except IssuerUnreachable:
            return  # the token may still be valid; the next check asks again
        except TidingsError as error:
            rights, presence.expires, reason = self._anybody(), None, str(error)
            presence.shown = None
        if rights != presence.rights:
            presence.rights = rights
            try:
                presence.changed(rights, reason)
            except Exception:  # an error of one client must not keep the others from being checked
                log.exception("internal error while the rights of a client change")
