"""Those who stay, on sockets and streams: what they have shown is looked at again whenever it may no longer count.

    revoked, or other grants    at once
    expired                     once the grace is over; until then a new token can be shown

Whoever has nothing left to show has the rights of anybody.
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
"""Seconds between two looks at what expires."""
AT_ONCE = 20
"""Those who are looked at before it is the turn of others."""
OTHER_GRANTS = "your rights have changed"

log = logging.getLogger("tidings")

Standing: TypeAlias = tuple[Rights, int | None]
"""What something gives that was shown, and when it expires, in microseconds since 1970."""


class Presence:
    """One who stays."""

    __slots__ = ("changed", "expires", "rights", "shown")

    def __init__(self, shown: Shown, standing: Standing, changed: Changed) -> None:
        self.shown = shown
        self.rights, self.expires = standing
        self.changed = changed


class Presences:
    """All of them. `examine` tells what something gives that was shown, or raises what is wrong with it; `anybody` is
    what everybody may do; `clock` tells microseconds since 1970, and `grace` counts them."""

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
        """From here on, whoever shows this is told; until the function is called that comes back."""
        self._next = number = self._next + 1
        self._all[number] = Presence(shown, standing, changed)

        def leave() -> None:
            self._all.pop(number, None)

        return leave

    def doubt(self) -> None:
        """Something was revoked or granted: look at everybody again, soon."""
        self._news.set()

    async def run(self, pause: float = PAUSE) -> None:
        """Until it is cancelled."""
        while True:
            try:
                async with asyncio.timeout(pause):
                    await self._news.wait()
            except TimeoutError:
                pass
            await self.look()

    async def look(self) -> None:
        """At whoever may have other rights than before."""
        doubted, now = self._news.is_set(), self._clock()
        self._news.clear()
        for count, (number, presence) in enumerate(list(self._all.items()), 1):
            late = presence.expires is not None and now >= presence.expires + self._grace
            if (doubted or late) and number in self._all:
                await self._look_at(presence)
            if count % AT_ONCE == 0:
                await asyncio.sleep(0)  # a grant may concern everybody

    async def _look_at(self, presence: Presence) -> None:
        reason = OTHER_GRANTS
        try:
            rights, presence.expires = await self._examine(presence.shown)
        except IssuerUnreachable:
            return  # nothing is known against them; asked again when the time comes
        except TidingsError as error:
            rights, presence.expires, reason = self._anybody(), None, str(error)
            presence.shown = None
        if rights != presence.rights:
            presence.rights = rights
            try:
                presence.changed(rights, reason)
            except Exception:  # whatever became of one, the others have to be looked at
                log.exception("internal error while the rights of a client change")
