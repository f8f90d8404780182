"""Finds the WebSocket address of a broker from its HTTP address, and waits until a broker is up.

The broker's service description contains that address. To wait, the client tries again, with growing pauses.
"""

import asyncio
import logging
import random
import re
from collections.abc import Awaitable, Callable
from typing import TypeVar
from urllib.parse import urlsplit, urlunsplit

from tidings.client.errors import CannotConnect, ConnectionLost, NoAnswer, Refused, is_passing
from tidings.client.http import AsyncHttpClient
from tidings.client.trust import SYSTEM, Trust
from tidings.model.errors import TidingsError

_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0
_WEBSOCKET = re.compile(r"<(wss?://[^>]+)>")


T = TypeVar("T")

log = logging.getLogger("tidings.client")


async def persist(
    attempt: Callable[[], Awaitable[T]],
    seconds: float | None,
    passing: Callable[[TidingsError], bool] = is_passing,
    told: Callable[[TidingsError], None] = lambda _: None,
) -> T:
    """Repeat an attempt until it succeeds, for some seconds (None: without limit), as long as its errors are `passing`.
    `told` is called once, with the first error."""
    loop = asyncio.get_running_loop()
    begun, pause = loop.time(), _FIRST_PAUSE
    while True:
        try:
            return await attempt()
        except TidingsError as error:
            late = seconds is not None and loop.time() - begun + pause > seconds
            if late or not passing(error):
                raise
            if pause == _FIRST_PAUSE:
                told(error)
        await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # not all clients at once
        pause = min(2 * pause, _LONGEST_PAUSE)


def is_absent(error: TidingsError) -> bool:
    """Whether no connection was made, so that nothing was sent: any request can be sent again."""
    return isinstance(error, CannotConnect)


def say_waiting(error: TidingsError) -> None:
    """Log what the client waits for."""
    log.warning("%s; waiting for it", error)


async def subscribe_address(url: str, seconds: float, trust: Trust = SYSTEM) -> str:
    """The WebSocket address: a `ws://` address itself, or the one that is found at an `http://` address.

    Raises CannotConnect."""
    if url.startswith(("ws://", "wss://")):
        return url
    if not url.startswith(("http://", "https://")):
        raise CannotConnect(f"{url} is no address of a broker; it starts with ws:// or http://")
    try:
        async with AsyncHttpClient(seconds=seconds, trust=trust) as client:
            answer = await client.send("GET", url, headers={"accept": "application/n-triples"})
    except (ConnectionLost, NoAnswer, Refused) as error:
        raise CannotConnect(f"no broker answers at {url}: {error}") from error
    found = _WEBSOCKET.search(answer.text)
    if found is None:
        raise CannotConnect(f"what answers at {url} does not say where it takes subscriptions")
    return _with_credentials(found[1], url)


def _with_credentials(found: str, asked: str) -> str:
    """The found address with the password of the given one, if both are of the same host and equally encrypted."""
    there, here = urlsplit(found), urlsplit(asked)
    credentials, at, _ = here.netloc.rpartition("@")
    if not at or there.hostname != here.hostname or (here.scheme == "https") != (there.scheme == "wss"):
        return found
    return urlunsplit(there._replace(netloc=f"{credentials}@{there.netloc}"))
