"""Shows the token on a WebSocket: in the handshake, and each new one in a message before the old one expires.

A connection that only listens has no message to send, so a request that costs nothing carries the new token.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from tidings.client.errors import Refused, is_passing
from tidings.client.http import AsyncHttpClient
from tidings.client.link import Link
from tidings.client.login.credentials import Token
from tidings.client.login.login import Login
from tidings.client.trust import Trust
from tidings.model.errors import TidingsError

_PAUSE = 5.0
_LONGEST = 3600.0

log = logging.getLogger("tidings.client")


class Showing:
    """Shows the tokens of one connection. `login` is None for a connection without credentials."""

    def __init__(self, login: Login | None, seconds: float, trust: Trust) -> None:
        self._login = login
        self._seconds = seconds
        self._trust = trust

    async def token(self) -> Token | None:
        """A valid token, or None without credentials. Raises the errors of the login."""
        login = self._login
        if login is None:
            return None
        if login.wanted() is not None:
            async with AsyncHttpClient(seconds=self._seconds, trust=self._trust) as client:
                await client.log_in(login)
        return login.token

    async def another(self, link: Link, error: Refused) -> bool:
        """Whether to send a refused request again, which then carries another token."""
        shown = link.shown
        if self._login is None or shown is None or not self._login.doubt(shown.text, error):
            return False
        await self._renew(link)
        return True

    async def keep(self, link: Link, ask: Callable[[], Awaitable[object]]) -> None:
        """Show the next token whenever one is due, until the link closes; `ask` sends any request."""
        while self._login is not None and link.shown is not None and link.shown.due is not None and link.is_open:
            left = link.shown.due - self._login.now()
            if left > 0:
                await asyncio.sleep(min(left, _LONGEST))  # the clock may be set meanwhile
                continue
            try:
                await self._renew(link)
                await ask()
            except TidingsError as error:
                log.warning("no new token could be shown: %s", error)
                if not is_passing(error):
                    return  # the broker decides what happens to the subscriptions
                await asyncio.sleep(_PAUSE)

    async def _renew(self, link: Link) -> None:
        token = await self.token()
        if token is not None and token != link.shown:
            link.show(token)
