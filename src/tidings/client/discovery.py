"""Where a broker takes subscriptions, if only its HTTP address is known: its service description says so."""

import re
from urllib.parse import urlsplit, urlunsplit

from tidings.client.errors import CannotConnect, ConnectionLost, NoAnswer, Refused
from tidings.client.http import AsyncHttpClient
from tidings.client.trust import SYSTEM, Trust

_WEBSOCKET = re.compile(r"<(wss?://[^>]+)>")


async def subscribe_address(url: str, seconds: float, trust: Trust = SYSTEM) -> str:
    """A `ws://` address as it is, and the one that an `http://` address leads to. Raises CannotConnect."""
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
    """The password that the address had is good for the other one as well, if it is the same machine's."""
    there, here = urlsplit(found), urlsplit(asked)
    credentials, at, _ = here.netloc.rpartition("@")
    if not at or there.hostname != here.hostname or (here.scheme == "https") != (there.scheme == "wss"):
        return found
    return urlunsplit(there._replace(netloc=f"{credentials}@{there.netloc}"))
